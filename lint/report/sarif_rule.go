package report

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/schedlint/schedlint/lint/diag"
)

// severity is the name of a level in SARIF and on GitHub.
type severity struct{ level, problem string }

// severityOf maps a level; an unknown level gets the mildest one.
func severityOf(l diag.Level) severity {
	switch l {
	case diag.LevelError:
		return severity{sarif.LevelError, "error"}
	case diag.LevelWarning:
		return severity{sarif.LevelWarning, "warning"}
	case diag.LevelOff:
		return severity{sarif.LevelNone, "recommendation"}
	}
	return severity{sarif.LevelNote, "recommendation"}
}

// allRules returns every enabled rule, including those without results, so that a viewer can
// distinguish a rule without findings from one that did not run. A rule that occurs only in the
// diagnostics is added by its id, because every result needs a rule.
func allRules(r *diag.Report) []diag.Rule {
	rules := slices.Clone(r.Rules)
	known := map[string]bool{}
	for i := range rules {
		known[rules[i].ID] = true
	}
	var others []diag.Rule
	for i := range r.Diagnostics {
		if d := &r.Diagnostics[i]; !known[d.Rule] {
			known[d.Rule] = true
			others = append(others, diag.Rule{ID: d.Rule, Level: d.Level})
		}
	}
	slices.SortFunc(others, func(a, b diag.Rule) int { return cmp.Compare(a.ID, b.ID) })
	return append(rules, others...)
}

// descriptor returns the metadata of one rule. GitHub requires every text in it.
func descriptor(r *diag.Rule) *sarif.ReportingDescriptor {
	title := cmp.Or(Visible(r.Title), Visible(r.ID))
	description := cmp.Or(Visible(r.Description), title)
	d := sarif.NewRule(r.ID).
		WithName(pascal(r.ID)).
		WithDescription(sentence(shortened(title))).
		WithFullDescription(sarif.NewMultiformatMessageString().WithText(sentence(shortened(description)))).
		WithHelp(help(r, title, sentence(description))).
		WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(severityOf(r.Level).level).WithEnabled(r.Level != diag.LevelOff)).
		WithProperties(properties(r))
	addresses := append([]string{r.Runbook}, r.Related...)
	if at := slices.IndexFunc(addresses, isWebAddress); at >= 0 {
		d.WithHelpURI(addresses[at])
	}
	return d
}

// shortened cuts text to GitHub's limit for a description, 1024 characters with the period.
func shortened(s string) string {
	return s[:runeOffset(s, 1023)]
}

// pascal returns the readable name of a rule. Validators require that it differs from the id in
// more than case.
func pascal(id string) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(id, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.N) }) {
		first, size := utf8.DecodeRuneInString(word)
		b.WriteString(string(unicode.ToUpper(first)) + word[size:])
	}
	if strings.EqualFold(b.String(), id) {
		b.WriteString("Rule")
	}
	return b.String()
}

// help returns the page of a rule: GitHub shows the markdown, others the text.
func help(r *diag.Rule, title, description string) *sarif.MultiformatMessageString {
	title, description = clipped(title, maxPlain), clipped(description, maxAnnotation)
	text := nonEmpty(description)
	var about []string
	if r.Category != "" {
		about = append(about, "category "+Visible(r.Category))
	}
	if r.Since != "" {
		about = append(about, "since "+Visible(r.Since))
	}
	if len(about) > 0 {
		text = append(text, fmt.Sprintf("Rule %s, %s.", Visible(r.ID), strings.Join(about, ", ")))
	}
	if r.Owner != "" {
		text = append(text, "Owner: "+clipped(Visible(r.Owner), maxPlain))
	}
	markdown := []string{"# " + prose(title)}
	for _, paragraph := range text {
		markdown = append(markdown, prose(paragraph))
	}
	if r.Runbook != "" {
		text, markdown = append(text, "Runbook: "+Visible(r.Runbook)), append(markdown, "Runbook: "+link(r.Runbook))
	}
	for _, address := range r.Related {
		text, markdown = append(text, Visible(address)), append(markdown, link(address))
	}
	return sarif.NewMultiformatMessageString().
		WithText(strings.Join(text, "\n")).
		WithMarkdown(strings.Join(markdown, "\n\n"))
}

// link returns a web address as a Markdown link; anything else is text.
func link(address string) string {
	if isWebAddress(address) {
		return "<" + address + ">"
	}
	return prose(address)
}

// isWebAddress reports whether Markdown and SARIF may link to an address: the rule itself names it.
func isWebAddress(address string) bool {
	_, err := url.Parse(address)
	return err == nil && webAddress.MatchString(address)
}

var webAddress = regexp.MustCompile(`^https?://[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]+$`)

// maxTags is the number of tags of a rule that GitHub accepts.
const maxTags = 20

// properties returns the properties that GitHub filters and orders by. There is no
// security-severity: it would turn scheduling findings into security alerts.
func properties(r *diag.Rule) *sarif.PropertyBag {
	precision := map[string]string{
		"invalid": "very-high", "infeasible": "very-high", // refused by the API server, or proved
		"ineffective": "high", "fragile": "high", // follows from the declarations
	}
	tags := append([]string{"kubernetes", "scheduling"}, nonEmpty(Visible(r.Category))...)
	for _, tag := range r.Tags {
		if !slices.Contains(tags, Visible(tag)) {
			tags = append(tags, Visible(tag))
		}
	}
	return sarif.NewPropertyBag().
		WithTags(tags[:min(len(tags), maxTags)]).
		Add("precision", cmp.Or(precision[r.Category], "medium")).
		Add("problem.severity", severityOf(r.Level).problem)
}
