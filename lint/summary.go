package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// skips counts what was left out, by reason.
type skips struct {
	skipped, notJudged, repeated, unknown map[string]*diag.Skip
}

func newSkips() *skips {
	return &skips{skipped: map[string]*diag.Skip{}, notJudged: map[string]*diag.Skip{}, repeated: map[string]*diag.Skip{}, unknown: map[string]*diag.Skip{}}
}

func (s *skips) add(to *map[string]*diag.Skip, reason, place string) {
	k := (*to)[reason]
	if k == nil {
		k = &diag.Skip{Reason: reason, Places: []string{}, MayHoldWorkloads: to == &s.skipped && !noWorkloads[reason]}
		(*to)[reason] = k
	}
	k.Count++
	if len(k.Places) < diag.MaxPlaces {
		k.Places = append(k.Places, place)
	}
}

// noWorkloads are the reasons for leaving out what holds no workloads.
var noWorkloads = map[string]bool{
	source.SkipCRD: true, source.SkipNoObject: true, source.SkipSample: true,
}

func (s *skips) into(summary *diag.Summary) {
	summary.Skipped, summary.NotJudged = sorted(s.skipped), sorted(s.notJudged)
	summary.Repeated, summary.Unknown = sorted(s.repeated), sorted(s.unknown)
}

// sorted lists entries by reason.
func sorted(m map[string]*diag.Skip) []diag.Skip {
	list := make([]diag.Skip, 0, len(m))
	for _, k := range m {
		list = append(list, *k)
	}
	slices.SortFunc(list, func(a, b diag.Skip) int { return strings.Compare(a.Reason, b.Reason) })
	return list
}

// leftOut counts what was skipped and may hold workloads, but for untracked files; "" if
// there is nothing of the kind.
func (r *run) leftOut() string {
	var s diag.Summary
	r.skips.into(&s)
	var all []string
	for _, k := range s.Unjudged() {
		if k.Reason != untracked {
			all = append(all, fmt.Sprintf("%s (%d)", k.Reason, k.Count))
		}
	}
	return strings.Join(all, ", ")
}

// count adds what is declared in one cluster to the summary.
func (r *run) count(c *cluster) {
	s, set := &r.report.Summary, c.whole
	s.Workloads += len(set.Workloads)
	s.OtherObjects += set.Others
	s.NodeObjects += set.Nodes
	r.passed.owned += set.Owned
	r.passed.finished += set.Finished
	for _, k := range set.Skipped {
		r.skips.add(&r.skips.skipped, k.Reason, r.atLine(k.File, k.Line))
	}
	for _, o := range set.NotJudged {
		r.skips.add(&r.skips.notJudged, o.Kind+" ("+o.APIVersion+")", r.at(o))
	}
	for _, o := range set.Unresolved {
		r.skips.add(&r.skips.notJudged, o.Kind+" ("+o.APIVersion+") whose workloadRef leads to no template", r.at(o))
	}
	for _, group := range c.Differing {
		for _, o := range group {
			r.skips.add(&r.skips.repeated, nameOf(o), r.at(o))
		}
	}
}

// unknown is an open question about one object.
type unknown struct {
	object *source.Object
	why    string
}

// unknowns counts workloads whose placement the input leaves open, each once
// however many contexts hold it.
func (r *run) unknowns(set *workload.Set, m *model.Model) {
	for _, w := range set.Workloads {
		why := message.Reason(m.Group(w).Unknown)
		if why == "" && !w.Count.Known && !w.Kind.PerNode() {
			why = "number of pods is unknown"
		}
		if names := search.Unlisted(m, w); why == "" && len(names) > 0 {
			why = fmt.Sprintf("no node lists %s", names[0])
		}
		if why == "" && m.MaybeApart(w) {
			why = "unknown whether its own pods are kept apart"
		}
		if key := (unknown{w.Object, why}); why != "" && !w.Refused() && !r.open[key] {
			r.open[key] = true
			r.skips.add(&r.skips.unknown, why, r.at(w.Object))
		}
	}
}

// givenUp counts the questions about the workloads of a context that took more steps
// than their budget, each once however many contexts hold it.
func (r *run) givenUp(m *model.Model) {
	for _, g := range m.Run().GivenUp {
		r.unanswered(g.Question, g.Objects)
	}
}

// unanswered counts a question about some objects that was given up.
func (r *run) unanswered(question string, objects []*source.Object) {
	why := overBudget + question
	for _, o := range objects {
		if key := (unknown{o, why}); !r.open[key] {
			r.open[key] = true
			r.skips.add(&r.skips.unknown, why, r.at(o))
			r.skips.unknown[why].Budget = true
		}
	}
}

// refused tells of the faults that a context met.
func (r *run) refused(m *model.Model) {
	for _, x := range m.Run().Refused {
		what := "the checker refuses an answer, which is left open: "
		if x.Failed {
			what = "schedlint failed while answering a question, which is left open: "
		}
		f := diag.Failure{Stage: diag.StageCheck, Internal: true, Message: what + x.Err.Error()}
		if len(x.Objects) > 0 {
			s := r.inSources(x.Objects[0].NameSpan())
			f.File, f.Line = s.File, s.Line
		}
		r.lost(f)
	}
}

// overBudget begins the reason of a question that was given up.
const overBudget = "step budget exceeded: "

// passed counts objects that are no workload of their own.
type passed struct{ nodes, provisioners, owned, finished int }

func (p passed) into(s *diag.Summary) {
	for _, n := range []struct {
		count int
		note  string
	}{
		{p.nodes, "v1 Nodes among the manifests are no part of the topology unless --topology declares them: %d passed over"},
		{p.provisioners, "nodes that Karpenter would add do not count unless the topology declares a pool of them, with min and max; NodePools: %d passed over"},
		{p.owned, "objects that a declared workload made itself do not count: %d passed over"},
		{p.finished, "finished Pods do not count: %d passed over"},
	} {
		if n.count > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf(n.note, n.count))
		}
	}
}

// atLine is the place of an object that begins on a line.
func (r *run) atLine(file string, line int) string {
	if r.results[file] == nil {
		return place(file, line)
	}
	s := r.inSources(diag.Span{File: file, Line: line, Column: 1, EndLine: line, EndColumn: 2})
	return place(s.File, s.Line)
}

func (r *run) at(o *source.Object) string {
	if x := r.results[o.File.Name]; x != nil {
		s := r.written(x, o.NameSpan()).Span
		return place(s.File, s.Line)
	}
	return place(o.File.Name, int(o.Root.Line))
}
