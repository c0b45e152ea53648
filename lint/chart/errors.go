package chart

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/chart/template"
)

// parseProblem puts an error of the parser at its line.
func (e *engine) parseProblem(s *source, err error) error {
	line, said := located(s.name, err.Error())
	return &Problem{File: s.file, Line: max(line, 1), Detail: "the template cannot be parsed: " + said}
}

// located reads a message of the parser: the line in a file, and what follows it.
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

// executionProblem puts an error at the innermost template of a file that it names: those
// outside of it only say what they include.
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
	e.explain(p, inner)
	return p
}

// explain gives a problem the words of a limit or of a failure, or else of the execution.
func (e *engine) explain(p *Problem, err error) {
	var over limit
	var why failure
	var failed *template.Error
	switch {
	case errors.As(err, &over):
		p.Detail, p.Refused = string(over), true
	case errors.As(err, &why):
		p.Detail = string(why)
	case errors.As(err, &failed):
		p.Detail, p.Refused = failed.Detail(), len(e.l.absent) > 0 // it may look for all files
	default:
		p.Detail = fmt.Sprint(err)
	}
}
