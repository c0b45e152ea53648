package template

import (
	"fmt"
)

// Error is why an execution stopped, and where. Its texts are not escaped.
type Error struct {
	// Template is the one that was executed.
	Template *Template
	// Line is a line of the template's source, from 1; Column counts the bytes before.
	Line, Column int
	// Node is the text of the node, cut to a length that can be shown.
	Node string
	// Err is what happened.
	Err error
}

// Error has the form of an error of text/template.
func (e *Error) Error() string {
	return fmt.Sprintf("template: %s:%d:%d: %s", e.Template.Source.Name, e.Line, e.Column, e.Detail())
}

// Detail is the error without its place.
func (e *Error) Detail() string {
	return fmt.Sprintf("executing %q at <%s>: %v", e.Template.Name, e.Node, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// maxNode bounds the text of a node in an error, in bytes.
const maxNode = 200

// callError is the error of a function. It is worded when it is read: as errors of include
// hold one another, wording each at once would take quadratic time.
type callError struct {
	name string
	err  error
}

func (e *callError) Error() string { return fmt.Sprintf("error calling %s: %v", e.name, e.err) }
func (e *callError) Unwrap() error { return e.err }

// fail stops the execution at the current node.
func (x *run) fail(format string, args ...any) { x.stop(fmt.Errorf(format, args...)) }

// stop is fail with an error. The panic ends in Execute.
func (x *run) stop(err error) {
	e := &Error{Template: x.template, Err: err, Line: 1}
	if x.at != nil {
		e.Line, e.Column = x.template.Source.Position(x.at.Position())
		if e.Node = x.at.String(); len(e.Node) > maxNode {
			e.Node = e.Node[:maxNode] + "..."
		}
	}
	panic(e)
}
