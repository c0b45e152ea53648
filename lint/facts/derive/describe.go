package derive

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// describe builds the lists that describe the input, if some rule reads them.
func (b *builder) describe() {
	b.Version = facts.Version
	b.Built.Facts.Cluster = facts.Cluster{Name: b.Origin.Cluster, Context: b.Origin.Context, Declared: b.topo}
	if b.Set != nil {
		b.Built.Facts.Cluster.Kubernetes = b.Set.Kubernetes.String()
	}
	if b.topo {
		b.Built.Facts.Cluster.Nodes = len(b.m.Topology.Nodes)
	}
	if b.whole("objects") {
		for _, o := range b.Origin.Objects {
			meta := o.Root.Get("metadata")
			row := facts.Object{
				APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, File: o.File.Name,
				Labels: texts(meta.Get("labels")), Annotations: texts(meta.Get("annotations")),
			}
			if b.whole("objects.manifest") {
				b.m.Run().Spend(o.Size() / 4)
				row.Manifest = o.Root.Decoded((*source.Node).Plain) // keeps numbers exact
			}
			row.ID = b.named(o)
			b.Built.Facts.Objects = append(b.Built.Facts.Objects, row)
		}
	}
	b.describeGoverning()
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

// askDescribe names the question that stays unanswered when describing a workload takes too long.
const askDescribe = "facts for your own rules"

// describeWorkloads adds descriptions to the existing rows of workloads.
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
		if w.Operator == "" && each.Ask(w.Object, askDescribe, func() { // an operator may add to all parts
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
	setPlacementUnknown(row)
	row.PriorityClassDeclared, row.GraceSecondsMax = diag.Unknown, facts.NoBound
	row.OnOneNodeMax, row.InOneZoneMax = row.PodsMin, row.PodsMin
	row.PodLevelRequests, row.PodLevelLimits = []facts.ResourceAmount{}, []facts.ResourceAmount{}
	row.PodRequests, row.Containers, row.Tolerations = []facts.ResourceAmount{}, []facts.Container{}, []facts.Toleration{}
	row.Claims, row.VolumeClaims = []facts.DeviceClaim{}, []facts.VolumeClaim{}
	row.NodeRules, row.Terms = []facts.NodeRule{}, []facts.Term{}
	row.Budgets, row.Scalers = []facts.PodBudget{}, []facts.Scaler{}
}

type describing struct {
	*builder
	parts  []part
	passed map[*model.Eligibility]*passing
	// matched is the total length so far of the lists of workloads that terms select.
	matched int
	// pools holds the name of the pool of each node, including nodes that pools can add.
	pools poolNames
	// declaredClaims caches device claims by kind, namespace and name.
	declaredClaims map[[3]string]*source.Object
}

// part is a group of row fields that are set together.
type part struct {
	// fields lists the field names. The part is skipped if no rule reads any of them.
	fields string
	fill   func(d *describing, w *workload.Workload, row *facts.Workload)
}

var parts = []part{
	{"cluster render file", (*describing).origin},
	{"labels annotations labels_known pod_labels pod_annotations namespace_labels namespace_declared", (*describing).labels},
	{"pods_min pods_max on_one_node_min on_one_node_max in_one_zone_max", (*describing).daemons},
	{"per_node bare priority_class priority_class_declared node_name scheduler machine", (*describing).settings},
	{"host_network host_pid host_ipc host_known grace_seconds_min grace_seconds_max", (*describing).host},
	{"service_account", func(_ *describing, w *workload.Workload, row *facts.Workload) {
		row.ServiceAccount = w.SpecNode.Get("serviceAccountName").Text()
	}},
	{"placement_known usable_min usable_max usable_poolless zones_min zones_max growable pools tainted_pools zones zones_possible zones_known " +
		"regions regions_possible regions_known architectures architectures_possible architectures_known", (*describing).nodesOf},
	{"on_one_node_min on_one_node_max in_one_zone_min in_one_zone_max", (*describing).share},
	{"pod_requests", func(_ *describing, w *workload.Workload, row *facts.Workload) { // the requests that the scheduler counts for one pod
		for _, r := range model.Requests(w) {
			row.PodRequests = append(row.PodRequests, amountOfResource(r.Name, r.Quantity))
		}
	}},
	{"pod_level_requests pod_level_limits resources_known defaulted", (*describing).podLevel},
	{"containers", (*describing).containers},
	{"claims claims_known", (*describing).claims},
	{"volume_claims", (*describing).volumeClaims},
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

// isMap reports whether n is a map or absent.
func isMap(n *source.Node) bool { return n.IsNull() || n.Kind == source.Map }

// texts returns the map entries whose values are strings.
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
	row.PriorityClassDeclared = w.Priority.Declared
	if !w.Running {
		row.NodeName = w.Spec.NodeName
	}
	if row.Scheduler = w.Spec.SchedulerName; row.Scheduler == "" {
		row.Scheduler = corev1.DefaultSchedulerName
	}
	if row.Machine.Is = w.Kind.VM; row.Machine.Is {
		row.Machine.EvictionStrategy, _ = w.EvictionStrategy()
	}
}

// host sets what the pods share with their node, and the time that they have to stop.
func (d *describing) host(w *workload.Workload, row *facts.Workload) {
	row.HostKnown = w.SpecNode != nil && w.SpecNode.Kind == source.Map && !w.SpecNode.Placeholder()
	for field, is := range map[string]*bool{"hostNetwork": &row.HostNetwork, "hostPID": &row.HostPID, "hostIPC": &row.HostIPC} {
		n, known := w.SpecNode.Get(field), false
		if *is, known = n.Bool(); !known && !n.IsNull() {
			row.HostKnown = false
		}
	}
	grace := w.SpecNode.Get("terminationGracePeriodSeconds")
	seconds, written := grace.Int()
	switch {
	case w.Kind.VM || !row.HostKnown && w.SpecNode.Len() == 0:
		return
	case grace.IsNull():
		seconds = corev1.DefaultTerminationGracePeriodSeconds
	case !written || seconds < 0:
		return
	}
	row.GraceSecondsMin = int(min(seconds, facts.NoBound))
	row.GraceSecondsMax = row.GraceSecondsMin
}

// amounts converts a resource list to rows sorted by name.
func amounts(list corev1.ResourceList) []facts.ResourceAmount {
	all := []facts.ResourceAmount{}
	for _, name := range sorting.Keys(list) {
		all = append(all, amountOfResource(name, list[name]))
	}
	return all
}

func amountOfResource(name corev1.ResourceName, q resource.Quantity) facts.ResourceAmount {
	return facts.ResourceAmount{Resource: string(name), Quantity: q.String(), Value: int(min(model.Amount(name, q), facts.NoValue))}
}

// podLevel sets the pod-level requests and limits. It also records whether all resources are known.
func (d *describing) podLevel(w *workload.Workload, row *facts.Workload) {
	row.ResourcesKnown, row.Defaulted = !openResources(w), w.Defaulted
	if r := w.Spec.Resources; r != nil {
		row.PodLevelRequests, row.PodLevelLimits = amounts(r.Requests), amounts(r.Limits)
	}
}

// openResources reports whether any value in the resources is not an amount, such as a variable.
func openResources(w *workload.Workload) bool {
	return slices.ContainsFunc(w.Open, func(path string) bool { return strings.Contains(path, "resources") })
}

// containers adds a row for each container, located at the container's list item. A KubeVirt
// machine gets no rows, because KubeVirt creates its containers.
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
			if d.whole("workloads.containers.ports") || d.whole("workloads.containers.ports_known") {
				image.Ports, image.PortsKnown = d.ports(w, nodes[i].Get("ports"))
			}
			row.Containers = append(row.Containers, image)
		}
	}
}

