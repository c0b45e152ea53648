package workload

import (
	"reflect"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// Set is everything that the objects of one cluster say about pods.
type Set struct {
	Workloads []*Workload
	// Namespaces are the labels of the namespaces that are declared.
	Namespaces map[string]map[string]string
	// Skipped are objects of a judged kind that are not whole: patches.
	Skipped []source.Skipped
	// NotJudged are objects of kinds without a row that hold a pod template or
	// placement fields, Unresolved are Rollouts whose workloadRef leads to no
	// template that is declared here, or to several that differ.
	NotJudged, Unresolved []*source.Object
	// Fragments are those placement fields, one for each map that has some, that are
	// the core API's as they stand.
	Fragments []*Workload
	// Foreign are objects with placement fields of another shape, about which
	// nothing is known.
	Foreign []*source.Object
	// Budgets are the PodDisruptionBudgets, in the order of the input.
	Budgets []*Budget
	// Refusals are the objects without pods that the API server refuses: budgets
	// and autoscalers.
	Refusals []Refusal
	// Operated are the namespaces where pods may appear that no workload of the
	// set stands for; see Operates.
	Operated map[string]bool
	// Customs are the custom resources out of which an operator may make pods.
	Customs []*source.Object
	// Claims are the ResourceClaims and ResourceClaimTemplates.
	Claims []*source.Object
	// OpenShift is set if some object is of an API group of OpenShift.
	OpenShift bool
	// Repeated groups objects that are declared differently in several places.
	Repeated [][]*source.Object
	// Others counts objects that create no pods, Nodes the v1 Nodes, and Owned
	// the running objects that belong to a declared workload, and Finished the
	// pods that have ended.
	Others, Nodes, Owned, Finished int
	// Topologies are the NodeTopology documents among the objects.
	Topologies []*source.Object
	// Elsewhere are workloads that may be there or not, as only files that are not
	// deployed together with the others for certain declare them.
	Elsewhere []*Workload
	// Validated are workloads that no deployment creates (source.HookNever). Nothing is asked
	// of them but what the API server says of their fields, and no selector finds their pods.
	Validated []*Workload
	// Placeholders are texts in what is judged of an object that stand for values which
	// nobody knows yet, but for variables of tools.
	Placeholders map[*source.Object][]string
	// BudgetsElsewhere are budgets that may be there or not, for the same reason.
	BudgetsElsewhere []*Budget
	// Alternatives are the objects of other alternatives, which are never deployed together
	// with these.
	Alternatives map[*source.Object]bool
}

// Reader reads workloads, each object once however many sets it is in.
type Reader struct {
	table   Table
	decoder *source.Decoder
	// fragmentDecoder reads placement fields out of objects that are not judged.
	fragmentDecoder *source.Decoder
	envelopes       map[string]map[string]reflect.Type
	known           map[*source.Object]*Workload
	budgets         map[*source.Object]*Budget // those elsewhere
	lists           sharedLists
	// Values tells what an object gives a chart that is not at hand, nil for nothing. Without
	// it no values of charts are known.
	Values func(o *source.Object) *Given
	// once is set if there is but one set, so that trees are let go as they are read.
	once bool
}

// NewReader makes a reader for the kinds of a table.
func NewReader(table Table) *Reader {
	return &Reader{table: table, decoder: newDecoder(), fragmentDecoder: newFragmentDecoder(), envelopes: envelopes(), known: map[*source.Object]*Workload{}, budgets: map[*source.Object]*Budget{}, lists: sharedLists{}}
}

// Once says that the reader reads one set and no more. It then lets go of the trees of
// objects that it has read (source.Object.Fold).
func (r *Reader) Once() { r.once = true }

type loader struct {
	*Reader
	set    *Set
	scales []*source.Object
	// admitting are the objects of the kinds in admits.
	admitting []*source.Object
	// budgets are where the disruption budgets are in the set, by namespace and name.
	budgets map[[2]string]int
	// referring are the Rollouts whose template stands in another object, and
	// templates the PodTemplates that one of them may name.
	referring []*Workload
	templates []*source.Object
}

// Load reads the objects of one cluster.
func Load(table Table, objects []*source.Object) *Set { return NewReader(table).Load(objects, nil) }

// Load reads objects that are deployed together, and those of which nobody knows
// whether they are there.
func (r *Reader) Load(objects, elsewhere []*source.Object) *Set {
	l := &loader{Reader: r, budgets: map[[2]string]int{}, set: &Set{Namespaces: map[string]map[string]string{}, Operated: map[string]bool{}, Placeholders: map[*source.Object][]string{}}}
	for _, o := range objects {
		l.object(o)
	}
	l.set.Budgets = slices.DeleteFunc(l.set.Budgets, func(b *Budget) bool { return b == nil })
	idle := l.references()
	l.set.Workloads = l.withoutOwned(l.set.Workloads)
	l.without(idle)
	l.repeated()
	l.scale()
	l.admission()
	for _, o := range elsewhere {
		l.elsewhere(o)
	}
	return l.set
}

// core reports whether an object is of Kubernetes' core group.
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
		l.namespace(o)
	case scales(o):
		l.validateOther(o)
		l.scales = append(l.scales, o)
		l.set.Others++
	case o.Kind == "PodDisruptionBudget" && o.Group() == "policy":
		if o.Hook != "" {
			l.budgetElsewhere(o)
			break
		}
		l.budget(o)
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

// other is an object of a kind that is not judged.
func (l *loader) other(o *source.Object) {
	l.validateKind(o)
	template := o.Kind == "PodTemplate" && core(o)
	if template {
		l.templates = append(l.templates, o)
	} else if l.table.Relevant(o.APIVersion, o.Kind) {
		l.operated(o)
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

// unversioned is an object without apiVersion: a slip if it is otherwise a
// whole workload, else no manifest at all.
func (l *loader) unversioned(o *source.Object) {
	for _, row := range kinds() {
		if kind := l.table[[2]string{row.Group, row.Kind}]; row.Kind == o.Kind && whole(o, kind) {
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

func (l *loader) namespace(o *source.Object) {
	l.set.Others++
	labels := map[string]string{}
	for k, v := range o.Root.At("metadata", "labels").Fields() {
		labels[k.Value] = v.Text()
	}
	labels["kubernetes.io/metadata.name"] = o.Name
	l.set.Namespaces[o.Name] = labels
}

// holdsTemplate looks for a pod template (R-W1): a spec with containers below
// a field template, podTemplate, workerTemplate or the like, or pod.
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
		l.refers(o, kind)
		return
	}
	if !whole(o, kind) {
		l.patch(o)
		l.operated(o) // what it patches may be known under this name alone
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

// patch is an object that names only the fields that it changes in another.
func (l *loader) patch(o *source.Object) {
	l.set.Skipped = append(l.set.Skipped, source.Skipped{Reason: source.SkipPatch, File: o.File.Name, Line: int(o.Root.Line)})
}
