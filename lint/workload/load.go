package workload

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// Set has all information about pods in the objects of one cluster.
type Set struct {
	Workloads []*Workload
	// Namespaces are the labels of the declared namespaces, by name.
	Namespaces map[string]map[string]string
	// Skipped are objects of a judged kind that are patches, not complete manifests.
	Skipped []source.Skipped
	// NotJudged are objects of kinds without a row that have a pod template or placement fields.
	// Unresolved are Rollouts whose workloadRef leads to no declared template, or to several that
	// differ.
	NotJudged, Unresolved []*source.Object
	// Fragments are those placement fields that have the form of the core API, one for each map.
	Fragments []*Workload
	// Foreign are objects with placement fields of another form, which are unknown.
	Foreign []*source.Object
	// Budgets are the PodDisruptionBudgets, in the order of the input.
	Budgets []*Budget
	// Refusals are the objects without pods that the API server refuses: budgets and autoscalers.
	Refusals []Refusal
	// Operated are the namespaces where pods may appear that no workload of the set creates; see
	// Operates.
	Operated map[string]bool
	// Customs are the custom resources from which an operator may create pods.
	Customs []*source.Object
	// Claims are the ResourceClaims and ResourceClaimTemplates.
	Claims []*source.Object
	// OpenShift is set if an object belongs to an API group of OpenShift.
	OpenShift bool
	// Repeated has groups of objects with declarations that differ.
	Repeated [][]*source.Object
	// Others counts objects that create no pods, Nodes the v1 Nodes, Owned the running objects that
	// belong to a declared workload, and Finished the pods that have ended.
	Others, Nodes, Owned, Finished int
	// Topologies are the NodeTopology documents among the objects.
	Topologies []*source.Object
	// Elsewhere are workloads that might not be deployed: only files declare them that are not
	// certainly deployed together with the others.
	Elsewhere []*Workload
	// Validated are workloads that no deployment creates (source.HookNever). Only validation of
	// their fields applies to them, and no selector matches their pods.
	Validated []*Workload
	// Placeholders are texts, by object, that stand for values not known yet, except variables of
	// tools. Only the judged parts of an object count.
	Placeholders map[*source.Object][]string
	// BudgetsElsewhere are budgets that might not be deployed, for the same reason.
	BudgetsElsewhere []*Budget
	// Alternatives are the objects of other alternatives, which are never deployed together with
	// these.
	Alternatives map[*source.Object]bool
}

// Reader reads workloads, each object once regardless of the number of sets that contain it.
type Reader struct {
	table   Table
	decoder *source.Decoder
	// fragmentDecoder reads placement fields of objects that are not judged. It accepts any field
	// beside them, but inside them only fields of the core API.
	fragmentDecoder *source.Decoder
	envelopes       map[string]map[string]reflect.Type
	known           map[*source.Object]*Workload
	budgets         map[*source.Object]*Budget // those elsewhere
	lists           sharedLists
	// Values returns the values that an object gives a chart that is not part of the input, nil if
	// there are none. Without this function no values of charts are known.
	Values func(o *source.Object) *Given
	// once is set if there is only one set, so trees are discarded after reading.
	once bool
}

// NewReader returns a reader for the kinds of a table.
func NewReader(table Table) *Reader {
	return &Reader{
		table: table, decoder: newDecoder(), envelopes: envelopes(),
		fragmentDecoder: &source.Decoder{Open: map[reflect.Type]bool{reflect.TypeFor[fragment](): true}},
		known:           map[*source.Object]*Workload{}, budgets: map[*source.Object]*Budget{}, lists: sharedLists{},
	}
}

// Once declares that the reader reads only one set. It then discards the trees of objects that it
// has read (source.Object.Fold).
func (r *Reader) Once() { r.once = true }

type loader struct {
	*Reader
	set    *Set
	scales []*source.Object
	// admitting are the objects of the kinds in admits.
	admitting []*source.Object
	// budgets has the indices of the disruption budgets in the set, by namespace and name.
	budgets map[[2]string]int
	// referring are the Rollouts whose template is in another object, and templates the
	// PodTemplates that one of them may name.
	referring []*Workload
	templates []*source.Object
}

// Load reads the objects of one cluster.
func Load(table Table, objects []*source.Object) *Set { return NewReader(table).Load(objects, nil) }

