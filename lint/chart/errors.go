package chart

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/template"
)

// parseProblem puts an error of the parser at its line.
func (e *engine) parseProblem(s *source, err error) error {
	line, said := located(s.name, err.Error())
	return &Problem{File: s.file, Line: max(line, 1), Detail: "the template cannot be parsed: " + said}
}

// located reads a message of text/template: the line in a file, and what follows it.
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
		exec, ok := at.(template.ExecError)
		if !ok {
			continue
		}
		if in, line, said := e.locate(exec); in != nil {
			p.File, p.Line, p.Detail = in.file, line, said
			inner = exec
		}
	}
	e.explain(p, inner)
	return p
}

// locate finds the file that an error of text/template begins with.
func (e *engine) locate(exec template.ExecError) (*source, int, string) {
	said := exec.Err.Error()
	rest, ok := strings.CutPrefix(said, "template: ")
	if !ok {
		return nil, 0, ""
	}
	for at, c := range rest {
		if c != ':' {
			continue
		}
		if s := e.templates[rest[:at]]; s != nil {
			if line, after := located(s.name, said); line > 0 {
				return s, line, after
			}
		}
	}
	return nil, 0, ""
}

// explain gives a problem the words of a limit or of a failure in place of text/template's.
func (e *engine) explain(p *Problem, err error) {
	var at *Problem
	var over limit
	var why failure
	switch {
	case errors.As(err, &at):
		p.Detail, p.Refused = at.Detail, at.Refused
		if at.File != "" { // else it is in a text that tpl was given
			p.File, p.Line = at.File, at.Line
		}
	case errors.As(err, &over):
		p.Detail, p.Refused = string(over), true
	case errors.As(err, &why):
		p.Detail = string(why)
	case p.Detail == "":
		p.Detail = fmt.Sprint(err)
	}
}
