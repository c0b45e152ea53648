package derive

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// describe fills in the lists that describe the input, as far as some rule reads them.
func (b *builder) describe() {
	b.Version = facts.Version
	b.Built.Facts.Cluster = facts.Cluster{Name: b.Origin.Cluster, Context: b.Origin.Context, Declared: b.topo}
	if b.topo {
		b.Built.Facts.Cluster.Nodes = len(b.m.Topology.Nodes)
	}
	if b.whole("objects") {
		b.describeObjects()
	}
	if b.topo {
		b.describeNodes()
	}
	b.Built.Facts.Cluster.Workloads = len(b.Workloads)
	b.describeWorkloads()
	if b.topo && b.whole("capacity") {
		c := &capacities{builder: b}
		c.askAll(askCapacity, c.describe)
	}
}

// askDescribe is the question that is given up if describing a workload takes too long.
const askDescribe = "facts for your own rules"

// describeWorkloads fills in the rows of the workloads that have one.
func (b *builder) describeWorkloads() {
	if !b.whole("workloads") {
		return
	}
	answers := b.answers()
	d := &describing{builder: b, pools: b.namesOfPools(), passed: map[*model.Eligibility]*passing{}}
	for _, p := range parts {
		if slices.ContainsFunc(strings.Fields(p.fields), func(field string) bool { return b.whole("workloads." + field) }) {
			d.parts = append(d.parts, p)
		}
	}
	each := b.m.SharedBudget(model.ObjectsOf(b.m.Workloads))
	for _, w := range b.m.Workloads {
		i, known := b.rows[w]
		if !known {
			continue
		}
		row := b.Built.Facts.Workloads[i]
		setUnknown(&row)
		b.Built.Facts.Workloads[i] = row
		if each.Ask(w.Object, askDescribe, func() {
			for _, p := range d.parts {
				p.fill(d, w, &row)
			}
		}) {
			row.Known = true
			b.Built.Facts.Workloads[i] = row
		}
		b.Built.Facts.Workloads[i].Answers = answers[w]
	}
}

// setUnknown marks everything about a workload except its name as unknown.
func setUnknown(row *facts.Workload) {
	row.UsableMax, row.ZonesMax, row.Pools = facts.NoBound, facts.NoBound, []string{}
	row.OnOneNodeMax, row.InOneZoneMax = row.PodsMin, row.PodsMin
	row.PodLevelRequests, row.PodLevelLimits = []facts.ResourceAmount{}, []facts.ResourceAmount{}
	row.PodRequests, row.Containers, row.Tolerations = []facts.ResourceAmount{}, []facts.Container{}, []facts.Toleration{}
	row.Claims = []facts.DeviceClaim{}
	row.NodeRules, row.Terms = []facts.NodeRule{}, []facts.Term{}
	row.Budgets, row.Scalers = []facts.PodBudget{}, []facts.Scaler{}
}

// describing fills in rows of workloads.
type describing struct {
	*builder
	parts  []part
	passed map[*model.Eligibility]*passing
	// matched counts the entries of all lists of workloads that terms select.
	matched int
	// pools holds the pool names of the nodes and of the growth entries, by index.
	pools poolNames
	// declaredClaims caches the claims for devices by kind, namespace and name.
	declaredClaims map[[3]string]*source.Object
}

// part is a group of fields of a workload's row.
type part struct {
	// fields lists the names of the fields. The part is filled in if some rule reads one of them.
	fields string
	fill   func(d *describing, w *workload.Workload, row *facts.Workload)
}

var parts = []part{
	{"cluster render file", (*describing).origin},
	{"labels annotations labels_known pod_labels pod_annotations namespace_labels namespace_declared", (*describing).labels},
	{"per_node bare priority_class scheduler machine", (*describing).settings},
	{"service_account", func(_ *describing, w *workload.Workload, row *facts.Workload) {
		row.ServiceAccount = w.SpecNode.Get("serviceAccountName").Text()
	}},
	{"placement_known usable_min usable_max usable_poolless zones_min zones_max growable pools", (*describing).nodesOf},
	{"on_one_node_min on_one_node_max in_one_zone_min in_one_zone_max", (*describing).share},
	{"pod_requests", func(_ *describing, w *workload.Workload, row *facts.Workload) { // what the scheduler counts for one pod
		for _, r := range model.Requests(w) {
			row.PodRequests = append(row.PodRequests, amountOfResource(r.Name, r.Quantity))
		}
	}},
	{"pod_level_requests pod_level_limits resources_known defaulted", (*describing).podLevel},
	{"containers", (*describing).containers},
	{"claims claims_known", (*describing).claims},
	{"tolerations", (*describing).tolerations},
	{"node_rules", (*describing).nodeRules},
	{"terms terms_known", (*describing).terms},
	{"budgets scalers", (*describing).guards},
}

func (d *describing) origin(w *workload.Workload, row *facts.Workload) {
	row.Cluster, row.File = d.Origin.Cluster, w.Object.File.Name
	if d.Origin.Render != nil {
		row.Render = d.Origin.Render(w.Object)
	}
}

func (d *describing) labels(w *workload.Workload, row *facts.Workload) {
	meta := w.Object.Root.Get("metadata")
	row.Labels, row.Annotations = texts(meta.Get("labels")), texts(meta.Get("annotations"))
	row.LabelsKnown = isMap(meta.Get("labels")) && isMap(w.TemplateNode.At("metadata", "labels"))
	row.PodLabels, row.PodAnnotations = maps.Clone(w.Labels), texts(w.TemplateNode.At("metadata", "annotations"))
	labels, declared := d.m.Namespaces[w.Namespace()]
	row.NamespaceLabels, row.NamespaceDeclared = labels, declared
}

