package report

import (
	"bufio"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// junitSuites is a JUnit XML document, which most CI servers can read as test results. There is no
// official schema, so the document uses only elements that Jenkins and GitLab support.
type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr,omitempty"`
	Cases     []junitCase `xml:"testcase"`
	SystemOut junitText   `xml:"system-out"`
}

type junitCase struct {
	ClassName string        `xml:"classname,attr"`
	Name      string        `xml:"name,attr"`
	File      string        `xml:"file,attr,omitempty"`
	Failure   *junitFailure `xml:"failure"`
	Error     *junitError   `xml:"error"`
	Skipped   *junitSkipped `xml:"skipped"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

// junitError describes a test that could not run.
type junitError struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	junitText
}

// junitText is multi-line text. It has its own type, because the XML encoder would escape line
// feeds in a string.
type junitText struct {
	XML string `xml:",innerxml"`
}

// junitWriter renders findings in text format, to use as the contents of test cases.
type junitWriter struct {
	text textWriter
	out  strings.Builder
	seen map[junitCase]int
	// room is the remaining space for quoted findings, in bytes.
	room int
}

// writeJUnit writes a test suite in which every finding is a failed test. Every failure of the run
// is a test with an error. Without findings, the suite has one passed test, because Jenkins treats
// an empty suite as an error. This test is marked as skipped if no workload was checked.
func writeJUnit(w io.Writer, r *diag.Report, _ Options) error {
	n := len(r.Diagnostics)
	jw := &junitWriter{text: textWriter{src: newSources(r), display: r.Display, verbose: true}, seen: map[junitCase]int{}, room: maxBodies}
	suite := junitSuite{Name: "schedlint", Tests: max(1, n), Failures: n}
	for i := range r.Diagnostics {
		suite.Cases = append(suite.Cases, jw.finding(&r.Diagnostics[i]))
	}
	if broken := junitErrors(r.Failures); len(broken) > 0 {
		suite.Cases = append(suite.Cases, broken...)
		suite.Errors, suite.Tests = len(broken), len(suite.Cases)
	} else if text := unchecked(&r.Summary); n == 0 && text != "" {
		suite.Cases = []junitCase{{ClassName: "schedlint", Name: "no findings", Skipped: &junitSkipped{text}}}
		suite.Skipped = 1
	} else if text := failedBy(r); n == 0 && text != "" {
		suite.Cases = []junitCase{{ClassName: "schedlint", Name: text, Failure: &junitFailure{Message: text, Type: "error"}}}
		suite.Failures = 1
	} else if n == 0 {
		suite.Cases = []junitCase{{ClassName: "schedlint", Name: "no findings"}}
	}
	suite.SystemOut = jw.written(func() {
		jw.text.silences(r.Change)
		jw.text.summary(r)
		jw.text.incomplete(r.Failures)
	})
	doc, err := xml.MarshalIndent(junitSuites{Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	_, err = io.WriteString(w, xml.Header+string(doc)+"\n")
	return err
}

// finding converts a finding to a test case. The name of the test contains no line numbers. This
// allows CI servers to recognize old findings.
func (w *junitWriter) finding(d *diag.Diagnostic) junitCase {
	o := d.Object
	name := cmp.Or(diag.ObjectName(o.Kind, o.Namespace, o.Name), d.Location.File, "the run")
	if d.Cluster != "" {
		name += " (cluster " + d.Cluster + ")"
	}
	c := junitCase{ClassName: Visible(d.Rule), Name: Visible(clipped(name, maxPath)), File: Visible(d.Location.File)}
	if w.seen[c]++; w.seen[c] > 1 {
		c.Name += fmt.Sprintf(" #%d", w.seen[c])
	}
	c.Failure = &junitFailure{Type: Visible(string(d.Level)), Message: Visible(oneLine(d))}
	if w.room > 0 {
		c.Failure.junitText = w.written(func() { w.text.diagnostic(d) })
		w.room -= len(c.Failure.XML)
	}
	return c
}

// written returns the output of write, preceded by a line break.
func (w *junitWriter) written(write func()) junitText {
	w.out.Reset()
	w.out.WriteByte('\n')
	w.text.out = bufio.NewWriter(&w.out)
	write()
	w.text.out.Flush()
	var escaped strings.Builder
	xml.EscapeText(&escaped, []byte(w.out.String()))
	return junitText{strings.ReplaceAll(escaped.String(), "&#xA;", "\n")}
}
