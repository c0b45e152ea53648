// Command oracle holds lint/chart against Helm itself. It is a module of its own, since
// the whole of Helm brings several hundred packages along; the main module never imports
// it.
//
// What is real: merging values files and arguments, loading a directory, dependencies,
// values, schemas and the engine, in the order of helm template (helm.go).
//
// What is ours: random charts (fixtures/charts), comparing texts, failures and the lines
// that both sides tell for a failure (compare.go), and shrinking what differs. Random
// functions, the clock and functions with a random order are replaced in sprig's table by
// those that lint/chart has (stubs.go). A chart that Helm itself renders in two ways, since
// it prints an address or depends on the order of a map, is counted as unstable.
//
// Recorded charts are in fixtures/oracle/charts, for the main module to replay.
//
// The traces are checked without the code that makes them (trace.go, places.go): a line
// that is claimed exact has the text of its template's line, a place of values has the
// value that the line prints, and a change of that value changes the line (causes.go).
//
//	go run . -cases 2000 -seed 1              # random charts
//	go run . -case 17 -seed 1                 # one of them, as an archive
//	go run . -shrink ../../../fixtures/oracle/charts    # keep what differs
//	go run . -answer ../../../fixtures/oracle/charts    # write the answers of all archives
//	go run . -dir PATH                        # charts below a directory of repositories
//	go run . -trace -dir PATH                 # and what their lines are traced to
//	go test ./...
//
// Dependencies that a chart of a directory does not bring are taken from the other charts
// there.
package main
