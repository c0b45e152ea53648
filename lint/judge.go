package lint

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/facts/build"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// judge lets the policy judge facts and keeps what it finds.
type judge struct {
	ctx      context.Context
	policy   Policy
	levels   *levels
	files    *files
	renders  *renders
	failures *failures
	// tally is what the rules have cost so far.
	tally *facts.Tally
	// found are the findings so far, seen what makes them one.
	found []accept.Finding
	seen  map[sameFinding]bool
}

// off reports whether a rule reports nothing, whatever it is about.
func (j *judge) off(rule string) bool { return j.levels.off(rule) }

// asks reports whether a rule that is on may look at a list of facts.
func (j *judge) asks(list string) bool {
	return slices.ContainsFunc(j.policy.IDs(), func(id string) bool { return !j.off(id) && j.policy.MayRead(id, list) })
}

// sameFinding is what makes the findings of two contexts one.
type sameFinding struct {
	rule, message, details, cluster, render string
	level                                   diag.Level
	object                                  diag.Object
	location                                diag.Span
}

func same(d *diag.Diagnostic) sameFinding {
	return sameFinding{d.Rule, d.Message, fmt.Sprintf("%q", d.Details), d.Cluster, d.Render, d.Level, d.Object, d.Location}
}

// add adds what the policy finds in some facts, which are about objects of a cluster, or about
// no cluster, and returns what was added. What an earlier context has found counts once.
func (j *judge) add(f *build.Built, c *cluster, objects []*source.Object) []accept.Finding {
	before := len(j.found)
	j.findings(f, c, objects, func(fact int, one *accept.Finding) {
		f.Found(fact)
		j.keep(one)
	})
	return j.found[before:]
}

// all returns what the policy finds in some facts about objects of a cluster, without adding it.
func (j *judge) all(f *build.Built, c *cluster, objects []*source.Object) (found []accept.Finding) {
	j.findings(f, c, objects, func(fact int, one *accept.Finding) {
		f.Found(fact)
		found = append(found, *one)
	})
	return found
}

// keep adds a finding, unless an earlier context has found the same.
func (j *judge) keep(found *accept.Finding) {
	if key := same(&found.Diagnostic); !j.seen[key] {
		j.seen[key] = true
		j.found = append(j.found, *found)
	}
}

// take gives the findings so far, and starts anew.
func (j *judge) take() []accept.Finding {
	found := j.found
	j.found = nil
	return found
}

// complain adds what the policy finds in complaints about suppressions and takes it.
func (j *judge) complain(complaints []accept.Complaint) []accept.Finding {
	j.add(build.Complain(complaints), nil, nil)
	return j.take()
}

// aboutFiles are the facts about problems of files.
func aboutFiles(problems []source.Problem) build.Input {
	return build.Input{Model: sched.New(&workload.Set{}, nil), Problems: problems}
}

// findings lets the policy see the facts and turns what it says into findings:
// place, object and explanation come from the fact, never from the rule. C is nil
// for facts about no cluster. Each is told with its fact.
func (j *judge) findings(f *build.Built, c *cluster, objects []*source.Object, tell func(fact int, found *accept.Finding)) {
	judgements, err := j.policy.Evaluate(j.ctx, f.Facts, j.tally)
	j.failures.fail(err)
	for _, failure := range j.tally.Failures {
		if !j.off(failure.Rule) {
			j.failures.leave(j.named(failure))
		}
	}
	j.found = slices.Grow(j.found, len(judgements))
	var in *locator
	about := &abouts{files: j.files, renders: j.renders, built: f, objects: objects}
	type copied struct {
		facts.Judgement
		found accept.Finding
	}
	var copies []copied
	report := func(said facts.Judgement, found *accept.Finding) {
		if found.Level = j.levels.of(found, said.Level, about); found.Level != diag.LevelOff {
			tell(said.Fact, found)
		}
	}
	for _, said := range judgements {
		if j.off(said.Rule) {
			continue
		}
		if in == nil {
			in = newLocator(objects)
		}
		found := j.finding(said, f.Subject(said.Fact), c)
		in.locate(&found)
		for _, twin := range in.inCopies(&found) {
			copies = append(copies, copied{said, twin})
		}
		report(said, &found)
	}
	for _, k := range copies { // behind what a rule itself says of a copy
		j.context(&k.found, c)
		report(k.Judgement, &k.found)
	}
}

// finding is what the policy says of a subject.
func (j *judge) finding(said facts.Judgement, s build.Subject, c *cluster) accept.Finding {
	found := accept.Finding{Diagnostic: diag.Diagnostic{
		Rule: said.Rule, Message: said.Message, Details: said.Details,
		Location: s.At(said.Path), Pending: s.Pending, Related: s.Related, Fixes: fixes(said, s),
	}}
	j.context(&found, c)
	if s.Object != nil {
		found.Object = *s.Object
	}
	found.Nodes = c != nil && s.Object == nil
	return found
}

// context says in which cluster, render and branch a finding is.
func (j *judge) context(found *accept.Finding, c *cluster) {
	if c == nil {
		return
	}
	found.Cluster, found.Render, found.Branch = c.name, c.render, c.Branch(found.Location.File)
	if x := j.renders.results[found.Location.File]; x != nil {
		found.Render = x.Name
	}
	found.Assumed = j.renders.assumed[found.Render]
}

// fixes are what the engine advises if the rule asks its question, and what the rule
// itself advises if it has words of its own.
func fixes(said facts.Judgement, s build.Subject) []diag.Fix {
	switch {
	case said.Reason != "":
		return s.Fixes
	case said.Help != "":
		return []diag.Fix{{Description: said.Help}}
	}
	return nil
}

// named names the file of a rule from the root, as other files are named.
func (j *judge) named(failure diag.Failure) diag.Failure {
	if failure.File != "" {
		failure.File = j.files.fromRoot(failure.File)
	}
	return failure
}

// quiet is what would be found of renders that nobody named: it counts if they could
// be rendered before a change.
func (j *judge) quiet() (all []diag.Quiet) {
	for _, name := range slices.Sorted(maps.Keys(j.renders.quiet)) {
		problem := []source.Problem{j.renders.quiet[name]}
		j.findings(build.Facts(aboutFiles(problem)), nil, nil, func(_ int, f *accept.Finding) {
			all = append(all, diag.Quiet{Render: name, Diagnostic: f.Diagnostic})
		})
	}
	return all
}
