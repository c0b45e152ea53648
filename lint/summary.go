package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// summary counts the input of a run. All locations in it refer to the user's files.
type summary struct {
	diag.Summary
	skips  *skips
	passed passed
	// silent is set if no finding says that an input is not rendered.
	silent  bool
	renders *locate.Renders
	// counted holds the open questions that have already been counted.
	counted map[unknown]bool
	// about holds the objects that these questions are about.
	about map[*source.Object]bool
	// premises holds what is assumed about volumes and undeclared classes.
	premises premises
	// placeholders holds the placeholders for unknown values in each file.
	placeholders map[string][]string
}

func newSummary(r *locate.Renders) *summary {
	return &summary{
		skips:   &skips{map[string]*diag.Skip{}, map[string]*diag.Skip{}, map[string]*diag.Skip{}, map[string]*diag.Skip{}, map[string]*diag.Skip{}},
		renders: r, counted: map[unknown]bool{}, about: map[*source.Object]bool{}, placeholders: map[string][]string{},
		premises: premises{classes: map[string]string{}, cloud: map[string]bool{}, sized: map[string]bool{}, absent: map[string]map[string]bool{"PriorityClass": {}, "RuntimeClass": {}}},
	}
}

// skip counts a skipped file, document or object under a reason.
func (s *summary) skip(reason, place string) { s.skips.add(&s.skips.skipped, reason, place) }

// leaveOpen counts an open question under a reason.
func (s *summary) leaveOpen(reason, place string) { s.skips.add(&s.skips.unknown, reason, place) }

// note adds notes, without duplicates.
func (s *summary) note(notes ...string) {
	for _, note := range notes {
		if !slices.Contains(s.Notes, note) {
			s.Notes = append(s.Notes, note)
		}
	}
}

// addNodes counts nodes, each as often as times says.
func (s *summary) addNodes(nodes []*topology.Node, times int) {
	s.Nodes += times * len(nodes)
	if s.Zones == nil {
		s.Zones = map[string]int{}
	}
	for _, n := range nodes {
		zone := n.Labels["topology.kubernetes.io/zone"]
		if s.Zones[zone] += times; s.Zones[zone] == 0 {
			delete(s.Zones, zone)
		}
	}
}

// whole returns the complete summary, including the counts by reason.
func (s *summary) whole() diag.Summary {
	all := s.Summary
	s.skips.into(&all)
	p := s.passed
	for _, n := range []struct {
		count int
		note  string
	}{
		{p.nodes, "v1 Nodes among the manifests are no part of the topology unless --topology declares them: %d passed over"},
		{p.provisioners, "nodes that Karpenter would add do not count unless --topology names the NodePools or declares a pool of them; NodePools: %d passed over"},
		{p.owned, "objects that a declared workload made itself do not count: %d passed over"},
		{p.finished, "finished Pods do not count: %d passed over"},
		{p.hooks, "test and skipped hooks, with only their fields checked: %d"},
		{p.paused, pausedNote},
		{p.exported, "Jobs exported with their uid are valid updates of those Jobs, but the API server rejects creating them: %d"},
	} {
		if n.count > 0 {
			all.Notes = append(all.Notes, fmt.Sprintf(n.note, n.count))
		}
	}
	all.Notes = append(slices.Clip(all.Notes), s.premises.notes()...)
	if s.Fragments > 0 {
		all.Notes = append(all.Notes, fmt.Sprintf("values fragments of charts that are not at hand: %d checked; the charts decide which pods get them", s.Fragments))
	}
	for _, file := range sorting.Keys(s.placeholders) {
		all.Notes = append(all.Notes, placeholderNote(s.renders.Files.Display(file), s.placeholders[file]))
	}
	return all
}

// placeholderNote formats the first placeholders of a file.
func placeholderNote(file string, texts []string) string {
	const most, longest = 10, 40
	var names []string
	slices.Sort(texts)
	texts = slices.Compact(texts)
	for _, text := range texts[:min(most, len(texts))] {
		first, rest, _ := strings.Cut(strings.TrimRight(text, "\n"), "\n")
		if text = locate.Start(first, longest); text == first && rest != "" {
			text += "..."
		}
		names = append(names, strconv.Quote(text))
	}
	if more := len(texts) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return file + ": placeholders, whose values are unknown: " + strings.Join(names, ", ")
}

