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
	programs, err := e.programs(due)
	if err != nil {
		return nil, err
	}
	input := convert(f, &read)
	found := make([][]facts.Judgement, len(due))
	errs := make([]error, len(due))
	inParallel(len(due), func(i int) {
		found[i], errs[i] = judge(ctx, programs[i], due[i], f, input)
	})
	if err := join(errs); err != nil {
		return nil, err
	}
	all := slices.Concat(found...)
	slices.SortFunc(all, func(a, b facts.Judgement) int {
		return cmp.Or(cmp.Compare(a.Fact, b.Fact), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(all), nil
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

// programs gives the program of each rule. Built-in rules that no run has
// needed yet are compiled now, in as many parts as there are cores.
func (e *Engine) programs(due []*rule) ([]*program, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	var missing []*rule
	for _, r := range due {
		if e.compiled[r] == nil {
			missing = append(missing, r)
		}
	}
	parts := split(missing)
	programs := make([]*program, len(parts))
	errs := make([]error, len(parts))
	inParallel(len(parts), func(i int) { programs[i], errs[i] = compileTrusted(parts[i]) })
	if err := join(errs); err != nil {
		return nil, err
	}
	for i, part := range parts {
		for _, r := range part {
			e.compiled[r] = programs[i]
		}
	}
	programs = nil
	for _, r := range due {
		programs = append(programs, e.compiled[r])
	}
	return programs, nil
}

// judge evaluates one rule and reads what it reports.
func judge(ctx context.Context, p *program, r *rule, f *facts.Facts, input *ast.Term) ([]facts.Judgement, error) {
	report, err := p.run(ctx, r, input)
	if err != nil || report == nil || report.Len() == 0 {
		return nil, err
	}
	ids := idsOf(f, &r.reads)
	var judgements []facts.Judgement
	return judgements, report.Iter(func(t *ast.Term) error {
		j, err := judgement(r, t)
		if err == nil && !ids[j.Fact] {
			err = fmt.Errorf("%s:1: rule %s reports the fact %d, which is none of those that it reads; report the fact itself", r.file, r.id, j.Fact)
		}
		judgements = append(judgements, j)
		return err
	})
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
