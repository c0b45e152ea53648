package rego

import (
	"fmt"
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/report"
)

// Catalogue describes the rules in Markdown: a table for each category and a
// section for each rule, whose anchor is the id. The example of a rule is YAML
// that breaks it, or "" for none. The order of the sections is that of the rules.
func Catalogue(rules []diag.Rule, example func(id string) string) []byte {
	var b strings.Builder
	b.WriteString("# Rules\n\n<!-- Generated from the METADATA of the rules; SCHEDLINT_UPDATE=1 go test ./rego rewrites it. -->\n\n" +
		"A rule's category decides its level; the configuration may set another level for each rule.\n" +
		"`schedlint rules ID` prints what stands here about one of them.\n\n```console\n$ schedlint rules\n")
	List(&b, rules)
	b.WriteString("```\n")
	for _, c := range categories() {
		table(&b, c, rules)
	}
	for _, r := range rules {
		section(&b, r, example(r.ID))
	}
	return []byte(b.String())
}

// List writes one line for each rule.
func List(w io.Writer, rules []diag.Rule) {
	width := 0
	for _, r := range rules {
		width = max(width, len(r.ID))
	}
	for _, r := range rules {
		fmt.Fprintf(w, "%-*s  %-7s  %-11s  %s\n", width, r.ID, r.Level, r.Category, report.Visible(r.Title))
	}
}

func table(b *strings.Builder, c category, rules []diag.Rule) {
	var rows strings.Builder
	for _, r := range rules {
		if r.Category == c.name {
			fmt.Fprintf(&rows, "| [%s](#%s) | %s |\n", r.ID, r.ID, strings.ReplaceAll(r.Title, "|", `\|`))
		}
	}
	if rows.Len() > 0 {
		fmt.Fprintf(b, "\n**%s** (%s): %s.\n\n| rule | reports |\n|---|---|\n%s", c.name, c.level, c.means, rows.String())
	}
}

func section(b *strings.Builder, r diag.Rule, example string) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n%s\n\n- category: %s (%s)\n", r.ID, r.Title, r.Description, r.Category, r.Level)
	if r.Since != "" {
		fmt.Fprintf(b, "- since: %s\n", r.Since)
	}
	for _, address := range r.Related {
		fmt.Fprintf(b, "- see: <%s>\n", address)
	}
	if example != "" {
		fmt.Fprintf(b, "\n```yaml\n%s\n```\n", strings.ToValidUTF8(strings.TrimRight(example, "\n"), "\ufffd"))
	}
}
