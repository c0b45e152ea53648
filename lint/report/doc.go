// Package report renders a diag.Report as text for terminals, as json for scripts, as sarif for
// code scanning, and for CI servers as github (annotations), markdown (a step summary), gitlab
// (Code Quality) and junit. It also renders a diag.Placement as text, json and markdown, and a
// diag.Explanation as text.
//
// Contract: Write takes a finished report, does not modify it, and writes one complete document
// that ends in a newline. It returns an error if the format is unknown or if the writer fails, but
// never because of the findings.
//
// Invariants:
//
//   - Equal reports give equal bytes: no time, host name, map order or absolute path is written.
//   - Every string in a report may come from an untrusted manifest. No format writes a control
//     character other than its own line feeds. Text shows characters that a terminal would hide
//     (escape sequences, bidi overrides, zero-width and default-ignorable runes) as \x1b or
//     \u202e.
//   - No line of output is a command to the CI runner that prints it: no line starts with ::x::,
//     and ##[x] does not occur anywhere. The github format writes only its own commands.
//   - In markdown, a name is never a link, an image, a mention or HTML: everything except plain
//     words is code, and its fence is longer than any run of backticks in the code.
//   - json and sarif do not alter names: they write unsafe characters as JSON \u escapes, which
//     decode to the same string. Only sentences for display in a sarif viewer are made visible as
//     in text.
//   - If no workload was checked although the skipped input may contain some, every format reports
//     that first, except gitlab, which has no place for it. Such a run never looks clean.
//   - In json, every array is present, even if it is empty.
//   - In sarif, every result has a location in a file, because code scanning rejects the whole
//     upload if one has none. Every result names a rule of the run, and every number that its
//     message links to is the number of one of its related locations.
//   - A format whose reader has a limit keeps within it, writes the worst findings first, and
//     counts the omitted ones. The limits are 5,000 results and 10 MB after compression for sarif
//     (new findings first), ten findings of each level for github, and 900 KiB for markdown. Text
//     has at most 4 MiB of findings unless all are requested, and junit quotes at most 16 MiB.
//     json and gitlab have every finding.
//   - In every format, a finding has at most twenty related locations, and the others are counted.
//     Omitting something from the output does not change counts, fingerprints or the exit status.
//   - Every format reports that a run is incomplete: text at the end, the others where their
//     readers look (failure.go). A run whose output is cut is still complete.
//
// Text and Markdown show findings with the same rule, level, message and details once and count
// their other locations, unless all locations are requested. Their summary has at most twelve
// lines, unless the lists are requested. Every other format has every location.
//
// To add a format, write one file and add one row to the table in report.go.
//
// Text: file:line:col: level: message [rule], the source line with a caret, one source line per
// related location, one help line per repair, and one line that counts the examined input,
// followed by indented lines about input that was not checked. Columns of source are terminal
// cells: a tab takes four, a wide East Asian character two, and a combining mark none.
//
// Text of a placement: a table with one row per workload and one column per question that has an
// answer, the reasons for answers other than yes, and the meanings of the words in the table,
// followed by cores and runs. It fits in 100 columns if names are short.
//
// Text of an explanation: each finding with its source line and the rationale of its rule, a table
// that names every node once with the filter that rejects the pod there, and the effect of
// repairs. It fits in 80 columns if the text has spaces at which lines can break.
//
// Fingerprints in sarif: primaryLocationLineHash is the value that GitHub's uploader would
// compute. schedlint/v1 identifies a finding by its rule, object, cluster and file, and does not
// change when lines move or messages are reworded.
//
// Non-goals: reading files (the report has its sources), choosing and sorting findings
// (diag.Report.Sort sorts them), detecting whether the output is a terminal.
package report
