package chart

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/chart/template"
)

// Problem is the reason why a chart cannot be rendered. Its texts may contain names and messages
// from the chart, shortened but not escaped.
type Problem struct {
	// File is a file of the chart, named as in Origin.Template, or one of Input.Values. For an
	// argument it is "--set" or "--set-string", and Line is the number of the argument.
	File string
	// Line counts from 1. It is 1 if the line is not known.
	Line int
	// Detail says what is wrong, what was expected and, if known, what to do.
	Detail string
	// Refused is set if Helm might render the chart, for instance if it exceeds a limit or needs
	// something outside the chart.
	Refused bool
	// Steps is the number of steps that were taken.
	Steps int
}

// Error returns the place and the detail.
func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Detail) }

const (
	chartFile  = "Chart.yaml"
	valuesFile = "values.yaml"
)

// problem converts an error to a Problem. An error without a place is about the chart as a whole.
func (l *loader) problem(err error) *Problem {
	var p *Problem
	if !errors.As(err, &p) {
		p = &Problem{File: chartFile, Line: 1, Detail: err.Error()}
	}
	p.Detail = cut(p.Detail)
	p.Steps = l.budget.Spent
	return p
}

// maxDetail limits the bytes of a message, because messages of libraries quote templates and
// values.
const maxDetail = 2000

func cut(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	return s[:maxDetail/2] + " ... " + s[len(s)-maxDetail/2:]
}

// at returns a problem at the first line of a file of the chart that begins with a key.
func (l *loader) at(file, key, format string, args ...any) *Problem {
	p := &Problem{File: file, Line: 1, Detail: fmt.Sprintf(format, args...)}
	if key != "" {
		line := 0
		for text := range bytes.Lines(l.text(file)) {
			if line++; bytes.HasPrefix(text, []byte(key+":")) {
				p.Line = line
				break
			}
		}
	}
	return p
}

// lineOfPath returns the line of an item of a list in a YAML text, or 1.
func lineOfPath(text []byte, key string, index int) int {
	var doc kyaml.Node
	if kyaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return 1
	}
	root := doc.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key && index < len(root.Content[i+1].Content) {
			return root.Content[i+1].Content[index].Line
		}
	}
	return 1
}

// located parses a message of the parser into the line in a file and the rest.
func located(name, said string) (int, string) {
	rest, ok := strings.CutPrefix(said, "template: "+name+":")
	if !ok {
		return 0, said
	}
	number, rest, _ := strings.Cut(rest, ":")
	line, err := strconv.Atoi(number)
	if err != nil {
		return 0, said
	}
	if column, after, ok := strings.Cut(rest, ": "); ok {
		if _, err := strconv.Atoi(column); err == nil {
			rest = after
		}
	}
	return line, strings.TrimSpace(rest)
}

// executionProblem places an error at the innermost template of a file that it names: the outer
// ones only say what they include. It uses the text of a limit or of a failure if there is one, or
// else that of the execution.
func (e *engine) executionProblem(s *source, err error) error {
	p := &Problem{File: s.file, Line: 1}
	inner := err
	for at := err; at != nil; at = errors.Unwrap(at) {
		failed, ok := at.(*template.Error)
		if !ok {
			continue
		}
		if in := e.templates[failed.Template.Source.Name]; in != nil {
			p.File, p.Line = in.file, failed.Line
			inner = failed
		}
	}
	var over limit
	var why failure
	var failed *template.Error
	switch {
	case errors.As(inner, &over):
		p.Detail, p.Refused = string(over), true
	case errors.As(inner, &why):
		p.Detail = string(why)
	case errors.As(inner, &failed):
		p.Detail, p.Refused = failed.Detail(), len(e.l.absent) > 0 // it may need an absent file
	default:
		p.Detail = fmt.Sprint(inner)
	}
	return p
}
