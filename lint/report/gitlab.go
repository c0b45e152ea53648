package report

import (
	"io"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// gitlabIssue is an issue in a Code Quality report. It has only the fields that GitLab reads.
type gitlabIssue struct {
	Description string         `json:"description"`
	CheckName   string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

type gitlabLocation struct {
	// Path is relative to the repository root and does not start with ./.
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

type gitlabLines struct {
	Begin int `json:"begin"`
}

// writeGitLab writes GitLab's Code Quality format. An issue is a finding or a failure. The array of
// issues is empty if there are neither findings nor failures. GitLab compares branches by
// fingerprint. It keeps only one of several issues with the same fingerprint.
func writeGitLab(w io.Writer, r *diag.Report, _ Options) error {
	categories := map[string]string{}
	for _, rule := range r.Rules {
		categories[rule.ID] = rule.Category
	}
	issues, seen := []gitlabIssue{}, map[diag.Key]int{}
	issues = append(issues, gitlabFailures(r.Failures, seen)...)
	for i := range r.Diagnostics {
		d := &r.Diagnostics[i]
		place := primaryPlace(d)
		issues = append(issues, gitlabIssue{
			Description: sentence(Visible(oneLine(d))),
			CheckName:   Visible(d.Rule),
			Fingerprint: fingerprint(d, seen),
			Severity:    gitlabSeverity(d.Level, categories[d.Rule]),
			Location:    gitlabLocation{strings.ToValidUTF8(relativePath(place.File), "\ufffd"), gitlabLines{place.Line}},
		})
	}
	return Encode(w, issues)
}

// gitlabSeverity returns info, minor, major or critical. An error is critical only if it means that
// pods can never be scheduled.
func gitlabSeverity(l diag.Level, category string) string {
	switch {
	case l == diag.LevelError && category == "infeasible":
		return "critical"
	case l == diag.LevelError:
		return "major"
	case l == diag.LevelWarning:
		return "minor"
	}
	return "info"
}