// ports returns a row for each port of a container. With the network of the node, the host port is
// by default the container port (pkg/apis/core/v1/defaults.go).
func (d *describing) ports(w *workload.Workload, list *source.Node) (all []facts.Port, known bool) {
	network := w.SpecNode.Get("hostNetwork")
	shared, sure := network.Bool()
	sure = sure || network.IsNull()
	all = []facts.Port{}
	for _, item := range list.Items() {
		host := item.Get("hostPort")
		port, known := item.Get("containerPort").Int()
		onHost, written := host.Int()
		if onHost == 0 && shared {
			onHost = port
		}
		all = append(all, facts.Port{
			ID: d.within(w, item), Name: item.Get("name").Text(), ContainerPort: int(max(0, min(port, facts.NoBound))), HostPort: int(max(0, min(onHost, facts.NoBound))),
			Protocol: cmp.Or(item.Get("protocol").Text(), string(corev1.ProtocolTCP)), HostIP: item.Get("hostIP").Text(),
			Known: known && (written || host.IsNull()) && (sure || onHost > 0),
		})
	}
	return all, list.IsNull() || list.Kind == source.Sequence
}

// within returns the id for a row about a YAML node in the pod template.
func (b *builder) within(w *workload.Workload, n *source.Node) int {
	var at diag.Span
	if n != nil {
		at = w.File().ItemSpan(n)
	}
	return b.subject(about(w, at).as(w.File(), n))
}

