package rego

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/facts"
)

// Evaluate gives what the rules say about the facts, sorted by fact, rule and
// message, without repeats. The error is about a rule: one that runs too long,
// that misuses a function, or that reports what is no diagnostic.
func (e *Engine) Evaluate(ctx context.Context, f *facts.Facts) ([]facts.Judgement, error) {
	ctx, cancel := context.WithTimeout(ctx, e.deadline)
	defer cancel()
	due, read := e.due(f)
	if err := e.compile(due); err != nil {
		return nil, err
	}
	input := convert(f, &read)
	var found []facts.Judgement
	for _, r := range due {
		judgements, err := judge(ctx, r, f, input)
		if err != nil {
			return nil, err
		}
		found = append(found, judgements...)
	}
	slices.SortFunc(found, func(a, b facts.Judgement) int {
		return cmp.Or(cmp.Compare(a.Fact, b.Fact), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(found), nil
}

// due gives the rules that have something to judge, and what they read.
func (e *Engine) due(f *facts.Facts) ([]*rule, reads) {
	var due []*rule
	var read reads
	present := listNames(f)
	for _, r := range e.rules {
		if !r.off && r.reads.anyOf(present) {
			due = append(due, r)
			read.add(r.reads)
		}
	}
	return due, read
}

// compile compiles the built-in rules that no evaluation has needed before.
func (e *Engine) compile(due []*rule) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	var missing []*rule
	for _, r := range due {
		if r.program == nil {
			missing = append(missing, r)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	p, err := compileTrusted(missing)
	for _, r := range missing {
		r.program = p
	}
	return err
}

// judge evaluates one rule and reads what it reports.
func judge(ctx context.Context, r *rule, f *facts.Facts, input *ast.Term) ([]facts.Judgement, error) {
	report, err := r.program.run(ctx, r, input)
	if err != nil || report == nil || report.Len() == 0 {
		return nil, err
	}
	ids := idsOf(f, &r.reads)
	var judgements []facts.Judgement
	err = report.Iter(func(t *ast.Term) error {
		j, err := judgement(r, t)
		if err == nil && !ids[j.Fact] {
			err = fmt.Errorf("%s:1: rule %s reports the fact %d, which is none of those that it reads; report the fact itself", r.file, r.id, j.Fact)
		}
		judgements = append(judgements, j)
		return err
	})
	return judgements, err
}

// judgement reads one member of a report.
func judgement(r *rule, t *ast.Term) (facts.Judgement, error) {
	id, fact, message := t.Get(ast.StringTerm("rule")), t.Get(ast.StringTerm("fact")), t.Get(ast.StringTerm("message"))
	if id == nil || fact == nil || message == nil || !id.Equal(ast.StringTerm(r.id)) {
		return facts.Judgement{}, malformed(r, t)
	}
	number, isNumber := fact.Value.(ast.Number)
	text, isString := message.Value.(ast.String)
	n, isInt := number.Int()
	if !isNumber || !isInt || !isString || text == "" {
		return facts.Judgement{}, malformed(r, t)
	}
	return facts.Judgement{Rule: r.id, Fact: n, Message: string(text)}, nil
}

func malformed(r *rule, t *ast.Term) error {
	return fmt.Errorf("%s:1: rule %s reports %v, which is no diagnostic of its own with a message; write %s", r.file, r.id, t, reportForm)
}
