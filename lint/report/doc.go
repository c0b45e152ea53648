// Package report renders a diag.Report in seven formats: text for terminals, json for scripts,
// sarif for code scanning, and github (annotations), markdown (a step summary), comment (markdown for
// a pull request), gitlab (Code Quality) and junit for CI servers. It also renders a diag.Placement as text, json and markdown,
// and a diag.Explanation as text.
//
// Contract: Write takes a finished report and writes one complete document that ends in a newline.
// It does not modify the report. It returns an error if the format is unknown or if the writer
// fails, but never because of the findings themselves.
//
// Invariants:
//
//   - Equal reports produce equal bytes: no time, host name, map order or absolute path is written.
//   - Every string in a report may come from an untrusted manifest. The only control characters
//     that a format writes are its own line feeds. Characters that a terminal would hide (escape
//     sequences, bidi overrides, zero-width and default-ignorable runes) appear in text as \x1b or
//     \u202e.
//   - No line of output is a command to the CI runner that prints it: no line starts with ::x::,
//     and ##[x] does not occur anywhere. The github format writes only its own commands.
//   - In markdown, a name is never a link, an image, a mention or HTML. Everything except plain
//     words is written as code, with a fence that is longer than any run of backticks inside.
//   - json and sarif do not alter names. They write unsafe characters as JSON \u escapes, which
//     decode to the same string. The exception is sentences that a sarif viewer displays. They
//     contain the same visible escapes as text.
//   - If no workload was checked but the skipped input may contain workloads, every format says so
//     before anything else. Otherwise, the run would look clean. The exception is gitlab, which has
//     no place for this message.
//   - In json, every array is present, even if it is empty.
//   - In sarif, every result has a location in a file, because code scanning rejects an upload if
//     any result lacks one. Every result names a rule of the run. Every number that a result's
//     message links to is the number of one of its related locations.
//     Rules without results have only an id, a name, a short text and a link, which fill the fields
//     that code scanning requires. No array is empty except results.
//   - If the tools that read a format have a limit, the format stays within it, writes the worst
//     findings first and counts the findings that it omits. The limits are 5,000 results and 10 MB
//     after compression for sarif (new findings first), ten findings per level for github, 900 KiB
//     for markdown and 60 KiB for comment. Text has at most 4 MiB of findings unless all are requested, and junit
//     quotes at most 16 MiB. json and gitlab have every finding.
//   - In every format, a finding lists at most twenty related locations and counts the rest.
//     Omitting something from the output never changes counts, fingerprints or the exit status.
//   - Every format says when a run is incomplete. Text says so at the end, and the other formats
//     say so where their readers look (failure.go). Shortened output alone does not make a run
//     incomplete.
//
// Text and Markdown merge findings with the same rule, level, message and details into one and
// count the other locations, unless all locations are requested. Their summary has at most twelve
// lines, unless the lists are requested. All other formats have every location.
//
// To add a format, write a file for it and add a row to the table in report.go.
//
// Text format: file:line:col: level: message [rule], the source line with a caret, one source line
// per related location, one help line per repair, and one line that counts the examined input.
// Indented lines about input that was not checked follow. Source columns are terminal cells: a tab
// takes four, a wide East Asian character two, and a combining mark none.
//
// Text format for a placement: a table, the reasons for answers other than yes, and the meanings of
// the words in the table. The table has one row per workload and one column per answered question.
// Cores and runs follow. The text fits in 100 columns if names are short.
//
// Text format for an explanation: each finding with its source line and the rationale of its rule,
// a table of the nodes, and the effect of fixes. The table names every node once, with the filter
// that rejects the pod on the node. The text fits in 80 columns if it has spaces where lines can
// break.
//
// Fingerprints in sarif: primaryLocationLineHash is the value that GitHub's uploader would compute.
// schedlint/v1 identifies a finding by its rule, object, cluster and file. It does not change when
// lines move or messages are reworded.
//
// Non-goals: reading files (the report has its sources), choosing and sorting findings
// (diag.Report.Sort sorts them), detecting whether the output is a terminal.
package report