// imageOf splits an image reference as container runtimes do (distribution/reference,
// normalize.go). The first part is a registry if it is localhost or contains a dot or a colon.
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

// named registers the name of an object that creates no pods as a subject.
func (b *builder) named(o *source.Object) int {
	return b.subject(Subject{Location: o.NameSpan()}.in(o.ID()).withAccount(nil, noteOnly(message.NoPods)).as(o.File, o.Root))
}

// describeGoverning adds the ResourceQuotas, LimitRanges and RuntimeClasses.
func (b *builder) describeGoverning() {
	f := b.Built.Facts
	if b.Set != nil && b.whole("quotas") {
		for u := range b.Set.QuotaUses() {
			of := func(q resource.Quantity) int { return amountOfResource(u.Resource, q).Value }
			asked := span{of(u.Least), of(u.Most)}
			if u.Open {
				asked.max = facts.NoValue
			}
			row := facts.Quota{ID: b.named(u.Quota), Namespace: u.Quota.Namespace, Name: u.Quota.Name, Resource: string(u.Name), Hard: of(u.Hard), Scoped: u.Scoped,
				RequestedMin: asked.min, RequestedMax: asked.max}
			row.PercentMin, row.PercentMax = percent(asked, row.Hard, true)
			f.Quotas = append(f.Quotas, row)
		}
	}
	if b.Set != nil && b.whole("limit_ranges") {
		for o, item := range b.Set.LimitRanges() {
			f.LimitRanges = append(f.LimitRanges, facts.LimitRange{ID: b.named(o), Namespace: o.Namespace, Name: o.Name, Type: string(item.Type),
				Min: amounts(item.Min), Max: amounts(item.Max), Default: amounts(item.Default), DefaultRequest: amounts(item.DefaultRequest)})
		}
	}
	for _, o := range b.Origin.Objects {
		if o.Kind != "RuntimeClass" || o.Group() != "node.k8s.io" || !b.whole("runtime_classes") {
			continue
		}
		overhead := corev1.ResourceList{}
		for k, v := range o.Root.At("overhead", "podFixed").Fields() {
			if q, err := resource.ParseQuantity(v.Text()); err == nil {
				overhead[corev1.ResourceName(k.Value)] = q
			}
		}
		f.RuntimeClasses = append(f.RuntimeClasses, facts.RuntimeClass{ID: b.named(o), Name: o.Name, Handler: o.Root.Get("handler").Text(), Overhead: amounts(overhead)})
	}
}