// Load reads objects that are deployed together, and objects elsewhere that might not be deployed.
func (r *Reader) Load(objects, elsewhere []*source.Object) *Set {
	l := &loader{Reader: r, budgets: map[[2]string]int{}, set: &Set{Namespaces: map[string]map[string]string{}, Operated: map[string]bool{}, Placeholders: map[*source.Object][]string{}}}
	for _, o := range objects {
		l.object(o)
	}
	l.set.Budgets = slices.DeleteFunc(l.set.Budgets, func(b *Budget) bool { return b == nil })
	idle := l.resolveReferences()
	l.set.Workloads = l.withoutOwned(l.set.Workloads)
	l.removeIdle(idle)
	l.repeated()
	l.scale()
	l.admission()
	for _, o := range elsewhere {
		l.loadUncertain(o)
	}
	return l.set
}

// core reports whether an object belongs to the core group of Kubernetes.
func core(o *source.Object) bool { return o.Group() == "" && o.APIVersion != "" }

func (l *loader) object(o *source.Object) {
	kind := l.table.Find(o.APIVersion, o.Kind)
	l.set.OpenShift = l.set.OpenShift || strings.HasSuffix(o.Group(), ".openshift.io")
	switch {
	case kind != nil && o.APIVersion != "":
		l.workload(o, kind)
	case o.APIVersion == "":
		l.unversioned(o)
	case o.Hook == source.HookNever:
		l.set.Others++
	case o.Kind == "Node" && core(o):
		l.set.Nodes++
	case o.Kind == "NodeTopology" && o.Group() == "schedlint.dev":
		l.set.Topologies = append(l.set.Topologies, o)
	case o.Kind == "Namespace" && core(o):
		l.set.Others++
		labels := map[string]string{}
		for k, v := range o.Root.At("metadata", "labels").Fields() {
			labels[k.Value] = v.Text()
		}
		labels["kubernetes.io/metadata.name"] = o.Name
		l.set.Namespaces[o.Name] = labels
	case scales(o):
		l.validateOther(o)
		l.scales = append(l.scales, o)
		l.set.Others++
	case o.Kind == "PodDisruptionBudget" && o.Group() == "policy":
		if o.Hook != "" {
			l.budgetElsewhere(o)
		} else {
			l.budget(o)
		}
	case admitsPods(o.APIVersion, o.Kind):
		l.admitting = append(l.admitting, o)
		l.set.Others++
	case claims[o.Kind] && o.Group() == claimGroup:
		l.set.Claims = append(l.set.Claims, o)
		l.set.Others++
	default:
		l.other(o)
	}
}

// other reads an object of a kind that is not judged.
func (l *loader) other(o *source.Object) {
	l.validateKind(o)
	template := o.Kind == "PodTemplate" && core(o)
	if template {
		l.templates = append(l.templates, o)
	} else if l.table.Relevant(o.APIVersion, o.Kind) {
		l.recordOperated(o)
	}
	placed := l.fragments(o)
	if template || placed || holdsTemplate(o.Root, nil, 0) {
		l.set.NotJudged = append(l.set.NotJudged, o)
		return
	}
	l.set.Others++
	if l.once {
		o.Fold(&source.Kept{})
	}
}

// unversioned reads an object without apiVersion: a mistake if it is otherwise a complete workload,
// or else not a manifest.
func (l *loader) unversioned(o *source.Object) {
	for _, row := range kinds() {
		if kind := l.table[[2]string{row.Group, row.Kind}]; row.Kind == o.Kind && isManifest(o, kind) {
			k, v := o.Root.Field("kind")
			version := "v1"
			if row.Kind == rolloutKind {
				version = "v1alpha1"
			}
			l.set.Workloads = append(l.set.Workloads, &Workload{Object: o, Kind: kind, Problems: []Problem{{
				Stage: StageObject, Field: "apiVersion", Span: o.File.FieldSpan(k, v),
				Message: "apiVersion is missing", Fix: "add apiVersion: " + strings.TrimPrefix(row.Group+"/"+version, "/"),
			}}})
			return
		}
	}
	l.set.Skipped = append(l.set.Skipped, source.Skipped{Reason: source.SkipNoObject, File: o.File.Name, Line: int(o.Root.Line)})
}

