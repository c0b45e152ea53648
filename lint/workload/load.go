package workload

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/kinds"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
	"github.com/schedlint/schedlint/lint/versions"
)

// Set holds everything that the objects of one cluster declare about pods.
type Set struct {
	Workloads []*Workload
	// Namespaces maps declared namespaces to their labels.
	Namespaces map[string]map[string]string
	// Skipped lists the objects that are patches rather than complete manifests.
	Skipped []source.Skipped
	// NotJudged lists objects with a pod template or placement fields whose kind is not in the
	// table of kinds. Unresolved lists Rollouts whose workloadRef names an object that is not
	// declared or has conflicting declarations.
	NotJudged, Unresolved []*source.Object
	// Fragments lists the placement fields of objects whose kind is not in the table. The fields
	// follow the core API schema.
	Fragments []*Workload
	// Foreign lists objects with placement fields that do not follow the core API schema.
	Foreign []*source.Object
	// Budgets lists the PodDisruptionBudgets in input order.
	Budgets []*Budget
	// Refusals lists the budgets, autoscalers and Namespaces that the API server rejects.
	Refusals []Refusal
	// Operated holds the namespaces that may contain pods that no workload in the set creates. See
	// Operates.
	Operated map[string]bool
	// Customs lists the custom resources from which an operator may create pods.
	Customs []*source.Object
	// Claims lists the ResourceClaims and ResourceClaimTemplates.
	Claims []*source.Object
	// Services lists the Services that select pods.
	Services []Service
	// governing is for QuotaUses and LimitRanges.
	governing governing
	// Kubernetes is the version of the cluster, or zero if it is not known.
	Kubernetes versions.Version
	// OpenShift is set if any object belongs to an OpenShift API group.
	OpenShift bool
	// Repeated lists groups of different declarations of the same workload, identified by API
	// group, kind, namespace and name.
	Repeated [][]*source.Object
	// Others counts objects that create no pods, and Nodes counts v1 Nodes. Owned counts objects
	// that a declared workload created. Finished counts terminated pods.
	Others, Nodes, Owned, Finished int
	// Topologies lists the NodeTopology documents among the objects.
	Topologies []*source.Object
	// Elsewhere lists workloads that might belong to another deployment.
	Elsewhere []*Workload
	// Validated lists workloads that no deployment creates (source.HookNever). Their fields are
	// validated, but their pods match no selector.
	Validated []*Workload
	// Placeholders maps each object to the placeholders in the fields that checks read. It does not
	// include variables that a tool replaces.
	Placeholders map[*source.Object][]string
	// BudgetsElsewhere lists budgets that might belong to another deployment.
	BudgetsElsewhere []*Budget
	// Alternatives holds the objects that may be deployed in place of this set, but never together
	// with it.
	Alternatives map[*source.Object]bool

	// storing lists the volume claims, volumes and storage classes.
	storing []*source.Object
}

// Service is a Service that selects the pods with the given labels.
type Service struct {
	Namespace string
	Selector  map[string]string
}

// Reader reads the workloads in several sets. It reads each object only once, even if several sets
// contain it.
type Reader struct {
	table   Table
	decoder *source.Decoder
	// fragmentDecoder decodes the placement fields of objects whose kind is not in the table.
	// Inside the placement fields, it reports every field that the core API does not have. It
	// ignores all other fields of the object.
	fragmentDecoder *source.Decoder
	envelopes       map[string]map[string][]string
	known           map[*source.Object]*Workload
	budgets         map[*source.Object]*Budget // the budgets that might not be deployed
	lists           sharedLists
	// operators says what operators make of custom resources. made holds the workloads that were made
	// of an object.
	operators kinds.Table
	made      map[*source.Object][]*Workload
	// Values returns the values that an object passes to a chart outside the input, or nil if there
	// are none. If the field is nil, no chart values are known.
	Values func(o *source.Object) *Given
	// Storage says where the volumes of StorageClasses can be used. It applies whatever a declared
	// class says.
	Storage storage.Declared
	// AllPriorities is set if the cluster has no PriorityClasses other than those in the input and
	// those that are built in.
	AllPriorities bool
	// PodNodeSelector is set if the admission plugin of this name is on.
	PodNodeSelector bool
	// Kinds lists rows about custom resources, which replace the rows that schedlint has.
	Kinds []kinds.Row
	// Kubernetes is the version of the cluster, or zero if it is not known.
	Kubernetes versions.Version
	// Foreign reports whether an object that acts on others acts only on those that it reaches. It is
	// nil if all objects act on what they mean. See Acts.
	Foreign func(o *source.Object) bool
	// Apart reports whether two objects may belong to different clusters. It is nil if all objects
	// share a cluster.
	Apart func(a, b *source.Object) bool
	// once is set if the reader reads only one set. It can then discard YAML trees after reading
	// them.
	once bool
}