// skips counts skipped input and open questions by reason.
type skips struct {
	skipped, notJudged, repeated, unknown, accepted map[string]*diag.Skip
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

// noWorkloads lists the skip reasons for documents that cannot contain workloads.
var noWorkloads = map[string]bool{
	source.SkipCRD: true, source.SkipNoObject: true, source.SkipSample: true,
}

func (s *skips) into(summary *diag.Summary) {
	summary.Skipped, summary.NotJudged = sorted(s.skipped), sorted(s.notJudged)
	summary.Repeated, summary.Unknown = sorted(s.repeated), sorted(s.unknown)
	summary.AcceptedUnrendered = sorted(s.accepted)
}

// sorted returns the entries sorted by reason.
func sorted(m map[string]*diag.Skip) []diag.Skip {
	list := make([]diag.Skip, 0, len(m))
	for _, k := range m {
		list = append(list, *k)
	}
	sorting.Stable(list, func(a, b diag.Skip) int { return strings.Compare(a.Reason, b.Reason) })
	return list
}

// leftOut describes skipped input that may contain workloads, except untracked files. It returns ""
// if there is no such input.
func (s *summary) leftOut() string {
	var of diag.Summary
	s.skips.into(&of)
	var all []string
	for _, k := range of.Unjudged() {
		if k.Reason != untracked {
			all = append(all, fmt.Sprintf("%s (%d)", k.Reason, k.Count))
		}
	}
	return strings.Join(all, ", ")
}

// count adds the objects that a cluster declares to the summary.
func (s *summary) count(c *cluster) {
	set := c.whole
	s.Workloads += len(set.Workloads)
	s.OtherObjects += set.Others
	s.NodeObjects += set.Nodes
	s.passed.owned += set.Owned
	s.passed.finished += set.Finished
	s.passed.hooks += len(set.Validated)
	for _, w := range set.Workloads {
		if w.Paused() {
			s.passed.paused++
		}
		if w.Exported && !w.Refused() {
			s.passed.exported++
		}
	}
	for _, k := range set.Skipped {
		s.skip(k.Reason, s.renders.AtLine(k.File, k.Line))
	}
	for o, texts := range set.Placeholders {
		file := s.renders.InSources(o.NameSpan()).File
		s.placeholders[file] = append(s.placeholders[file], texts...)
	}
	for _, o := range set.NotJudged {
		s.skips.add(&s.skips.notJudged, o.Kind+" ("+o.APIVersion+")", s.renders.At(o))
	}
	for _, o := range set.Unresolved {
		s.skips.add(&s.skips.notJudged, o.Kind+" ("+o.APIVersion+") whose workloadRef leads to no template", s.renders.At(o))
	}
	for _, group := range c.Differing {
		for _, o := range group {
			s.skips.add(&s.skips.repeated, locate.NameOf(o), s.renders.At(o))
		}
	}
}

// unknown is an open question about one object.
type unknown struct {
	object *source.Object
	why    string
}

// unknowns counts workloads whose placement cannot be determined from the input. Each workload
// counts once even if several contexts contain it.
func (s *summary) unknowns(set *workload.Set, m *model.Model) {
	for _, w := range set.Workloads {
		if search.Chosen(m, w) {
			continue
		}
		why := message.Reason(m.Group(w).Unknown)
		if m.Group(w).Unknown.Cause == model.ByClass {
			s.premises.miss(m.Group(w).Unknown.Name)
		}
		if why == "" && !w.Count.Known && !w.Kind.PerNode() {
			why = "number of pods is unknown"
		}
		if names := search.Unlisted(m, w); why == "" && len(names) > 0 {
			why = fmt.Sprintf("no node lists %s", names[0])
		}
		if why == "" && m.MaybeApart(w) {
			why = "unknown whether its own pods are kept apart"
		}
		if key := (unknown{w.Object, why}); why != "" && !w.Refused() && !s.counted[key] {
			s.counted[key], s.about[w.Object] = true, true
			s.leaveOpen(why, s.renders.At(w.Object))
		}
	}
}

// givenUp counts unanswered questions about the workloads in a context. A question is unanswered if
// it exceeded its step budget or is too large for any budget. A question in several contexts counts
// once.
func (s *summary) givenUp(m *model.Model) {
	for _, g := range m.Run().GivenUp {
		why := message.Reason(model.Reason{Cause: g.Cause, Name: g.Name})
		switch {
		case g.Cause == model.ByClass && s.premises.miss(g.Name):
			s.open("storage class", g.Objects, false)
		case why != "":
			s.open(why+": "+g.Question, g.Objects, false)
		default:
			s.unanswered(g.Question, g.Objects)
		}
	}
}

// unplaced counts objects with an unknown placement under the reason why it is unknown.
func (s *summary) unplaced(why string, objects ...*source.Object) {
	s.open(why, objects, false)
	if k := s.skips.unknown[why]; k != nil {
		k.Placement = true
	}
}

// unanswered counts a question that exceeded its step budget. The question counts once for each
// object that it is about.
func (s *summary) unanswered(question string, objects []*source.Object) {
	s.open(overBudget+question, objects, true)
}

// open counts an open question under the reason why it is open. The question counts once for each
// object that it is about.
func (s *summary) open(why string, objects []*source.Object, budget bool) {
	for _, o := range objects {
		if key := (unknown{o, why}); !s.counted[key] {
			s.counted[key], s.about[o] = true, true
			s.leaveOpen(why, s.renders.At(o))
			s.skips.unknown[why].Budget = budget
		}
	}
}

// overBudget is the prefix of the reason for a question that exceeded its budget.
const overBudget = "step budget exceeded: "

// passed counts objects that are not checked as workloads. For example, an object may belong to
// another object, have no pods yet, or be impossible to create.
type passed struct{ nodes, provisioners, owned, finished, hooks, paused, exported int }

// pausedNote is the note about paused Deployments, which may have no pods yet.
const pausedNote = "paused Deployments are judged as if resumed; one that is created paused has no pods until then: %d"
