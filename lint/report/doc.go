// Package report renders a diag.Report: as text for people, as json for
// scripts, as sarif for code scanning, as github (annotations), markdown (the
// summary of a step), gitlab (Code Quality) and junit for CI servers; and a
// diag.Placement as text, json and markdown; and a diag.Explanation as text.
//
// Contract: Write takes a finished report, changes nothing in it, and writes
// one whole document that ends in a newline. An error is about the name of the
// format or about the writer, never about the findings.
//
// Invariants:
//
//   - Same report, same bytes: no time, no host, no map order, no absolute path.
//   - Everything in a report may come from a manifest that somebody else wrote.
//     No format lets a control character through other than its own line feed,
//     and text shows whatever a terminal would hide (escape sequences, bidi
//     overrides, zero-width and default-ignorable runes) as \x1b or \u202e.
//   - No line of output is a command to the CI runner that prints it: not ::x::
//     at its start, not ##[x] anywhere. Those that github writes are its own.
//   - In markdown a name is never a link, an image, a mention or HTML: all but
//     plain words is code, whose fence outruns the backticks in it.
//   - json and sarif carry names unaltered: what is unsafe to print is written
//     as a \u escape of JSON, which decodes to the same string. Only sentences
//     that a sarif viewer displays are made visible as in text.
//   - No format but gitlab, which has no room for it, calls a run clean that checked
//     no workload although what was skipped may hold some: that is said first.
//   - In json every array is present, [] when empty.
//   - In sarif every result has a place in a file, as code scanning refuses a
//     whole upload for one that has none; each names a rule of the run, and every
//     number that its message links to is among its related locations.
//   - What has a limit at its reader keeps it, the worst findings first, and
//     counts what was left out: sarif 5,000 results and 10 MB packed, what is new
//     before what is not, github ten of each level, markdown 900 KiB. Text has at most
//     4 MiB of findings, unless all are asked for, and junit quotes 16 MiB. json and
//     gitlab have every finding.
//   - A finding has at most twenty related places, in every format; the others are
//     counted. Only formats leave out: counts, fingerprints and the exit status do not
//     depend on it.
//   - An incomplete run says so: text last, and every other format where its readers
//     look (failure.go). Output that is cut leaves a run complete.
//
// Text and Markdown show findings with equal rule, level and message once and count
// the other places, and their summary has at most twelve lines, unless all places,
// or the lists, are asked for. Every other format has every place.
//
// A format is one file and one row of the table in report.go.
//
// Text: file:line:col: level: message [rule], the source line with a caret, one
// line of source per related place, help for each repair, and one line that
// counts what was looked at, followed by indented lines on what was not.
// Columns of source are cells of a terminal: a tab is four, a wide East Asian
// character two, a combining mark none.
//
// Text of a placement: a table with a row per workload and a column per
// question that has an answer, the reasons where all is not well, what the words
// of the table mean; then cores and runs. It fits 100 columns if names are short.
//
// Text of an explanation: each finding with its source line and why it is bad,
// a table that names every node once with the filter that rejects the pod there,
// and what repairs would change. It fits 80 columns where there are spaces.
//
// Fingerprints in sarif: primaryLocationLineHash is what GitHub's uploader
// computes for itself; schedlint/v1 identifies a finding by its rule, object,
// cluster and file, and stays when lines move or wording changes.
//
// Non-goals: reading files (the report brings its sources), choosing what is
// reported, sorting it (diag.Report.Sort does), knowing whether the output is a
// terminal.
package report
