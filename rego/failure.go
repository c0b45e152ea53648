package rego

import (
	"context"
	"errors"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/schedlint/schedlint/lint/diag"
)

// refusal says why the evaluation of a rule ended, or why its report does not count. A limit ends
// an evaluation by a panic with a refusal, as OPA checks for cancellation only between steps, and
// the comparison of two values is one step.
type refusal struct {
	at   *ast.Location // nil for the rule as a whole
	what string
	// limit is set for a limit that a built-in rule may reach, too.
	limit bool
}

// Error describes what the rule does.
func (r refusal) Error() string { return r.what }

// failure describes a rule that failed. The user cannot see the file of a built-in rule, and its
// fault is a fault of schedlint, unless configured parameters may be the cause.
func failure(r *rule, err error) diag.Failure {
	f := diag.Failure{Stage: diag.StageRule, Rule: r.id, File: r.file, Line: 1, Message: err.Error()}
	at := (*ast.Location)(nil)
	var refused refusal
	var failed *topdown.Error
	switch {
	case errors.As(err, &refused):
		at = refused.at
	case topdown.IsCancel(err) || errors.Is(err, context.DeadlineExceeded):
		refused.limit = true
		f.Message = tooLong
	case errors.As(err, &failed):
		at, f.Message = failed.Location, failed.Message
	}
	if at != nil && at.File != "" {
		f.File, f.Line = at.File, max(1, at.Row)
	}
	if !r.own {
		f.File, f.Line, f.Internal = "", 0, !refused.limit && !r.configured
	}
	return f
}

const tooLong = "runs too long; let it visit only the facts of its own list"