// NewReader returns a reader for the kinds in a table.
func NewReader(table Table) *Reader {
	return &Reader{
		table: table, decoder: newDecoder(), envelopes: envelopes(),
		fragmentDecoder: &source.Decoder{Open: map[reflect.Type]bool{reflect.TypeFor[fragment](): true}},
		known:           map[*source.Object]*Workload{}, budgets: map[*source.Object]*Budget{}, lists: sharedLists{},
		made: map[*source.Object][]*Workload{},
	}
}

// Once declares that the reader reads only one set. Such a reader discards the YAML tree of each
// object after reading it (source.Object.Fold).
func (r *Reader) Once() { r.once = true }

type loader struct {
	*Reader
	set    *Set
	scales []*source.Object
	// admitting lists the objects of the kinds in admits.
	admitting []*source.Object
	// spaces lists the Namespaces by name.
	spaces bySpace[*source.Object]
	// budgets maps the namespace and name of each disruption budget to its index in the set.
	budgets map[[2]string]int
	// referring lists the Rollouts that take their pod template from another object. templates
	// lists the PodTemplates that they may refer to.
	referring []*Workload
	templates []*source.Object
}

// Load reads the objects of one cluster with a new Reader and binds their claims.
func Load(table Table, objects []*source.Object) *Set {
	r := NewReader(table)
	set := r.Load(objects, nil)
	r.Bind(set, nil, storage.Declared{})
	return set
}

// Load reads the objects of one set. The argument elsewhere lists further objects, which might not
// be deployed. It does not bind claims (see Bind).
func (r *Reader) Load(objects, elsewhere []*source.Object) *Set {
	l := &loader{Reader: r, budgets: map[[2]string]int{}, set: &Set{Kubernetes: r.Kubernetes, Namespaces: map[string]map[string]string{}, Operated: map[string]bool{}, Placeholders: map[*source.Object][]string{}}}
	for _, o := range objects {
		l.object(o)
	}
	l.set.Budgets = slices.DeleteFunc(l.set.Budgets, func(b *Budget) bool { return b == nil })
	idle := l.resolveReferences()
	l.set.Workloads = l.withoutOwned(l.set.Workloads)
	// Idle workloads have no pods of their own.
	gone := lists.SetOf(idle, func(w *Workload) *source.Object { return w.Object })
	l.set.Others += len(gone)
	l.set.Workloads = slices.DeleteFunc(l.set.Workloads, func(w *Workload) bool { return gone[w.Object] })
	l.set.NotJudged = slices.DeleteFunc(l.set.NotJudged, func(o *source.Object) bool { return gone[o] })
	l.repeated()
	l.scale()
	l.admission()
	for _, o := range elsewhere {
		// Only the labels of an object that might not be deployed are used, because a selector may match them.
		switch kind := l.table.Find(o.APIVersion, o.Kind); {
		case !l.table.Matters(o):
		case o.Kind == "PodDisruptionBudget" && o.Group() == "policy":
			l.budgetElsewhere(o)
		case kind != nil && isManifest(o, kind):
			w := l.read(o, kind)
			w.Elsewhere, w.Count.Known = true, false
			l.set.Elsewhere = append(l.set.Elsewhere, w)
		default:
			l.recordOperated(o)
		}
	}
	return l.set
}

