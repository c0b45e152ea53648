package disruption

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// Migration is the verdict on live-migrating a workload's machine to another node. The first pod
// keeps running while a second pod looks for a node (R-W25 to R-W27).
type Migration struct {
	Answer diag.Outcome
	// Machines is the number of machines in the workload.
	Machines int
	Why      model.Reason
	// Core explains why no machine can migrate. Its terms belong to CoreModel. Both may be nil.
	Core      *search.Core
	CoreModel *model.Model
	// Evicts is set if the machine turns evictions into migrations. It rejects an eviction until
	// the migration is done, so a drain waits for the migration (R-W29).
	Evicts bool
	// Device keeps the machines from migrating, wherever there is room. It may be nil.
	Device *workload.Device

	placed bool // see Rollout.placed
}

// migrations answers questions about live migration.
type migrations struct{ *shared }

// Migration judges KubeVirt machines, because other workloads do not migrate. If the machines can
// use growing pools, the answer is Never only if no machine can migrate at any size.
func (v migrations) Migration(w *workload.Workload) Migration {
	m := v.atAnySize(w)
	switch {
	case m.Answer == diag.None:
		return m
	case w.Stays != nil && m.Answer != diag.Never: // (R-W36)
		return Migration{Answer: diag.Never, Machines: m.Machines, Evicts: m.Evicts, Device: w.Stays}
	case m.Answer != diag.Never && w.OpenDisk != "":
		return Migration{Answer: diag.Unknown, Machines: m.Machines, Evicts: m.Evicts, Why: model.Reason{Cause: model.ByVolume, Name: w.OpenDisk}}
	}
	if p := v.m.PinOf(w); p.Key != "" && m.Answer != diag.Never { // the second pod needs the volumes of the first
		m.Answer, m.Why = diag.Unknown, p.Reason()
	}
	if why := v.m.ByNeighbour(w); m.Answer == diag.Always && why.Given() {
		m.Answer, m.Why = diag.Unknown, why
	}
	return m
}

func (v migrations) atAnySize(w *workload.Workload) Migration {
	m := v.migration(w)
	if m.Answer == diag.None || v.unknown(w).Given() || !v.grows(w, model.Certain(w)) || m.Answer == diag.Always && v.migrates(w, m) {
		return m
	}
	if larger := v.larger(); larger != nil && search.Hereditary(v.m, v.group(w, false)) {
		one := Migration{Machines: m.Machines, Answer: diag.Unknown}
		if g := (migrations{larger}).migration(w); g.Answer == diag.Never {
			if (migrations{larger}).migrate(w, []*workload.Workload{w}, &one); one.Answer == diag.Never { // as for a rollout
				return g
			}
		}
	}
	return Migration{Answer: diag.Unknown, Machines: m.Machines, Evicts: m.Evicts, Why: by(model.ByGrowth)}
}

func (v migrations) migration(w *workload.Workload) Migration {
	machines := model.Certain(w)
	if !w.Kind.VM || machines == 0 || w.Running {
		return Migration{Answer: diag.None}
	}
	strategy, _ := w.EvictionStrategy()
	m := Migration{Machines: machines, Evicts: strategy == "LiveMigrate", Answer: diag.Unknown}
	if m.Why = v.unknown(w); m.Why.Given() {
		return m
	}
	group, contenders := v.group(w, true), v.contendersOf(w, machines)
	v.migrate(w, group, &m)
	rules := contenders != nil
	if own := v.group(w, false); m.Answer == diag.Unknown && m.Why.Cause != model.ByPending && len(group) > len(own) {
		rules = true
		v.migrate(w, own, &m)
	}
	if rules && (m.Answer == diag.Sometimes || m.Answer == diag.Always && !v.spacious(w, group, contenders, machines)) { // other pods may take the room
		m = Migration{Answer: diag.Unknown, Machines: machines, Evicts: m.Evicts, Why: by(model.ByCrowd)}
		if contenders == nil {
			m.Why = cmp.Or(v.reasonAboutOthers(w, group), v.undecided(w))
		}
	}
	if left := v.withoutPreemptible(w, group); left != nil && (m.Answer == diag.Never || m.Answer == diag.Sometimes) {
		open := Migration{Machines: machines, Evicts: m.Evicts, Answer: diag.Unknown, Why: by(model.ByPriority)}
		m.Core, m.CoreModel, m.Why = nil, nil, model.Reason{}
		if v.migrate(w, left, &m); m.Answer != diag.Never {
			return open
		}
	}
	return m
}

// spacious reports whether a machine's second pod always finds a node other than the first pod's
// node, wherever the group's other pods are (T16).
func (v migrations) spacious(w *workload.Workload, group, contenders []*workload.Workload, machines int) bool {
	told := asksFor(v.m.Group(w), w.Kind.PerPod)
	gone := certificate.Loss{Meaning: certificate.Gone}
	return !told && search.AlwaysFits(w, v.assembled(group).Roster, v.contendersOrGroup(group, contenders), search.AnyNode, gone, machines+1)
}

// maxMachines is the maximum number of workloads in a scene in which each machine has its own
// labels.
const maxMachines = 40

