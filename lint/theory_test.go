package lint_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The two documents that define what comments of the code cite.
const (
	semanticsFile = "sched/SEMANTICS.md"
	theoryFile    = "sched/THEORY.md"
)

// The syntax of citations. A rule is R-, a letter and a number; a lemma is T or C and a number
// of at most two digits, perhaps with a letter. Ranges are written "R-V4 to R-V7". Rules are
// cited anywhere in a file, lemmas only in comments of Go and by the name of the property test
// that checks them (TestPropertyT9).
var (
	ruleID     = regexp.MustCompile(`(?:^|[^0-9A-Za-z-])(R-[A-Z][0-9]+)`)
	ruleRange  = regexp.MustCompile(`R-([A-Z])([0-9]+)\s(?://\s*|#\s*)?to\s(?://\s*|#\s*)?R-([A-Z])([0-9]+)`)
	sloppyRule = regexp.MustCompile(`(?:^|[^0-9A-Za-z-])(R-[A-Z][0-9]+(?:\.\.|[-–/_A-Za-z]|, [0-9]|, [ABD-SU-Z][0-9]| to [A-Z]?[0-9])|` +
		`R-[a-z]|R-[A-Z][^0-9]|R-[A-Z]$)`)
	lemmaID      = regexp.MustCompile(`(?:^|[^0-9A-Za-z-])([TC][0-9]{1,2}[a-z]?)\b`)
	propertyTest = regexp.MustCompile(`^TestProperty([TC][0-9]{1,2}[a-z]?)$`)
)