// joined reports whether a LimitRange or ResourceQuota certainly applies to a workload's pods.
func (l *loader) joined(o *source.Object, w *Workload) bool {
	return o.Namespace == w.Object.Namespace && !source.Placeholder(o.Namespace) && (l.Apart == nil || !l.Apart(o, w.Object))
}

// Acts reports whether an object decides the number of pods, the template or the admission of others.
func Acts(o *source.Object) bool {
	return scales(o) || admitsPods(o.APIVersion, o.Kind) && o.Kind != "PriorityClass" || o.Kind == "Namespace" && core(o) || !o.Root.At("spec", "workloadRef").IsNull()
}

// acts reports whether an object acts on another one that it means.
func (l *loader) acts(o, on *source.Object) bool {
	return l.Foreign == nil || !l.Foreign(o) || o.Reaches(on)
}

// core reports whether an object belongs to the core API group.
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
		l.spaces.add(o, o.Name, o)
		l.validateOther(o)
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
	case Stores(o):
		l.set.storing = append(l.set.storing, o)
		l.set.Others++
	case claims[o.Kind] && o.Group() == claimGroup:
		l.set.Claims = append(l.set.Claims, o)
		l.set.Others++
	default:
		l.other(o)
	}
}

// other reads an object whose kind needs no special treatment.
func (l *loader) other(o *source.Object) {
	l.validateKind(o)
	template := o.Kind == "PodTemplate" && core(o)
	if template {
		l.templates = append(l.templates, o)
	} else if l.table.Relevant(o.APIVersion, o.Kind) {
		l.recordOperated(o)
	}
	if o.Kind == "Service" && core(o) {
		s := Service{Namespace: o.Namespace, Selector: map[string]string{}}
		for k, v := range o.Root.At("spec", "selector").Fields() {
			s.Selector[k.Value] = v.Text()
		}
		if len(s.Selector) > 0 { // without a selector, a Service selects no pods
			l.set.Services = append(l.set.Services, s)
		}
	}
	before := len(l.set.Fragments)
	placed := l.fragments(o)
	if l.operated(o, before) {
		return
	}
	if template || placed || holdsTemplate(o.Root, nil, 0) {
		l.set.NotJudged = append(l.set.NotJudged, o)
		return
	}
	l.set.Others++
	if l.once {
		o.Fold(&source.Kept{})
	}
}

