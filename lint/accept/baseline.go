package accept

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sorting"
)

// Header fields of a baseline file.
const (
	APIVersion   = "schedlint.dev/v1alpha1"
	BaselineKind = "Baseline"
)

// Baseline holds the findings that a team accepted when it last updated the baseline.
type Baseline struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Reason explains why the findings are accepted. Until is the last day on which they are
	// accepted, or "" if there is none.
	Reason  string  `json:"reason"`
	Until   string  `json:"until,omitempty"`
	Entries []Entry `json:"entries"`

	// Path is the path to the baseline as the user would write it. Text holds the contents of the
	// file, and File is the file's name in reports.
	Path string `json:"-"`
	Text []byte `json:"-"`
	File string `json:"-"`
	line int    // the line with until, or the first line of the file
}

// Entry summarizes the findings that share a key: their worst level, their number, and the total
// number of pods that they leave Pending.
type Entry struct {
	diag.Key
	Level   diag.Level `json:"level"`
	Count   int        `json:"count"`
	Pending int        `json:"pending,omitempty"`
}

// NewBaseline returns a baseline that accepts the given findings.
func NewBaseline(reason, until string, findings []diag.Diagnostic) *Baseline {
	b := &Baseline{APIVersion: APIVersion, Kind: BaselineKind, Reason: reason, Until: until}
	b.Take(findings, func(diag.Key) bool { return false })
	return b
}

// Take replaces the entries of the baseline with entries for the given findings. If no finding has
// the key of an old entry, keep decides whether the old entry stays.
func (b *Baseline) Take(findings []diag.Diagnostic, keep func(diag.Key) bool) {
	now := tallies(findings, itself)
	entries := []Entry{}
	for _, e := range b.Entries {
		if _, there := now[e.Key]; !there && keep(e.Key) {
			entries = append(entries, e)
		}
	}
	b.Entries = entries
	for key, t := range now {
		b.Entries = append(b.Entries, Entry{key, t.level, t.count, t.pending})
	}
	sorting.Stable(b.Entries, func(x, y Entry) int { return slices.Compare(x.Parts(), y.Parts()) })
}

// ReadBaseline parses a baseline file. It is as strict as the configuration parser, because a
// misread entry would accept the wrong findings.
func ReadBaseline(name string, text []byte) (*Baseline, error) {
	b := &Baseline{Path: name, Text: text}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(b); err != nil {
		offset, plain := d.InputOffset(), errors.New(strings.TrimPrefix(err.Error(), "json: "))
		var syntax *json.SyntaxError
		var kind *json.UnmarshalTypeError
		switch { // without the names of Go types
		case errors.As(err, &syntax):
			offset = syntax.Offset
		case errors.As(err, &kind):
			offset, plain = kind.Offset, fmt.Errorf("%s: expected no %s here", cmp.Or(kind.Field, "the file"), kind.Value)
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			plain = errors.New("the baseline ends too early")
		}
		return nil, fmt.Errorf("%s:%d: %w", name, lineAt(text, offset), plain)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s:%d: expected nothing behind the baseline", name, lineAt(text, d.InputOffset()))
	}
	b.line = 1 + bytes.Count(text[:max(0, bytes.Index(text, []byte(`"until"`)))], []byte("\n"))
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(int(offset), len(text))], []byte("\n"))
}

// check returns an error if the baseline has missing, invalid or repeated values.
func (b *Baseline) check() error {
	switch {
	case b.APIVersion != APIVersion || b.Kind != BaselineKind:
		return fmt.Errorf("expected apiVersion %s and kind %s, found %q and %q", APIVersion, BaselineKind, b.APIVersion, b.Kind)
	case strings.TrimSpace(b.Reason) == "":
		return errors.New("reason: expected why these findings are accepted")
	case b.Until != "" && !IsDate(b.Until):
		return fmt.Errorf("until: expected a day as in 2027-03-31, found %q", b.Until)
	}
	seen := map[diag.Key]bool{}
	for i, e := range b.Entries {
		switch {
		case e.Rule == "":
			return fmt.Errorf("entries[%d]: expected a rule", i)
		case e.Level.Rank() == 0:
			return fmt.Errorf("entries[%d].level: expected error, warning or note, found %q", i, e.Level)
		case e.Count < 1 || e.Pending < 0:
			return fmt.Errorf("entries[%d]: expected a count of at least 1, and no negative number", i)
		case seen[e.Key]:
			return fmt.Errorf("entries[%d]: the same as an entry before it", i)
		}
		seen[e.Key] = true
	}
	return nil
}

// Acceptance returns the value to attach to findings that the baseline accepts. Its location is the
// line that sets the last day, or the first line of the file if there is no last day.
func (b *Baseline) Acceptance() diag.Acceptance {
	line := max(1, b.line)
	at := diag.Span{File: b.File, Line: line, Column: 1, EndLine: line, EndColumn: 2}
	return diag.Acceptance{By: diag.ByBaseline, Reason: b.Reason, Until: b.Until, Location: at}
}

// Apply separates the findings that the baseline accepts from all other findings. It also returns
// the keys of the entries that no longer match any finding. An expired baseline accepts nothing and
// causes a complaint.
func (b *Baseline) Apply(findings []Finding, today string) (kept, accepted []Finding, healed []diag.Key, complaints []Complaint) {
	if b == nil {
		return findings, nil, nil, nil
	}
	if expired(b.Until, today) {
		return findings, nil, nil, []Complaint{{Problem: Expired, Suppression: diag.Suppression{Acceptance: b.Acceptance()}}}
	}
	key := comparableKey(b.keys(), keysOf(unwrap(findings)))
	allowed := map[diag.Key]tally{}
	for k, t := range b.allowed() {
		allowed[key(k)] = allowed[key(k)].plus(t)
	}
	accepted, kept = split(findings, allowed, key, "more than the baseline accepts: ")
	why := b.Acceptance()
	for i := range accepted {
		accepted[i].Accepted = &why
	}
	for i := range findings {
		delete(allowed, key(findings[i].Key()))
	}
	return kept, accepted, slices.Collect(maps.Keys(allowed)), nil
}

// itself returns its argument unchanged.
func itself(k diag.Key) diag.Key { return k }

func (b *Baseline) keys() []diag.Key {
	all := make([]diag.Key, len(b.Entries))
	for i := range b.Entries {
		all[i] = b.Entries[i].Key
	}
	return all
}

func (b *Baseline) allowed() map[diag.Key]tally {
	all := map[diag.Key]tally{}
	for _, e := range b.Entries {
		all[e.Key] = tally{e.Level, e.Count, e.Pending}
	}
	return all
}

// NewlyAccepted returns the entries that are missing from an earlier baseline, or that accept more
// than the earlier baseline did. The earlier baseline may be nil.
func (b *Baseline) NewlyAccepted(over *Baseline) []Entry {
	had, key := map[diag.Key]tally{}, itself
	if over != nil {
		key = comparableKey(over.keys(), b.keys())
		for k, t := range over.allowed() {
			had[key(k)] = had[key(k)].plus(t)
		}
	}
	var raised []Entry
	for _, e := range b.Entries {
		if t := had[key(e.Key)]; e.Level.Rank() > t.level.Rank() || e.Count > t.count || e.Pending > t.pending {
			raised = append(raised, e)
		}
	}
	return raised
}

// Outlives reports whether b stays valid longer than another baseline. It returns false if the
// other baseline is nil or has no last day.
func (b *Baseline) Outlives(other *Baseline) bool {
	return other != nil && other.Until != "" && (b.Until == "" || b.Until > other.Until)
}
