// Command oracle compares lint/chart with Helm itself. It is a separate module, because Helm
// depends on several hundred packages; the main module never imports it.
//
// Helm's part: merging values files and arguments, loading a directory, dependencies, values,
// schemas and the engine, in the order of helm template (helm.go).
//
// Our part: random charts (fixtures/charts), comparing texts, failures and the lines that both
// sides report for a failure (compare.go), and shrinking cases that differ. Random functions, the
// clock and functions with a random order are replaced in sprig's table with those of lint/chart
// (stubs.go). A chart that Helm itself renders in two ways, because it prints an address or depends
// on the order of a map, counts as unstable.
//
// The output of schedlint render is compared with that of helm dependency update and helm template
// for charts with dependencies in folders (folders_test.go, testdata).
//
// Recorded charts are in fixtures/oracle/charts, for the main module to replay.
//
// The traces are checked independently of the code that makes them (trace.go, places.go): a line
// that is reported as exact has the text of its template's line, the place of a value has the value
// that the line prints, and a change of that value changes the line (causes.go).
//
//	go run . -cases 2000 -seed 1              # random charts
//	go run . -case 17 -seed 1                 # one of them, as an archive
//	go run . -shrink ../../../fixtures/oracle/charts    # keep what differs
//	go run . -answer ../../../fixtures/oracle/charts    # write the answers of all archives
//	go run . -dir PATH                        # charts below a directory of repositories
//	go run . -trace -dir PATH                 # and what their lines are traced to
//	go test ./...
//
// A dependency that a chart of a directory does not contain is taken from the other charts there.
package main
