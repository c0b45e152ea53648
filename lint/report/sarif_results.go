package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// candidate is a finding that may become a result.
type candidate struct {
	*diag.Diagnostic
	// print is its fingerprint, which does not depend on omissions.
	print string
	// state is new or unchanged in a run on a change; otherwise "".
	state string
}

// candidates returns all findings that count, including those that a change did not introduce: code
// scanning compares branches by itself, and closes findings that are not in the file. The findings
// to keep come first: new ones, and of these the worst.
func candidates(r *diag.Report) []candidate {
	var all []candidate
	add := func(findings []diag.Diagnostic, state string) {
		for i := range findings {
			all = append(all, candidate{Diagnostic: &findings[i], state: state})
		}
	}
	if r.Change == nil {
		add(r.Diagnostics, "")
	} else {
		add(r.Diagnostics, "new")
		add(r.Change.Unchanged, "unchanged")
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(-cmp.Compare(a.Level.Rank(), b.Level.Rank()), a.Compare(b.Diagnostic))
	})
	seen := map[diag.Key]int{}
	for i := range all {
		all[i].print = fingerprint(all[i].Diagnostic, seen)
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.state, b.state) })
	return all
}

// resultIndent is the indentation of results in the file.
const resultIndent = "        "

// results renders as many of them as code scanning accepts in one frame.
func (w *sarifWriter) results(all []candidate, frame string) (kept []string, err error) {
	size := len(frame)
	var packed *packer // a small file fits, packed or not
	for i := range all[:min(maxResults, len(all))] {
		text, err := resultText(w.result(&all[i]))
		if err != nil {
			return nil, err
		}
		size += len(text)
		if packed == nil && size > maxPacked-unwritten {
			packed = newPacker()
			packed.add(frame)
			for _, earlier := range kept {
				packed.add(earlier)
			}
		}
		if packed != nil {
			packed.add(text)
		}
		if size > maxSARIF-unwritten || packed != nil && packed.size > maxPacked-unwritten {
			return kept, nil
		}
		kept = append(kept, text)
	}
	return kept, nil
}

// resultText returns one result in its form in the file.
func resultText(result any) (string, error) {
	var b, indented bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(result); err != nil {
		return "", fmt.Errorf("encoding: %w", err)
	}
	if err := json.Indent(&indented, bytes.TrimSpace(b.Bytes()), resultIndent, "  "); err != nil {
		return "", fmt.Errorf("encoding: %w", err)
	}
	return resultIndent + string(harmless(indented.Bytes())), nil
}

// writeResults writes a file with results in place of its empty array. An upload without the array
// is refused, so it is always present.
func writeResults(w io.Writer, doc string, results []string) error {
	const empty = "\"results\": []" // no string contains this, because quotes in a string have a backslash
	before, after, ok := strings.Cut(doc, empty)
	if len(results) == 0 || !ok {
		_, err := io.WriteString(w, doc)
		return err
	}
	parts := []string{before, "\"results\": [\n", strings.Join(results, ",\n"), "\n      ]", after}
	for _, part := range parts {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}