// answers returns the answers that rules read about each workload.
func (b *builder) answers() map[*workload.Workload]facts.Answers {
	if !b.whole("workloads.answers") {
		return nil
	}
	all := map[*workload.Workload]facts.Answers{}
	for w := range b.rows {
		all[w] = b.unanswered(w)
	}
	if !b.topo || b.j == nil || !b.prepared {
		return all
	}
	// Ask the same questions as the place command, with separate budgets.
	as := decision{newBuilder(Input{Model: b.m, Set: b.Set, Survive: b.Input.Survive, Asks: b.Asks}), newSurvivals()}
	as.j, as.prepared, as.rows, as.Built.Facts.Workloads = b.j, true, b.rows, b.Built.Facts.Workloads
	reads := func(field string) bool { return b.whole("workloads.answers." + field) }
	fits := map[*workload.Workload]certificate.WorkloadDecision{}
	if reads("fits") || reads("fits_in_any_order") || reads("drains") || reads("survives") {
		d := search.Decide(b.m, search.Options{Each: true})
		if reads("fits") {
			search.DaemonSetsFirst(b.m, d, search.Options{Each: true})
			search.Preemption(b.m, d, search.Options{Each: true})
		}
		for i := range d.Workloads {
			fits[d.Workloads[i].Workload] = d.Workloads[i]
		}
	}
	for _, w := range b.m.Workloads {
		if row, known := all[w]; known && (b.m.Judged(w) || b.m.Chooses(w) || fits[w].Contested != nil) {
			row.FitsInAnyOrder = cmp.Or(fits[w].Verdict, row.Fits)
			row.Fits = cmp.Or(fits[w].DaemonSetsFirst, row.FitsInAnyOrder)
			b.answer(as, w, &row)
			all[w] = row
		}
	}
	if count := b.m.AtCount(); count != nil { // the same questions about the declared nodes
		in := b.Input
		in.Model = count
		at := newBuilder(in)
		at.rows, at.j = b.rows, disruption.New(count, b.Set, search.Options{})
		at.prepared = at.j.Prepare()
		for w, row := range at.answers() {
			all[w] = atCount(all[w], row)
		}
	}
	if b.m.Topology.Elastic() {
		for w, row := range all {
			all[w] = onceGrown(row, b.j.OnceGrown(w))
		}
	}
	return all
}

// onceGrown returns the answers in row, with always for those that hold once pools have grown.
func onceGrown(row facts.Answers, names []string) facts.Answers {
	adopt := func(name, as string, is ...*diag.Outcome) {
		for _, o := range is {
			if slices.Contains(names, name) && (*o == diag.Unknown || *o == diag.Sometimes) {
				*o, row.OnceGrown = diag.Always, append(row.OnceGrown, as)
			}
		}
	}
	adopt(disruption.Fits, "fits", &row.Fits)
	adopt(disruption.Fits, "fits_in_any_order", &row.FitsInAnyOrder)
	adopt(disruption.Rolls, "rolls", &row.Rolls)
	adopt(disruption.Drains, "drains", &row.Drains)
	for i := range row.Survives {
		s := &row.Survives[i]
		name, known := map[string]string{corev1.LabelHostname: disruption.SurvivesNode, corev1.LabelTopologyZone: disruption.SurvivesZone}[s.Key]
		if known {
			adopt(name, "survives", &s.Gone, &s.Unreachable)
		}
	}
	row.OnceGrown = slices.Compact(row.OnceGrown)
	return row
}

// atCount returns the answers in row. An unknown one becomes always if it is always for the declared
// number of nodes. Other answers for that number stay unknown, because a pool grows when pods are
// Pending.
func atCount(row, count facts.Answers) facts.Answers {
	adopt := func(name string, is *diag.Outcome, at diag.Outcome) {
		if *is == diag.Unknown && at == diag.Always {
			*is, row.AtCount = at, append(row.AtCount, name)
		}
	}
	adopt("fits", &row.Fits, count.Fits)
	adopt("fits_in_any_order", &row.FitsInAnyOrder, count.FitsInAnyOrder)
	adopt("rolls", &row.Rolls, count.Rolls)
	adopt("drains", &row.Drains, count.Drains)
	adopt("migrates", &row.Migrates, count.Migrates)
	adopt("autoscales", &row.Autoscales, count.Autoscales)
	for i := range row.Survives {
		adopt("survives", &row.Survives[i].Gone, count.Survives[i].Gone)
		adopt("survives", &row.Survives[i].Unreachable, count.Survives[i].Unreachable)
	}
	row.AtCount = slices.Compact(row.AtCount)
	return row
}

