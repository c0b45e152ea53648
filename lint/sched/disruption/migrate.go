package disruption

import (
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

// Migration is whether a machine of a workload can move to another node while
// it runs: a second pod has to find a node beside the first (R-W25 to R-W27).
type Migration struct {
	Answer diag.Outcome
	// Machines is how many there are of the workload.
	Machines int
	Why      string
	// Core is why none can migrate, if that is so, in terms of CoreModel.
	Core      *search.Core
	CoreModel *model.Model
	// Evicts is set if the machine declares that an eviction becomes a migration
	// and is refused until that is done: then a drain waits for it (R-W29).
	Evicts bool

	placed bool // as in Rollout
}

// Migration judges machines of KubeVirt; anything else does not migrate. Where
// pools may grow for them, none can migrate only if that holds however far.
func (j *Judge) Migration(w *workload.Workload) Migration {
	m := j.migration(w)
	if m.Answer == diag.None || j.unknown(w) != "" || !j.grows(w, Certain(w)) || m.Answer == diag.Always && j.migrates(w, m) {
		return m
	}
	if larger := j.larger(); larger != nil && search.Hereditary(j.m, j.group(w, false)) {
		one := Migration{Machines: m.Machines, Answer: diag.Unknown}
		if g := larger.migration(w); g.Answer == diag.Never {
			if larger.migrate(w, []*workload.Workload{w}, &one); one.Answer == diag.Never { // see neverAlone
				return g
			}
		}
	}
	return Migration{Answer: diag.Unknown, Machines: m.Machines, Evicts: m.Evicts, Why: whyGrowth}
}

func (j *Judge) migration(w *workload.Workload) Migration {
	machines := Certain(w)
	if !w.Kind.VM || machines == 0 || w.Running {
		return Migration{Answer: diag.None}
	}
	strategy, _ := w.EvictionStrategy()
	m := Migration{Machines: machines, Evicts: strategy == "LiveMigrate", Answer: diag.Unknown}
	if m.Why = j.unknown(w); m.Why != "" {
		return m
	}
	group := j.group(w, true)
	j.migrate(w, group, &m)
	if rules := j.group(w, false); m.Answer == diag.Unknown && len(group) > len(rules) {
		j.migrate(w, rules, &m)
		if why := j.beside(w, group); why != "" && m.Answer == diag.Always {
			m.Answer, m.placed, m.Why = diag.Unknown, false, why
		}
	}
	if left := j.yielding(w, group); left != nil && (m.Answer == diag.Never || m.Answer == diag.Sometimes) {
		open := Migration{Machines: machines, Evicts: m.Evicts, Answer: diag.Unknown, Why: whyPreempt}
		m.Core, m.CoreModel, m.Why = nil, nil, ""
		if j.migrate(w, left, &m); m.Answer != diag.Never {
			return open
		}
	}
	return m
}

// maxMachines bounds the machines that are told apart.
const maxMachines = 40

// migrate judges within one group: one pod of the workload, which is the
// source, the others as they are, and the target, which is like the source but
// for the node that it must not be on.
func (j *Judge) migrate(w *workload.Workload, group []*workload.Workload, out *Migration) {
	if out.Why = j.leans(w); out.Why != "" {
		out.Answer = diag.Unknown
		return
	}
	group = j.sound(w, group)
	_, rest := j.scene(group).decide()
	s := j.scene(group).with(w, out.Machines-1)
	source := s.copy(w, 1)
	target := s.copy(w, 1)
	s.ws = append(s.ws, source, target)
	s.add = []model.Apart{{A: source, B: target, Key: corev1.LabelHostname}}
	if !s.tellMachines(source, target) {
		out.Why = "too many machines are told apart by their own labels"
		return
	}
	m, d := s.decide()
	switch {
	case rest.Verdict == diag.Never:
		out.Answer, out.Why = diag.None, "its pods do not fit as it is"
	case impossible(d, rest, target, source):
		out.Answer, out.Core, out.CoreModel = diag.Never, because(m, d, target), m
	case d.Verdict == diag.Always:
		out.Answer, out.placed = diag.Always, true
	default: // the second pod comes last, when all others are in place
		out.Answer = search.Roll(m, certificate.Rollout{Old: source, Fresh: target, Surge: 1}, j.options(j.steps)).Verdict
	}
	if out.Answer == diag.Unknown {
		out.Why = j.undecided(w)
	}
}

// tellMachines gives every machine the labels that KubeVirt gives it, if some
// rule asks for them: source and target are one machine and share them. False
// if there are too many machines.
func (s *scene) tellMachines(source, target *workload.Workload) bool {
	var asked []string
	for _, key := range source.Kind.PerPod {
		if slices.ContainsFunc(s.ws, func(w *workload.Workload) bool { return s.j.asks(w, key) }) {
			asked = append(asked, key)
		}
	}
	if len(asked) == 0 {
		return true
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
				one := s.copy(w, 1)
				all = append(all, label(one, asked, fmt.Sprintf("machine %d of %s", i, w)))
			}
		}
		if len(all) > maxMachines {
			return false
		}
	}
	s.ws = all
	return true
}

// asks reports whether a hard rule of a workload asks for a label. The terms of
// a copy are those of what it was copied from.
func (j *Judge) asks(w *workload.Workload, key string) bool {
	for _, o := range j.m.Workloads {
		if o.Object == w.Object {
			return slices.ContainsFunc(j.m.Group(o).Terms, func(t *model.Term) bool { return t.Hard && t.Asks(key) })
		}
	}
	return false
}

// label sets labels of a copy to a value that no label can have, so that it is
// nobody else's.
func label(w *workload.Workload, keys []string, value string) *workload.Workload {
	w.Labels = maps.Clone(w.Labels)
	for _, key := range keys {
		if _, set := w.Labels[key]; !set {
			w.Labels[key] = value
		}
	}
	return w
}