// holdsTemplate looks for a pod template (R-W1): a spec with containers below a field template,
// podTemplate, workerTemplate or the like, or pod.
func holdsTemplate(n *source.Node, path []string, depth int) bool {
	if depth > 12 {
		return false
	}
	if end := len(path) - 1; end >= 1 && path[end] == "spec" && n.Get("containers").Len() > 0 {
		if above := path[end-1]; above == "template" || above == "pod" || strings.HasSuffix(above, "Template") {
			return true
		}
	}
	for k, v := range n.Fields() {
		if holdsTemplate(v, append(path, k.Value), depth+1) {
			return true
		}
	}
	for _, item := range n.Items() {
		if holdsTemplate(item, path, depth+1) {
			return true
		}
	}
	return false
}

// workload decodes one object of a judged kind.
func (l *loader) workload(o *source.Object, kind *Kind) {
	if kind.Kind == rolloutKind && !o.Root.At("spec", "workloadRef").IsNull() {
		l.addReferringRollout(o, kind)
		return
	}
	if !isManifest(o, kind) {
		l.patch(o)
		l.recordOperated(o) // the patched object may be known under this name only
		return
	}
	if ended(o, kind) {
		l.set.Finished++
		return
	}
	w := l.read(o, kind)
	l.placeholders(o, w.Placeholders)
	if o.Hook == source.HookNever {
		w.Validated = true
		l.set.Validated = append(l.set.Validated, w)
		return
	}
	l.set.Workloads = append(l.set.Workloads, w)
}

// patch records an object that names only the fields that it changes in another one.
func (l *loader) patch(o *source.Object) {
	l.set.Skipped = append(l.set.Skipped, source.Skipped{Reason: source.SkipPatch, File: o.File.Name, Line: int(o.Root.Line)})
}

// addReferringRollout records a Rollout without a template: it names an object that has one (argo-rollouts:
// utils/unstructured and rollout/templateref). That object may be read later.
func (l *loader) addReferringRollout(o *source.Object, kind *Kind) {
	w := &Workload{Object: o, Kind: kind, Count: kind.Count(o)}
	l.envelope(w)
	(&checker{w: w}).object()
	l.referring = append(l.referring, w)
	l.set.Workloads = append(l.set.Workloads, w)
}

// resolveReferences gives every such Rollout the template of the object that it names, if the
// declarations of that object are equal, and returns the workloads that therefore have no pods of
// their own. If the object is refused, the Rollout has no template.
func (l *loader) resolveReferences() (idle []*Workload) {
	if len(l.referring) == 0 {
		return nil
	}
	lost := map[*Workload]bool{}
	lenders := l.lenders()
	resolved := map[declared][]*Workload{}
	for _, w := range l.referring {
		ref := w.Object.Root.At("spec", "workloadRef")
		id := declared{w.Object.Namespace, groupOf(ref.Get("apiVersion").Text()), ref.Get("kind").Text(), ref.Get("name").Text()}
		named, known := resolved[id]
		if !known {
			named = l.named(lenders[id])
			resolved[id] = named
		}
		if len(named) == 0 {
			l.set.Unresolved = append(l.set.Unresolved, w.Object)
			l.recordOperated(w.Object)
			lost[w] = true
			continue
		}
		from := named[0]
		w.from = from.Object
		w.TemplateNode, w.SpecNode, w.Spec, w.Open = from.TemplateNode, from.SpecNode, from.Spec, from.Open
		w.Labels = maps.Clone(from.Labels)
		w.Problems = append(w.Problems, from.Problems...)
		// The object is migrated with scaleDown, or, as is common practice, only the Rollout is
		// intended to run. Only an explicit replica number means the opposite.
		down := ref.Get("scaleDown").Text()
		if down == "onsuccess" || down == "progressively" || from.Count.Key == nil || from.Count.Known && from.Count.N == 0 {
			idle = append(idle, named...)
			w.Unknown = append(w.Unknown, from.Unknown...) // otherwise they are reported there
		}
	}
	l.set.Workloads = slices.DeleteFunc(l.set.Workloads, func(w *Workload) bool { return lost[w] })
	return idle
}

// declared identifies an object.
type declared struct{ namespace, group, kind, name string }

// lender is a declaration of an object that has a template: a workload that is already read, or a
// PodTemplate.
type lender struct {
	workload *Workload
	object   *source.Object
}