// unanswered returns a row with every applicable answer set to unknown.
func (b *builder) unanswered(w *workload.Workload) facts.Answers {
	row := facts.Answers{
		Fits: diag.Unknown, FitsInAnyOrder: diag.Unknown, AtCount: []string{}, OnceGrown: []string{}, Rolls: diag.Unknown, Drains: diag.Unknown, Migrates: diag.None, Autoscales: diag.None, Survives: []facts.Survives{},
	}
	if w.Kind.VM {
		row.Migrates = diag.Unknown
	}
	if w.Scale != nil {
		row.Autoscales = diag.Unknown
	}
	survives := diag.Unknown
	if !outlives(w) {
		row.Rolls, row.Drains, survives = diag.None, diag.None, diag.None
		if w.Kind.PerNode() {
			row.Rolls = diag.Unknown
		}
	}
	for _, key := range b.lost(w) {
		row.Survives = append(row.Survives, facts.Survives{Key: key, Gone: survives, Unreachable: survives})
	}
	return row
}

// outlives reports whether pods are recreated on other nodes after their node is lost.
func outlives(w *workload.Workload) bool { return !w.Finite() && !w.Kind.PerNode() }

// answer sets those answers about changes to a workload that rules read.
func (b *builder) answer(as decision, w *workload.Workload, row *facts.Answers) {
	var questions []func(*workload.Workload)
	ask := func(field string, f func(*workload.Workload)) {
		if b.whole("workloads.answers." + field) {
			questions = append(questions, f)
		}
	}
	ask("rolls", func(w *workload.Workload) {
		outcome, known := b.rolled[w]
		if !known {
			_, outcome = worst(filterStarted(b.j.Rollouts(w)))
		}
		row.Rolls = outcome
	})
	ask("survives", func(w *workload.Workload) {
		rows := slices.Clone(row.Survives)
		for i := 0; outlives(w) && i < len(rows); i++ {
			all := b.j.Survives(w, rows[i].Key)
			rows[i].Gone, rows[i].Unreachable = worstOf(all, certificate.Gone), worstOf(all, certificate.Unreachable)
		}
		row.Survives = rows
	})
	ask("drains", func(w *workload.Workload) { row.Drains = diag.Outcome(as.drains(w).Verdict) })
	ask("migrates", func(w *workload.Workload) { row.Migrates = b.j.Migration(w).Answer })
	ask("autoscales", func(w *workload.Workload) { row.Autoscales = b.j.Scaling(w).Answer })
	as.changes().asks(w, questions...)
	if row.Fits == diag.Never && outlives(w) { // as in the place command, there is nothing to drain
		row.Drains = diag.None
		if row.Rolls == diag.Always { // that is about numbers of pods that an autoscaler may choose
			row.Rolls = diag.None
		}
		for i := range row.Survives {
			row.Survives[i].Gone, row.Survives[i].Unreachable = diag.Never, diag.Never
		}
	}
}

// worstOf returns the worst outcome among the losses with one meaning. It returns unknown if there
// are no such losses, for example because no node has the key.
func worstOf(all []disruption.Survival, meaning certificate.Meaning) diag.Outcome {
	worst := (*disruption.Survival)(nil)
	for i := range all {
		if s := &all[i]; s.Meaning == meaning && (worst == nil || s.Worse(worst)) {
			worst = s
		}
	}
	if worst == nil {
		return diag.Unknown
	}
	if disruption.Certain(all, meaning) > 0 {
		return diag.Never
	}
	return worst.Verdict
}