// migrate judges a migration within one group. The source is one of the workload's pods. The target
// equals the source but must be on a different node. The other pods stay in place.
func (v migrations) migrate(w *workload.Workload, group []*workload.Workload, out *Migration) {
	if out.Why = v.reasonDependsOnTransient(w); out.Why.Given() {
		out.Answer = diag.Unknown
		return
	}
	if out.Why = v.reasonNoTrialDecides(w); out.Why.Given() {
		out.Answer = diag.Unknown
		return
	}
	all := group
	group = v.withoutUnfit(w, group)
	_, rest := v.scene(group).decide()
	s := v.scene(group)
	source, target, ok := s.migration(w, out.Machines)
	if !ok {
		out.Why = by(model.ByMachines)
		return
	}
	if rest.Verdict == diag.Never {
		out.Answer, out.Why = diag.None, by(model.Unplaced)
		return
	}
	if out.Why = v.doubtful(w, group); out.Why.Given() {
		out.Answer = diag.Unknown
		return
	}
	m, d := s.decide()
	switch {
	case impossible(d, rest, target, source):
		out.Answer, out.Core, out.CoreModel = diag.Never, coreOf(m, d, target), m
	case d.Verdict == diag.Always:
		out.Answer, out.placed = diag.Always, true
	default: // the second pod comes last, after all other pods are in place
		out.Answer = search.Roll(m, certificate.Rollout{Old: source, Fresh: target, Surge: 1}, v.options(v.steps)).Verdict
	}
	switch {
	case out.Answer == diag.Unknown:
		out.Why = v.undecided(w)
	case out.Answer != diag.Never && v.waiting(all, group):
		*out = Migration{Answer: diag.Unknown, Machines: out.Machines, Evicts: out.Evicts, Why: by(model.ByPending)}
	}
}

// migration replaces one machine with two pods on different nodes: the source and the target of the
// migration. If a rule has a condition on labels that KubeVirt sets per machine, every machine gets
// its own label values. The source and the target share their machine's values. migration returns
// false if there are too many machines.
func (s *scene) migration(w *workload.Workload, machines int) (source, target *workload.Workload, ok bool) {
	s.with(w, machines-1)
	source, target = s.copy(w, 1), s.copy(w, 1)
	s.ws = append(s.ws, source, target)
	s.add = []model.Apart{{A: source, B: target, Key: corev1.LabelHostname}}
	var asked []string
	for _, key := range source.Kind.PerPod {
		// A copy has the same terms as its original.
		if slices.ContainsFunc(s.ws, func(w *workload.Workload) bool {
			i := slices.IndexFunc(s.j.m.Workloads, func(o *workload.Workload) bool { return o.Object == w.Object })
			return i >= 0 && asksFor(s.j.m.Group(s.j.m.Workloads[i]), []string{key})
		}) {
			asked = append(asked, key)
		}
	}
	if len(asked) == 0 {
		return source, target, true
	}
	var all []*workload.Workload
	for _, w := range s.ws {
		switch {
		case w == source, w == target:
			all = append(all, label(w, asked, "the machine that migrates"))
		case !w.Kind.VM || w.Running:
			all = append(all, w)
		default:
			for i := range w.Count.N {
				all = append(all, label(s.copy(w, 1), asked, fmt.Sprintf("machine %d of %s", i, w)))
			}
		}
		if len(all) > maxMachines {
			return nil, nil, false
		}
	}
	s.ws = all
	return source, target, true
}

// asksFor reports whether a hard rule in a group has a condition on one of the given labels.
func asksFor(g *model.Group, keys []string) bool {
	return slices.ContainsFunc(g.Terms, func(t *model.Term) bool { return t.Hard && slices.ContainsFunc(keys, t.Asks) })
}

// label adds labels that a copy does not have yet. The value is not a valid label value, so no
// other workload has it.
func label(w *workload.Workload, keys []string, value string) *workload.Workload {
	w.Labels = maps.Clone(w.Labels)
	for _, key := range keys {
		if _, set := w.Labels[key]; !set {
			w.Labels[key] = value
		}
	}
	return w
}

// migrates reports whether machines can migrate at every pool size, given the result on the
// declared nodes.
func (v migrations) migrates(w *workload.Workload, here Migration) bool {
	return v.holdsAtEverySize(w, model.Certain(w), 0, func(at *shared, group []*workload.Workload, every bool) bool {
		m := here
		if at != v.shared {
			m = migrations{at}.migration(w)
		}
		return m.Answer == diag.Always && (every || m.placed && at.allMayFit(group))
	})
}

// Asks returns a term with a condition on the given label, and the term's workload. A virtual
// machine object has the label, but its pods do not. With the label, the pods would match the term.
// The results are nil if there is no such term (R-W21).
func (j *shared) Asks(w *workload.Workload, key string) (*workload.Workload, *model.Term) {
	labelled := *w
	labelled.Labels = maps.Clone(w.Labels)
	if labelled.Labels == nil {
		labelled.Labels = map[string]string{}
	}
	for k, l := range w.OuterLabels() {
		labelled.Labels[k] = l.Value
	}
	for _, o := range j.m.Workloads {
		if o.Copy || o.Superseded {
			continue
		}
		for _, t := range j.m.Group(o).Terms {
			if t.Asks(key) && j.m.Peer(t, o, w) == model.No && j.m.Peer(t, o, &labelled) == model.Yes {
				return o, t
			}
		}
	}
	return nil, nil
}
