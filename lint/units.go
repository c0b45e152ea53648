package lint

import (
	"fmt"
	"hash/maphash"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/worktree"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/contexts"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// unit holds the objects of a context that are declared in the same directory. They are assumed to
// be deployed together. Different units may or may not share a cluster.
type unit struct {
	name    string
	objects []*source.Object
}

// unitsOf returns a function that maps a file to the directory of its unit. The directory is the
// outermost one on the command line that contains the file. If there is none, it is the file's own
// directory. A working directory on the command line is ignored, because it is the default path.
func unitsOf(f *locate.Files) func(file string) string {
	var named []string
	here, _ := os.Stat(f.Dir)
	for _, p := range f.Paths {
		at := worktree.Absolute(f.Dir, p)
		if info, err := os.Stat(at); p == "-" || err != nil || !info.IsDir() || os.SameFile(info, here) {
			continue
		}
		named = append(named, locate.Relative(filepath.ToSlash(worktree.Resolved(f.Root)), filepath.ToSlash(worktree.Resolved(at))))
	}
	slices.Sort(named) // parents come first
	return func(file string) string {
		for _, dir := range named {
			if dir == "." || strings.HasPrefix(file, dir+"/") {
				return dir
			}
		}
		return path.Dir(file)
	}
}

// unitKey identifies a unit by its objects, because several contexts may contain the same unit.
type unitKey struct {
	name string
	sum  uint64
}

func (u *unit) key(seed maphash.Seed) unitKey {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, o := range u.objects {
		maphash.WriteComparable(&h, o)
	}
	return unitKey{u.name, h.Sum64()}
}

// units divides a context into units. It also returns the names of the units that have workloads,
// disruption budgets, namespace limits or Pod Security levels. Both results are nil if there are fewer than two such
// names. They are also nil if the context is a render or a configured cluster. Other objects that
// affect workloads, such as a Namespace or an autoscaler, are added to every unit.
func (d *clusters) units(x *scene) (all []unit, with []string) {
	if !x.cluster.several {
		return nil, nil
	}
	for _, w := range x.set.Workloads {
		with = append(with, d.unit(w.Object.File.Name))
	}
	for _, b := range x.set.Budgets {
		with = append(with, d.unit(b.Object.File.Name))
	}
	for _, o := range x.Objects {
		if d.table.Limits(o) {
			with = append(with, d.unit(o.File.Name))
		}
	}
	slices.Sort(with)
	if with = slices.Compact(with); len(with) < 2 {
		return nil, nil
	}
	own, settings := map[string][]int{}, []int(nil)
	var names []string
	for i, o := range x.Objects {
		name := d.unit(o.File.Name)
		if own[name] == nil {
			names = append(names, name)
		}
		own[name] = append(own[name], i)
		if d.table.AffectsWorkloads(o) && (o.Kind == "Namespace" || !d.table.Limits(o)) {
			settings = append(settings, i)
		}
	}
	all = make([]unit, len(names))
	for n, name := range names {
		all[n].name = name
		declares := lists.SetOf(own[name], func(i int) diag.Object { return x.Objects[i].ID() })
		which := slices.Clone(own[name])
		for _, i := range settings {
			if o := x.Objects[i]; o.Kind != "Namespace" || !declares[o.ID()] {
				which = append(which, i)
			}
		}
		slices.Sort(which)
		for _, i := range slices.Compact(which) {
			all[n].objects = append(all[n].objects, x.Objects[i])
		}
	}
	return all, with
}

// unitScene loads a unit together with the objects that may be deployed with it. It uses the nodes
// of the context.
func (d *clusters) unitScene(joint *scene, u unit) *scene {
	there, elsewhere := map[diag.Object]bool{}, []*source.Object(nil)
	together, namespaces := map[*source.Object]bool{}, map[string]bool{}
	for _, o := range joint.Objects {
		there[o.ID()], together[o] = true, true
	}
	for _, o := range u.objects {
		namespaces[o.Namespace] = true
	}
	for _, o := range d.neighbours().Of(u.objects) {
		if together[o] || !there[o.ID()] { // not an alternative to an object of this context
			elsewhere = append(elsewhere, o)
		}
	}
	for _, b := range joint.set.Budgets {
		if namespaces[b.Object.Namespace] && !slices.Contains(u.objects, b.Object) && !slices.Contains(elsewhere, b.Object) {
			elsewhere = append(elsewhere, b.Object)
		}
	}
	joint.cluster.effects.objects += len(u.objects) + len(elsewhere)
	s := &scene{Context: contexts.Context{Name: u.name, Objects: u.objects}, cluster: joint.cluster, nodes: joint.nodes, placed: map[*model.Model]*certificate.Decision{}}
	s.set = joint.cluster.reader.Load(u.objects, slices.Concat(elsewhere, d.altered))
	s.set.Alternatives = joint.set.Alternatives
	for _, w := range s.set.Workloads { // a Namespace of another directory may be that of another cluster
		w.Problems = slices.DeleteFunc(slices.Clone(w.Problems), func(p workload.Problem) bool {
			other := p.By != nil && d.unit(p.By.File.Name) != u.name
			if other {
				w.Admission = p.By.Kind + " " + p.By.Name
			}
			return other
		})
	}
	return d.modelled(s)
}

// ifShared is appended to messages that apply only if several units share a cluster.
const ifShared = "if these share a cluster"

// weakenToShared turns a finding into a warning that names the units. It is called for findings
// that occur only when several units are checked together, because the units may not share a
// cluster.
func (d *clusters) weakenToShared(found *accept.Finding, all []string) {
	if found.Level == diag.LevelError {
		found.Level = diag.LevelWarning
	}
	names := []string{d.unit(found.Location.File)}
	names = append(names, lists.Of(found.Related, func(r diag.Related) string { return d.unit(r.Location.File) })...)
	names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(all, name) })
	slices.Sort(names)
	if names = slices.Compact(names); len(names) < 2 {
		names = all
	}
	found.Message += ", " + ifShared
	const most = 3
	these := "these: directories " + strings.Join(names[:min(most, len(names))], ", ")
	if more := len(names) - most; more > 0 {
		these += fmt.Sprintf(" and %d more", more)
	}
	found.Details = append(slices.Clip(found.Details), these)
}

// foundAt identifies a finding by its rule and location.
type foundAt struct {
	rule   string
	object diag.Object
	at     diag.Span
}

func placeOf(f *accept.Finding) foundAt { return foundAt{f.Rule, f.Object, f.Location} }