func (d *describing) claims(w *workload.Workload, row *facts.Workload) {
	row.Claims = []facts.DeviceClaim{}
	listed := w.SpecNode.Get("resourceClaims")
	row.ClaimsKnown = listed.IsNull() || listed.Kind == source.Sequence
	for _, item := range listed.Items() {
		claim := facts.DeviceClaim{
			ID: d.within(w, item), Name: item.Get("name").Text(), Claim: item.Get("resourceClaimName").Text(), Template: item.Get("resourceClaimTemplateName").Text(),
			Requests: []facts.DeviceRequest{},
		}
		kind, name, path := "ResourceClaim", claim.Claim, []string{"spec", "devices", "requests"}
		if claim.Template != "" {
			kind, name, path = "ResourceClaimTemplate", claim.Template, slices.Insert(path, 0, "spec")
		}
		if o := d.claim(kind, w.Object.Namespace, name); o != nil {
			requests := o.Root.At(path...)
			claim.RequestsKnown = requests.IsNull() || requests.Kind == source.Sequence
			for _, request := range requests.Items() {
				claim.Requests = append(claim.Requests, deviceRequests(request)...)
			}
		}
		row.Claims = append(row.Claims, claim)
	}
}

func (d *describing) volumeClaims(w *workload.Workload, row *facts.Workload) {
	for _, c := range w.Claims {
		row.VolumeClaims = append(row.VolumeClaims, facts.VolumeClaim{
			ID: d.within(w, c.Node), Name: c.Name, Template: c.Template, Ephemeral: c.Ephemeral, Class: c.Class, Size: c.Size,
			Modes: append([]string{}, c.Modes...), Bound: c.Bound, Volume: c.Volume,
			Pinned: cmp.Or(string(c.Pinned), "unknown"), Attach: cmp.Or(string(c.Attach), "unknown"), Shared: !c.Template && !c.Ephemeral,
		})
	}
}

// claim returns the last object with the given kind, namespace and name, or nil.
func (d *describing) claim(kind, namespace, name string) *source.Object {
	if d.Set == nil {
		return nil
	}
	if d.declaredClaims == nil {
		d.declaredClaims = map[[3]string]*source.Object{}
		d.m.Run().Spend(len(d.Set.Claims))
		for _, o := range d.Set.Claims {
			d.declaredClaims[[3]string{o.Kind, o.Namespace, o.Name}] = o
		}
	}
	return d.declaredClaims[[3]string{kind, namespace, name}]
}

// deviceRequests returns the alternatives of a request, or the request itself. In v1beta1 the
// device class is a field of the request. In later versions it is in the field exactly
// (staging/src/k8s.io/api/resource).
func deviceRequests(n *source.Node) (all []facts.DeviceRequest) {
	name := n.Get("name").Text()
	for _, alternative := range n.Get("firstAvailable").Items() {
		one := deviceRequest(name, alternative)
		one.CountMin = 0
		all = append(all, one)
	}
	if len(all) > 0 {
		return all
	}
	if exactly := n.Get("exactly"); !exactly.IsNull() {
		n = exactly
	}
	return []facts.DeviceRequest{deviceRequest(name, n)}
}

// deviceRequest converts one request. The default count is one device.
func deviceRequest(name string, n *source.Node) facts.DeviceRequest {
	r := facts.DeviceRequest{Name: name, DeviceClass: n.Get("deviceClassName").Text(), CountMin: 1, CountMax: 1}
	mode, count := n.Get("allocationMode"), n.Get("count")
	switch written, ok := count.Int(); {
	case mode.Text() == "All":
		r.CountMax = facts.NoBound
	case mode.Placeholder() || !count.IsNull() && (!ok || written < 1 || written > facts.NoBound):
		r.CountMin, r.CountMax = 0, facts.NoBound
	case !count.IsNull():
		r.CountMin, r.CountMax = int(written), int(written)
	}
	return r
}
