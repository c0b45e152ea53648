package workload

import (
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// withoutOwned drops objects that a declared workload created, so that its pods are not counted
// twice.
func (l *loader) withoutOwned(all []*Workload) []*Workload {
	declared := map[[3]string]bool{}
	for _, w := range all {
		declared[[3]string{w.Object.Namespace, w.Object.Kind, w.Object.Name}] = true
	}
	return slices.DeleteFunc(all, func(w *Workload) bool {
		for _, ref := range w.Object.Root.At("metadata", "ownerReferences").Items() {
			for _, owner := range owners(w, ref) {
				if declared[[3]string{w.Object.Namespace, owner[0], owner[1]}] {
					l.set.Owned++
					return true
				}
			}
		}
		return false
	})
}

// owners returns the kinds and names of the workloads that an owner reference may lead to, also
// through an object that is not declared: the name of a ReplicaSet is that of its Deployment or
// Rollout with a hash, and an instance has the name of its machine.
func owners(w *Workload, ref *source.Node) [][2]string {
	kind, name := ref.Get("kind").Text(), ref.Get("name").Text()
	all := [][2]string{{kind, name}}
	hash, argo := w.Labels["pod-template-hash"], w.Labels[rolloutHash]
	switch {
	case kind == "ReplicaSet" && argo != "":
		all = append(all, [2]string{rolloutKind, strings.TrimSuffix(name, "-"+argo)})
	case kind == "ReplicaSet" && hash != "":
		all = append(all, [2]string{"Deployment", strings.TrimSuffix(name, "-"+hash)})
	case kind == "VirtualMachineInstance":
		all = append(all, [2]string{"VirtualMachine", name})
	}
	return all
}

// likeness has the properties that equal objects without a name share.
type likeness struct {
	group, kind, namespace, name string
	sum                          uint64
}

// likenesses has the objects without a name so far.
type likenesses struct {
	digester *source.Digester
	all      map[likeness][]*source.Object
}

// seenElsewhere reports whether an equal object was in another file, and records the object. One object
// of each of two files is enough to keep.
func (l *likenesses) seenElsewhere(o *source.Object) bool {
	id := likeness{o.Group(), o.Kind, o.Namespace, o.Name, l.digester.Sum(o.Root)}
	alike := l.all[id]
	i := slices.IndexFunc(alike, func(a *source.Object) bool { return a.File != o.File && source.Equal(a.Root, o.Root) })
	if len(alike) == 0 || i == 0 && len(alike) == 1 {
		l.all[id] = append(alike, o)
	}
	return i >= 0
}

// repeated marks objects of one group, kind, namespace and name whose declarations differ, and
// copies of equal declarations. One file may intend several objects without a name, but several
// files are taken for alternative declarations of the same object.
func (l *loader) repeated() {
	first, more := make(map[[4]string]*Workload, len(l.set.Workloads)), map[[4]string][]*Workload{}
	unnamed := likenesses{digester: source.NewDigester(), all: map[likeness][]*source.Object{}}
	for _, w := range l.set.Workloads {
		w.Repeated, w.Copy, w.Superseded = false, false, false
		if w.Object.Root.At("metadata", "name").IsNull() {
			w.Copy = unnamed.seenElsewhere(w.Object)
			continue
		}
		if id := identity(w); first[id] == nil {
			first[id] = w
		} else {
			more[id] = append(more[id], w)
		}
	}
	if len(more) == 0 {
		return
	}
	for _, w := range l.set.Workloads {
		id := identity(w)
		if first[id] != w || more[id] == nil {
			continue
		}
		group := append([]*Workload{w}, more[id]...)
		differ := slices.ContainsFunc(group[1:], func(w *Workload) bool { return !source.Equal(w.Object.Root, group[0].Object.Root) })
		var objects []*source.Object
		for i, w := range group {
			w.Repeated, w.Copy = differ, !differ && i > 0
			w.Superseded = differ && i < len(group)-1
			objects = append(objects, w.Object)
		}
		if differ {
			l.set.Repeated = append(l.set.Repeated, objects)
		}
	}
}

// identity returns the properties that no two objects share.
func identity(w *Workload) [4]string {
	o := w.Object
	return [4]string{o.Group(), o.Kind, o.Namespace, o.Name}
}
