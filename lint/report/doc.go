// Package report renders a diag.Report: as text for people, as json for scripts, as sarif for code
// scanning, as github (annotations), markdown (the summary of a step), gitlab (Code Quality) and
// junit for CI servers. It also renders a diag.Placement as text, json and markdown, and a
// diag.Explanation as text.
//
// Contract: Write takes a finished report, does not modify it, and writes one complete document
// that ends in a newline. An error is about the name of the format or about the writer, never about
// the findings.
//
// Invariants:
//
//   - Same report, same bytes: no time, no host, no map order, no absolute path.
//   - Everything in a report may come from an untrusted manifest. No format passes a control character
//     on, except its own line feed, and text shows whatever a terminal would hide (escape sequences, bidi
//     overrides, zero-width and default-ignorable runes) as \x1b or \u202e.
//   - No line of output is a command to the CI runner that prints it: not ::x:: at its start, not ##[x]
//     anywhere. The commands that github writes are its own.
//   - In markdown a name is never a link, an image, a mention or HTML: everything except plain words is
//     code, whose fence is longer than the backticks in it.
//   - json and sarif carry names unaltered: unsafe characters are written as a \u escape of JSON, which
//     decodes to the same string. Only sentences that a sarif viewer displays are made visible as in text.
//   - Every format except gitlab, which has no room for it, says first if no workload was checked although
//     the skipped input may contain some. Such a run never looks clean.
//   - In json every array is present, [] when empty.
//   - In sarif every result has a location in a file, because code scanning refuses a whole upload for one
//     that has none; each names a rule of the run, and every number that its message links to is among its
//     related locations.
//   - A format whose reader has a limit keeps it, with the worst findings first, and counts the omitted
//     ones: sarif 5,000 results and 10 MB packed, new findings before others, github ten of each level,
//     markdown 900 KiB. Text has at most 4 MiB of findings, unless all are requested, and junit quotes
//     16 MiB. json and gitlab have every finding.
//   - A finding has at most twenty related locations, in every format; the others are counted. Only formats
//     omit anything: counts, fingerprints and the exit status do not depend on it.
//   - An incomplete run says so: text last, and every other format where its readers look (failure.go). A
//     run whose output is cut is still complete.
//
// Text and Markdown show findings with equal rule, level and message once and count the other
// locations, and their summary has at most twelve lines, unless all locations, or the lists, are
// requested. Every other format has every location.
//
// A format is one file and one row of the table in report.go.
//
// Text: file:line:col: level: message [rule], the source line with a caret, one line of source per
// related location, help for each repair, and one line that counts the examined input, followed by
// indented lines on what was not checked. Columns of source are cells of a terminal: a tab is four,
// a wide East Asian character two, a combining mark none.
//
// Text of a placement: a table with a row per workload and a column per question that has an
// answer, the reasons for answers other than yes, and the meaning of the words in the table; then
// cores and runs. It fits 100 columns if names are short.
//
// Text of an explanation: each finding with its source line and the rationale of its rule, a table
// that names every node once with the filter that rejects the pod there, and the effect of repairs.
// It fits 80 columns if there are spaces to break lines at.
//
// Fingerprints in sarif: primaryLocationLineHash is the value that GitHub's uploader computes
// itself; schedlint/v1 identifies a finding by its rule, object, cluster and file, and does not
// change when lines move or wording changes.
//
// Non-goals: reading files (the report brings its sources), choosing and sorting findings
// (diag.Report.Sort sorts them), detecting whether the output is a terminal.
package report