// The syntax of definitions: a row of a table, or a heading.
var (
	definedRow     = regexp.MustCompile(`^\| *(R-[A-Z][0-9]+) *\|`)
	definedHeading = regexp.MustCompile(`^### ((?:R-[A-Z]|[TC])[0-9]+[a-z]?)\b`)
	namedTest      = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][0-9A-Za-z_]*)`")
)

// citedRules returns the ids of the rules that text cites, including those within ranges.
func citedRules(text string) []string {
	var ids []string
	for _, m := range ruleID.FindAllStringSubmatch(text, -1) {
		ids = append(ids, m[1])
	}
	for _, m := range ruleRange.FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[4])
		if m[1] != m[3] || from >= to {
			ids = append(ids, m[0]) // defined nowhere, so the range is reported
			continue
		}
		for n := from + 1; n < to; n++ {
			ids = append(ids, fmt.Sprintf("R-%s%d", m[1], n))
		}
	}
	return ids
}

// citedLemmas returns the ids of the lemmas that a Go comment cites.
func citedLemmas(comment string) []string {
	var ids []string
	for _, m := range lemmaID.FindAllStringSubmatch(comment, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

func TestCitationSyntax(t *testing.T) {
	for text, want := range map[string]string{
		"plain (R-A1), R-T4.":                   "R-A1 R-T4",
		"a range (R-V4 to R-V7, R-V9)":          "R-V4 R-V7 R-V9 R-V5 R-V6",
		"over two lines (R-V4\n// to R-V6)":     "R-V4 R-V6 R-V5",
		"part of other words: OR-A1, a%20bR-A1": "",
		"mixed R-A1 to R-B2":                    "R-A1 R-B2 R-A1 to R-B2",
	} {
		if got := strings.Join(citedRules(text), " "); got != want {
			t.Errorf("%q cites %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"T8, and T2; C10.": "T8 T2 C10", "T1000, UTC8, R-T4, T1b": "T1b"} {
		if got := strings.Join(citedLemmas(text), " "); got != want {
			t.Errorf("%q cites %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"R-V4..R-V7", "R-V4-R-V7", "R-V4/5", "R-V4, 5", "R-V4, V5", "R-V4 to 7", "R-V4 to V7", "R-V4a", "R-v4", "R-V"} {
		if !sloppyRule.MatchString(text) {
			t.Errorf("%q passes as a citation", text)
		}
	}
	for _, text := range []string{"R-V4.", "R-V4, R-V5", "R-W7, C8", "R-V4 to R-V7", "CR-a", "(R-V4), 5 of them"} {
		if sloppyRule.MatchString(text) {
			t.Errorf("%q does not pass as a citation", text)
		}
	}
}

// repository holds the citations in the files of the repository, and the tests that the files
// contain.
type repository struct {
	cited map[string][]string // ids, with the places that cite them
	prose map[string][]string // the same for documents, which are no reason to define an id
	tests map[string]bool
}

// citations reads the repository except for the two documents and this file.
func citations(t *testing.T) *repository {
	t.Helper()
	r := &repository{map[string][]string{}, map[string][]string{}, map[string]bool{}}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case !d.Type().IsRegular(), filepath.Base(path) == "theory_test.go",
			strings.HasSuffix(path, semanticsFile), strings.HasSuffix(path, theoryFile):
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".rego", ".yaml", ".yml", ".txtar":
			r.read(t, path, r.cited)
		case ".md":
			r.read(t, path, r.prose)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// read adds the citations in one file.
func (r *repository) read(t *testing.T, path string, to map[string][]string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, id := range citedRules(text) {
		to[id] = append(to[id], path)
	}
	for _, m := range sloppyRule.FindAllStringSubmatch(text, -1) {
		t.Errorf("%s: %q is no citation: write R-V4, or R-V4 to R-V7", path, m[1])
	}
	if filepath.Ext(path) == ".go" {
		r.parse(t, path, data)
	}
}

// parse adds the lemmas that comments and names of tests cite, and the tests.
func (r *repository) parse(t *testing.T, path string, data []byte) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Comments {
		for _, id := range citedLemmas(c.Text()) {
			r.cited[id] = append(r.cited[id], path)
		}
	}
	if !strings.HasSuffix(path, "_test.go") {
		return
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Recv != nil {
			continue
		}
		r.tests[f.Name.Name] = true
		if m := propertyTest.FindStringSubmatch(f.Name.Name); m != nil {
			r.cited[m[1]] = append(r.cited[m[1]], path)
		}
	}
}

// definition is the place where an id is defined, with the text up to the next one.
type definition struct {
	id, file, section string
	line              int
	text              string
}

// place formats the definition for messages.
func (d *definition) place() string { return fmt.Sprintf("%s:%d: %s", d.file, d.line, d.id) }

// definitions returns the definitions of one document in order.
func definitions(t *testing.T, file string) (all []*definition, text string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	section := ""
	var last *definition
	for i, line := range strings.Split(string(data), "\n") {
		id := ""
		if m := definedRow.FindStringSubmatch(line); m != nil {
			id = m[1]
		} else if m := definedHeading.FindStringSubmatch(line); m != nil {
			id = m[1]
		}
		switch {
		case id != "":
			last = &definition{id: id, file: file, section: section, line: i + 1}
			all = append(all, last)
		case strings.HasPrefix(line, "## "):
			section, last = line, nil
		}
		if last != nil {
			last.text += line + "\n"
		}
	}
	return all, string(data)
}

// order compares ids by letters, number and suffix: T1 T1b T2 T10.
func order(a, b string) int {
	parts := regexp.MustCompile(`^(\D+)(\d+)(\D*)$`)
	x, y := parts.FindStringSubmatch(a), parts.FindStringSubmatch(b)
	m, _ := strconv.Atoi(x[2])
	n, _ := strconv.Atoi(y[2])
	return cmp.Or(strings.Compare(x[1], y[1]), m-n, strings.Compare(x[3], y[3]))
}

// TestTheory compares the citations in the repository with the definitions in SEMANTICS.md and
// THEORY.md. Every citation has a definition, and no definition is unused.
func TestTheory(t *testing.T) {
	t.Parallel()
	r := citations(t)
	defined := map[string]*definition{}
	var texts string
	for _, file := range []string{semanticsFile, theoryFile} {
		all, text := definitions(t, file)
		texts += text
		if len(all) == 0 {
			t.Errorf("%s defines nothing", file)
		}
		for i, d := range all {
			if before := defined[d.id]; before != nil {
				t.Errorf("%s is defined at %s too", d.place(), before.place())
			}
			defined[d.id] = d
			if i > 0 && all[i-1].section == d.section && order(all[i-1].id, d.id) >= 0 {
				t.Errorf("%s comes after %s", d.place(), all[i-1].id)
			}
			if len(r.cited[d.id]) == 0 {
				t.Errorf("%s: nothing cites it", d.place())
			}
			r.complete(t, d)
		}
	}
	for _, cited := range []map[string][]string{r.cited, r.prose} {
		for _, id := range slices.Sorted(maps.Keys(cited)) {
			if defined[id] == nil {
				t.Errorf("%s is cited by %s and defined nowhere", id, strings.Join(slices.Compact(cited[id]), ", "))
			}
		}
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(citedRules(texts), citedLemmas(texts))))) {
		if defined[id] == nil {
			t.Errorf("a document cites %s, which is defined nowhere", id)
		}
	}
	for _, m := range namedTest.FindAllStringSubmatch(texts, -1) {
		if !r.tests[m[1]] {
			t.Errorf("a document names the test %s, which does not exist", m[1])
		}
	}
}

// complete checks that all cells of a row are filled, and that a definition with a heading has a
// test.
func (r *repository) complete(t *testing.T, d *definition) {
	t.Helper()
	if !strings.HasPrefix(d.text, "|") {
		if !namedTest.MatchString(d.text) {
			t.Errorf("%s: no test holds it", d.place())
		}
		return
	}
	row, _, _ := strings.Cut(d.text, "\n")
	cells := strings.Split(strings.Trim(strings.ReplaceAll(row, `\|`, ""), "|"), "|")
	if len(cells) != 5 {
		t.Errorf("%s: %d cells, want id, rule, since, source and example", d.place(), len(cells))
	}
	for _, c := range cells {
		if strings.TrimSpace(c) == "" {
			t.Errorf("%s: a cell is empty", d.place())
		}
	}
}
