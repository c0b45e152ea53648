package rego

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/sorting"
)

// Catalogue describes the rules in Markdown. The document has one table per category, one per pack
// and one for the templates. Below the tables, every rule has its own section, whose heading is the
// rule id. The sections follow the order of the rules argument. The example function returns YAML
// that violates a rule, or "" if there is no example.
func Catalogue(rules []diag.Rule, example func(id string) string) []byte {
	var b strings.Builder
	b.WriteString("# Rules\n\n<!-- Generated from the METADATA of the rules; SCHEDLINT_UPDATE=1 go test ./rego rewrites it. -->\n\n" +
		"A rule's category decides its level; the configuration may set another level for each rule.\n" +
		"`schedlint rules ID` prints what stands here about one of them.\n\n```console\n$ schedlint rules\n")
	plain := func(r diag.Rule) bool { return r.Pack == "" && !r.Template }
	List(&b, lists.Where(rules, plain))
	b.WriteString("```\n")
	for _, c := range categories {
		heading := fmt.Sprintf("**%s** (%s): %s", c.name, c.level, c.means)
		table(&b, heading, lists.Where(rules, func(r diag.Rule) bool { return plain(r) && r.Category == c.name }))
	}
	var packs []string
	for _, r := range rules {
		if r.Pack != "" {
			packs = append(packs, r.Pack)
		}
	}
	slices.Sort(packs)
	for _, pack := range slices.Compact(packs) {
		heading := fmt.Sprintf("**Pack %s**: off until the configuration names it", pack)
		table(&b, heading, lists.Where(rules, func(r diag.Rule) bool { return r.Pack == pack }))
	}
	table(&b, "**Templates**: they run when a rule of the configuration uses them", lists.Where(rules, func(r diag.Rule) bool { return r.Template }))
	for _, r := range rules {
		section(&b, r, example(r.ID))
	}
	return []byte(b.String())
}

// List writes a one-line summary of each rule.
func List(w io.Writer, rules []diag.Rule) {
	width := 0
	for _, r := range rules {
		width = max(width, len(r.ID))
	}
	for _, r := range rules {
		fmt.Fprintf(w, "%-*s  %-7s  %-11s  %s\n", width, r.ID, r.Level, r.Category, report.Visible(r.Title))
	}
}

func table(b *strings.Builder, heading string, rules []diag.Rule) {
	if len(rules) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s.\n\n| rule | reports |\n|---|---|\n", heading)
	for _, r := range rules { // Markdown drops dots from heading anchors
		fmt.Fprintf(b, "| [%s](#%s) | %s |\n", r.ID, strings.ReplaceAll(r.ID, ".", ""), strings.ReplaceAll(r.Title, "|", `\|`))
	}
}

func section(b *strings.Builder, r diag.Rule, example string) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n%s\n\n- category: %s (%s)\n", r.ID, r.Title, r.Description, r.Category, r.Level)
	if r.Since != "" {
		fmt.Fprintf(b, "- since: %s\n", r.Since)
	}
	if len(r.Tags) > 0 {
		fmt.Fprintf(b, "- tags: %s\n", strings.Join(r.Tags, ", "))
	}
	for _, address := range r.Related {
		fmt.Fprintf(b, "- see: <%s>\n", address)
	}
	for _, p := range r.Params {
		fmt.Fprintf(b, "- parameter %s\n", Described(p))
	}
	if example != "" {
		fmt.Fprintf(b, "\n```yaml\n%s\n```\n", strings.ToValidUTF8(strings.TrimRight(example, "\n"), "\ufffd"))
	}
}

// Described formats a parameter's name, type, default value and description on one line.
func Described(p diag.Param) string {
	line := fmt.Sprintf("%s (%s, required)", p.Name, p.Type)
	if p.Default != "" {
		line = fmt.Sprintf("%s (%s, default %s)", p.Name, p.Type, p.Default)
	}
	if p.Description != "" {
		line += ": " + p.Description
	}
	return line
}

// BundleFile is one file of an OPA bundle.
type BundleFile struct {
	Name string
	Text []byte
}

// Libraries returns the libraries that rules and their unit tests can import, sorted by name.
func Libraries() ([]BundleFile, error) {
	libraries, err := libraryFiles()
	files := []BundleFile{{"lib/facts.rego", []byte(factsLibrary())}}
	for _, f := range libraries {
		files = append(files, BundleFile{f.name, []byte(f.text)})
	}
	sorting.Stable(files, byName)
	return files, err
}

func byName(a, b BundleFile) int { return strings.Compare(a.Name, b.Name) }

// Bundle returns the files of an OPA bundle, sorted by name: custom rules with their unit tests, pack
// rules, and the libraries that they can import. To run the bundle, pass it to opa eval --bundle, with
// the output of the facts command as input. Rules need no parameters. Bundle returns an error if a
// rule fails to load.
func Bundle(o Options) ([]BundleFile, error) {
	o.Off = func(string) bool { return true }
	e, err := Load(o)
	if err != nil {
		return nil, err
	}
	tests, err := loadTests(o.Dirs, o.Shown)
	if err != nil {
		return nil, err
	}
	files, manifest, old := []BundleFile{}, map[string]any{"roots": []string{""}, "rego_version": 1}, map[string]int{}
	for _, m := range append(e.modules, tests...) {
		files = append(files, BundleFile{InBundle(m.file), []byte(m.text)})
		if m.parsed.RegoVersionSpan() == ast.RegoVersionSpanOf(ast.RegoV0) {
			old["/"+InBundle(m.file)] = 0
			manifest["file_rego_versions"] = old
		}
	}
	text, err := json.Marshal(manifest)
	if err != nil {
		return nil, err
	}
	files = append(files, BundleFile{".manifest", append(text, '\n')})
	for _, r := range e.rules {
		if r.pack != "" && !r.own && slices.Contains(o.Packs, r.pack) {
			files = append(files, BundleFile{r.file, []byte(r.text)})
		}
	}
	libraries, err := Libraries()
	for _, f := range libraries {
		files = append(files, BundleFile{path.Join("schedlint", f.Name), f.Text})
	}
	sorting.Stable(files, byName)
	return files, err
}

// InBundle returns the name in a bundle for a file of custom rules.
func InBundle(file string) string {
	return path.Join("own", path.Clean("/"+filepath.ToSlash(file)))
}
