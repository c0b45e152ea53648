package chart

import (
	"errors"
	"fmt"
)

// Problem is why a chart cannot be rendered. Its texts may hold names and messages from
// the chart, cut to a length that can be shown; nothing in them is escaped.
type Problem struct {
	// File is a file of the chart, as in Origin.Template, or one of Input.Values. It is
	// "--set" or "--set-string" for an argument, which Line counts.
	File string
	// Line counts from 1, and is 1 if it is not known.
	Line int
	// Detail is what is wrong, what was expected and, where that is known, what to do.
	Detail string
	// Refused is whether Helm might render what we do not, as with what is beyond a
	// limit or outside the chart.
	Refused bool
	// Steps are what it took to get there.
	Steps int
}

// Error names the place first.
func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Detail) }

const (
	chartFile  = "Chart.yaml"
	valuesFile = "values.yaml"
)

// problem is an error as a Problem; those without a place are about the chart as a whole.
func (l *loader) problem(err error) *Problem {
	var p *Problem
	if !errors.As(err, &p) {
		p = &Problem{File: chartFile, Line: 1, Detail: err.Error()}
	}
	p.Detail = cut(p.Detail)
	p.Steps = l.budget.Spent
	return p
}

// maxDetail bounds a message: those of libraries quote templates and values.
const maxDetail = 2000

func cut(s string) string {
	if len(s) <= maxDetail {
		return s
	}
	return s[:maxDetail/2] + " ... " + s[len(s)-maxDetail/2:]
}

// at is a problem at the first line of a file of the chart that starts with a key.
func (l *loader) at(file, key, format string, args ...any) *Problem {
	p := &Problem{File: file, Line: 1, Detail: fmt.Sprintf(format, args...)}
	if key != "" {
		p.Line = lineOfKey(l.text(file), key)
	}
	return p
}

// refused is a problem that Helm might not have.
func (l *loader) refused(file, format string, args ...any) *Problem {
	return &Problem{File: file, Line: 1, Detail: fmt.Sprintf(format, args...), Refused: true}
}