// lenders returns all lenders by object, workloads first.
func (l *loader) lenders() map[declared][]lender {
	all := map[declared][]lender{}
	add := func(o *source.Object, w *Workload) {
		if o.APIVersion != "" {
			id := declared{o.Namespace, o.Group(), o.Kind, o.Name}
			all[id] = append(all[id], lender{w, o})
		}
	}
	for _, w := range l.set.Workloads {
		if kind := w.Object.Kind; kind == "Deployment" || kind == "ReplicaSet" {
			add(w.Object, w)
		}
	}
	for _, o := range l.templates {
		add(o, nil)
	}
	return all
}

// named returns the declarations of the object that a reference leads to; none if they differ. A
// PodTemplate creates no pods by itself.
func (l *loader) named(declarations []lender) (all []*Workload) {
	for _, d := range declarations {
		if !source.Equal(d.object.Root, declarations[0].object.Root) {
			return nil
		}
		w := d.workload
		if w == nil {
			w = l.read(d.object, &Kind{Kind: "PodTemplate", Template: []string{"template"}, Count: func(*source.Object) Count { return known(0, "a template") }})
		}
		all = append(all, w)
	}
	return all
}

// removeIdle removes workloads that have no pods of their own from the set.
func (l *loader) removeIdle(idle []*Workload) {
	gone := make(map[*source.Object]bool, len(idle))
	for _, w := range idle {
		gone[w.Object] = true
	}
	l.set.Others += len(gone)
	l.set.Workloads = slices.DeleteFunc(l.set.Workloads, func(w *Workload) bool { return gone[w.Object] })
	l.set.NotJudged = slices.DeleteFunc(l.set.NotJudged, func(o *source.Object) bool { return gone[o] })
}

// withoutOwned drops objects that a declared workload created, so that its pods are not counted
// twice. The workload may be the owner of an owner that is not declared: the name of a ReplicaSet is
// that of its Deployment or Rollout with a hash, and an instance has the name of its machine.
func (l *loader) withoutOwned(all []*Workload) []*Workload {
	declared := map[[3]string]bool{}
	for _, w := range all {
		declared[[3]string{w.Object.Namespace, w.Object.Kind, w.Object.Name}] = true
	}
	return slices.DeleteFunc(all, func(w *Workload) bool {
		for _, ref := range w.Object.Root.At("metadata", "ownerReferences").Items() {
			kind, name := ref.Get("kind").Text(), ref.Get("name").Text()
			above := [3]string{} // declares the owner, which is not declared itself
			hash, argo := w.Labels["pod-template-hash"], w.Labels[rolloutHash]
			switch {
			case kind == "ReplicaSet" && argo != "":
				above = [3]string{w.Object.Namespace, rolloutKind, strings.TrimSuffix(name, "-"+argo)}
			case kind == "ReplicaSet" && hash != "":
				above = [3]string{w.Object.Namespace, "Deployment", strings.TrimSuffix(name, "-"+hash)}
			case kind == "VirtualMachineInstance":
				above = [3]string{w.Object.Namespace, "VirtualMachine", name}
			}
			if declared[[3]string{w.Object.Namespace, kind, name}] || declared[above] {
				l.set.Owned++
				return true
			}
		}
		return false
	})
}

// likeness has the properties that equal objects without a name share.
type likeness struct {
	id  [4]string
	sum uint64
}

// repeated marks objects of one group, kind, namespace and name whose declarations differ, and
// copies of equal declarations. One file may intend several objects without a name, but several
// files are taken for alternative declarations of the same object.
func (l *loader) repeated() {
	first, more := make(map[[4]string]*Workload, len(l.set.Workloads)), map[[4]string][]*Workload{}
	digester, unnamed := source.NewDigester(), map[likeness][]*source.Object{}
	identity := func(w *Workload) [4]string {
		return [4]string{w.Object.Group(), w.Object.Kind, w.Object.Namespace, w.Object.Name}
	}
	for _, w := range l.set.Workloads {
		w.Repeated, w.Copy, w.Superseded = false, false, false
		id := identity(w)
		switch {
		case w.Object.Root.At("metadata", "name").IsNull():
			like := likeness{id, digester.Sum(w.Object.Root)}
			alike := unnamed[like]
			i := slices.IndexFunc(alike, func(o *source.Object) bool {
				return o.File != w.Object.File && source.Equal(o.Root, w.Object.Root)
			})
			w.Copy = i >= 0
			if len(alike) == 0 || i == 0 && len(alike) == 1 { // one object of each of two files is enough to keep
				unnamed[like] = append(alike, w.Object)
			}
		case first[id] == nil:
			first[id] = w
		default:
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