// isMap reports whether a field that must be a map is a map or absent.
func isMap(n *source.Node) bool { return n.IsNull() || n.Kind == source.Map }

// texts returns the pairs of a map whose values are strings.
func texts(n *source.Node) map[string]string {
	all := make(map[string]string, n.Len())
	for k, v := range n.Fields() {
		all[k.Value] = v.Value
	}
	return all
}

func (d *describing) settings(w *workload.Workload, row *facts.Workload) {
	row.PerNode, row.PriorityClass = w.Kind.PerNode(), w.Spec.PriorityClassName
	row.Bare = w.Bare() && w.Object.Root.At("metadata", "ownerReferences").IsNull()
	if row.Scheduler = w.Spec.SchedulerName; row.Scheduler == "" {
		row.Scheduler = corev1.DefaultSchedulerName
	}
	if row.Machine.Is = w.Kind.VM; row.Machine.Is {
		row.Machine.EvictionStrategy, _ = w.EvictionStrategy()
	}
}

// amounts converts a list of resources, sorted by name.
func amounts(list corev1.ResourceList) []facts.ResourceAmount {
	all := []facts.ResourceAmount{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		all = append(all, amountOfResource(name, list[name]))
	}
	return all
}

func amountOfResource(name corev1.ResourceName, q resource.Quantity) facts.ResourceAmount {
	return facts.ResourceAmount{Resource: string(name), Quantity: q.String(), Value: int(min(model.Amount(name, q), facts.NoValue))}
}

// podLevel fills in the requests and limits of the pod itself, and whether all resources are known.
func (d *describing) podLevel(w *workload.Workload, row *facts.Workload) {
	row.ResourcesKnown, row.Defaulted = !openResources(w), w.Defaulted
	if r := w.Spec.Resources; r != nil {
		row.PodLevelRequests, row.PodLevelLimits = amounts(r.Requests), amounts(r.Limits)
	}
}

// openResources reports whether resources contain a variable or any other value that is not an
// amount.
func openResources(w *workload.Workload) bool {
	return slices.ContainsFunc(w.Open, func(path string) bool { return strings.Contains(path, "resources") })
}

// containers fills in the containers of the pods, each located at its item in the manifest.
// KubeVirt creates those of a machine, so a machine has none here.
func (d *describing) containers(w *workload.Workload, row *facts.Workload) {
	row.Containers = []facts.Container{}
	if w.Kind.VM {
		return
	}
	for _, list := range []struct {
		field string
		all   []workload.Container
	}{{"containers", w.Spec.Containers}, {"initContainers", w.Spec.InitContainers}} {
		nodes := w.SpecNode.Get(list.field).Items()
		for i := range list.all[:min(len(nodes), len(list.all))] {
			c := &list.all[i]
			image := imageOf(nodes[i].Get("image"))
			image.ID = d.within(w, nodes[i])
			image.Name, image.Init = c.Name, list.field == "initContainers"
			image.Requests, image.Limits = amounts(c.Resources.Requests), amounts(c.Resources.Limits)
			row.Containers = append(row.Containers, image)
		}
	}
}

// within returns the id of a row about something in a pod template.
func (b *builder) within(w *workload.Workload, n *source.Node) int {
	var at diag.Span
	if n != nil {
		at = w.File().ItemSpan(n)
	}
	return b.subject(about(w, at).as(w.File(), n))
}

// imageOf splits an image reference as container runtimes do (distribution/reference,
// normalize.go): the first part is a registry if it has a dot or a colon, or is localhost.
func imageOf(n *source.Node) facts.Container {
	text := n.Text()
	c := facts.Container{Image: text}
	if text == "" || n.Placeholder() {
		return c
	}
	rest, digest, _ := strings.Cut(text, "@")
	if at := strings.LastIndexByte(rest, ':'); at > strings.LastIndexByte(rest, '/') {
		rest, c.Tag = rest[:at], rest[at+1:]
	}
	first, after, found := strings.Cut(rest, "/")
	if found && (strings.ContainsAny(first, ".:") || first == "localhost") {
		c.Registry, c.Repository = first, after
	} else {
		c.Registry, c.Repository = "docker.io", rest
		if !found {
			c.Repository = "library/" + rest
		}
	}
	c.Digest = digest
	return c
}

// describeObjects lists every document.
func (b *builder) describeObjects() {
	for _, o := range b.Origin.Objects {
		meta := o.Root.Get("metadata")
		row := facts.Object{
			APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, File: o.File.Name,
			Labels: texts(meta.Get("labels")), Annotations: texts(meta.Get("annotations")),
		}
		if b.whole("objects.manifest") {
			b.m.Run().Spend(o.Size() / 4)
			row.Manifest = value(o.Root)
		}
		row.ID = b.subject(Subject{Location: o.NameSpan()}.in(o.ID()).withAccount(nil, noteOnly(message.NoPods)).as(o.File, o.Root))
		b.Built.Facts.Objects = append(b.Built.Facts.Objects, row)
	}
}

// value converts a node to the types of encoding/json, with exact numbers.
func value(n *source.Node) any {
	switch {
	case n.IsNull():
		return nil
	case n.Kind == source.Map:
		all := make(map[string]any, n.Len())
		for k, v := range n.Fields() {
			all[k.Value] = value(v)
		}
		return all
	case n.Kind == source.Sequence:
		all := make([]any, 0, n.Len())
		for _, item := range n.Items() {
			all = append(all, value(item))
		}
		return all
	}
	return n.Plain()
}