// unversioned reads an object without an apiVersion. If it is a complete workload, the apiVersion
// was forgotten. Otherwise, it is not a manifest.
func (l *loader) unversioned(o *source.Object) {
	for _, row := range ownKinds() {
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

// holdsTemplate reports whether an object contains a pod template (R-W1). A pod template is a spec
// with containers below a field such as template, podTemplate, workerTemplate or pod.
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
	return slices.ContainsFunc(n.Items(), func(item *source.Node) bool { return holdsTemplate(item, path, depth+1) })
}

// workload reads one object whose kind is in the table.
func (l *loader) workload(o *source.Object, kind *Kind) {
	if kind.Kind == rolloutKind && !o.Root.At("spec", "workloadRef").IsNull() {
		// The Rollout refers to another object for the template (argo-rollouts: utils/unstructured
		// and rollout/templateref). That object may not have been read yet.
		w := &Workload{Object: o, Kind: kind, Count: kind.Count(o), Kubernetes: l.Kubernetes}
		l.envelope(w)
		(&checker{w: w}).object()
		l.referring = append(l.referring, w)
		l.set.Workloads = append(l.set.Workloads, w)
		return
	}
	if !isManifest(o, kind) {
		l.patch(o)
		l.recordOperated(o) // the patched object may not be declared in the input
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

// patch records an object that only changes some fields of another object.
func (l *loader) patch(o *source.Object) {
	l.set.Skipped = append(l.set.Skipped, source.Skipped{Reason: source.SkipPatch, File: o.File.Name, Line: int(o.Root.Line)})
}

// resolveReferences copies pod templates into the Rollouts that refer to them. A Rollout is
// unresolved if the referenced object is not declared, or if its declarations differ. idle lists
// the referenced workloads that have no pods, because a Rollout runs their pods.
func (l *loader) resolveReferences() (idle []*Workload) {
	if len(l.referring) == 0 {
		return nil
	}
	lost := map[*Workload]bool{}
	// In each group, workloads come first.
	lenders := map[declared][]lender{}
	add := func(o *source.Object, w *Workload) {
		if o.APIVersion != "" {
			id := declared{o.Namespace, o.Group(), o.Kind, o.Name}
			lenders[id] = append(lenders[id], lender{w, o})
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
	resolved := map[declared][]*Workload{}
	for _, w := range l.referring {
		ref := w.Object.Root.At("spec", "workloadRef")
		id := declared{w.Object.Namespace, groupOf(ref.Get("apiVersion").Text()), ref.Get("kind").Text(), ref.Get("name").Text()}
		named := lazy.Cached(resolved, id, func() []*Workload { return l.named(lenders[id]) })
		if len(named) > 0 && !l.acts(w.Object, named[0].Object) {
			lost[w] = true
			continue
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
		w.Problems, w.Gated = append(w.Problems, from.Problems...), append(w.Gated, from.Gated...)
		// Usually, only the Rollout runs pods, and the workload that it names has none. The
		// workload has pods only if its manifest sets a replica count above 0 and the Rollout does
		// not scale it down.
		down := ref.Get("scaleDown").Text()
		if down == "onsuccess" || down == "progressively" || from.Count.Key == nil || from.Count.Known && from.Count.N == 0 {
			idle = append(idle, named...)
			w.Unknown = append(w.Unknown, from.Unknown...) // the named workload is removed and cannot report them
		}
	}
	l.set.Workloads = slices.DeleteFunc(l.set.Workloads, func(w *Workload) bool { return lost[w] })
	return idle
}

type declared struct{ namespace, group, kind, name string }

// lender is an object whose pod template a Rollout may use. It is a PodTemplate or a workload that
// has been read.
type lender struct {
	workload *Workload
	object   *source.Object
}

// named converts the declarations of a referenced object to workloads, or returns nil if the
// declarations differ. A PodTemplate becomes a workload without pods.
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

// withoutOwned drops objects created by a declared workload, so that pods are not counted twice. If
// the direct owner is not declared, withoutOwned derives the name of the owner's own owner. The
// name of a ReplicaSet is the name of its Deployment or Rollout, followed by a hash. A
// VirtualMachineInstance has the same name as its VirtualMachine.
func (l *loader) withoutOwned(all []*Workload) []*Workload {
	declared := lists.SetOf(all, func(w *Workload) [3]string { return [3]string{w.Object.Namespace, w.Object.Kind, w.Object.Name} })
	return slices.DeleteFunc(all, func(w *Workload) bool {
		for _, ref := range w.Object.Root.At("metadata", "ownerReferences").Items() {
			kind, name := ref.Get("kind").Text(), ref.Get("name").Text()
			above := [3]string{} // the undeclared owner's owner
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

// likeness is a key for finding equal unnamed objects. Objects with the same likeness are probably
// equal. sum is a digest of the object.
type likeness struct {
	id  [4]string
	sum uint64
}

// repeated marks workloads that are declared more than once. It distinguishes equal from different
// declarations. Declarations of the same object have the same group, kind, namespace and name. In
// one file, several unnamed objects may be intentional. Equal unnamed objects in different files
// count as the same object.
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
			if len(alike) == 0 || i == 0 && len(alike) == 1 { // one object from each of two files is enough for the comparison
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
