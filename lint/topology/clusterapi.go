package topology

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// capi is the API group of Cluster API.
const capi = "cluster.x-k8s.io"

// machineSet holds the fields of a MachineDeployment, MachineSet, MachinePool or KubeadmControlPlane
// that decide about nodes (kubernetes-sigs/cluster-api ae7ff047 api/core/v1beta2,
// api/controlplane/kubeadm/v1beta2; R-S15), and those of a MachineSet of OpenShift.
type machineSet struct {
	Metadata machineMeta `json:"metadata"`
	Spec     struct {
		Replicas *int `json:"replicas"`
		Template struct {
			Metadata machineMeta `json:"metadata"`
			Spec     struct {
				Bootstrap struct {
					ConfigRef *source.Node `json:"configRef"`
				} `json:"bootstrap"`
				Infrastructure *source.Node `json:"infrastructureRef"`
				Taints         *source.Node `json:"taints"`

				Metadata machineMeta    `json:"metadata"`
				Provider openshiftCloud `json:"providerSpec"`
				ID       *source.Node   `json:"providerID"` // only resembles such a field
			} `json:"spec"`
		} `json:"template"`
		ControlPlane struct {
			Metadata machineMeta `json:"metadata"`
			Spec     struct {
				Taints *source.Node `json:"taints"`
			} `json:"spec"`
		} `json:"machineTemplate"`
		Kubeadm *source.Node `json:"kubeadmConfigSpec"`
	} `json:"spec"`
}

type machineMeta struct {
	Labels      *source.Node `json:"labels"`
	Annotations *source.Node `json:"annotations"`
}

// clusterOpen lists the keys of labels that providers of infrastructure add to nodes.
var clusterOpen = slices.Concat(cloudLabels, []string{
	corev1.LabelArchStable, betaArch, "cluster.x-k8s.io/interruptible", "topology.ebs.csi.aws.com/", "topology.k8s.aws/", "k8s.io/cloud-provider-aws",
	"eks.amazonaws.com/", "vpc.amazonaws.com/", "cloud.google.com/", "topology.gke.io/", "kubernetes.azure.com/", "topology.disk.csi.azure.com/", "metal3.io/",
})

// autoscaled is part of the annotations with the size of a node group (kubernetes/autoscaler
// 55c37cd5 cluster-autoscaler/cloudprovider/clusterapi/clusterapi_utils.go).
const autoscaled = "/cluster-api-autoscaler-node-group-"

// machines reads a MachineDeployment, MachineSet or MachinePool as a pool.
func (l *loader) machines(o *source.Object) {
	var in machineSet
	if !l.decides(o, o.File.Span, o.Root, &in) {
		return
	}
	if slices.ContainsFunc(o.Root.At("metadata", "ownerReferences").Items(), func(n *source.Node) bool { return n.Get("kind").Text() == "MachineDeployment" }) {
		return // counted with its owner
	}
	before, p, spec := len(l.errs), newMachinePool(o.Name), &in.Spec.Template.Spec
	l.synced(o, in.Spec.Template.Metadata.Labels, p, o.Kind != "MachinePool")
	l.registers(o, o.Namespace, spec.Bootstrap.ConfigRef, spec.Infrastructure, p)
	p.Taints = append(p.Taints, l.taintList(o, o.File.Span, spec.Taints)...)
	l.capacity(o, in.Metadata.Annotations, p)
	least, most := l.bounds(o, in.Metadata.Annotations, capi)
	l.machinePool(o, o.Root, o.NameSpan(), in.Spec.Replicas, least, most, p, before)
}

// controlPlanes reads a KubeadmControlPlane.
func (l *loader) controlPlanes(o *source.Object) {
	var in machineSet
	if l.decides(o, o.File.Span, o.Root, &in) {
		before, p := len(l.errs), newMachinePool(o.Name)
		l.synced(o, in.Spec.ControlPlane.Metadata.Labels, p, true)
		l.kubeadmControl(o, in.Spec.Kubeadm, p)
		p.Taints = append(p.Taints, l.taintList(o, o.File.Span, in.Spec.ControlPlane.Spec.Taints)...)
		l.machinePool(o, o.Root, o.NameSpan(), in.Spec.Replicas, nil, nil, p, before)
	}
}

func newMachinePool(name string) *PoolSpec {
	return &PoolSpec{Name: name, Labels: map[string]string{}, UnknownLabels: clusterOpen}
}

// bounds returns the size of a node group that annotations give the autoscaler.
func (l *loader) bounds(o *source.Object, annotations *source.Node, group string) (least, most *int) {
	for field, to := range map[string]**int{"min-size": &least, "max-size": &most} {
		if k, v := annotations.Field(group + autoscaled + field); k != nil {
			n, err := strconv.Atoi(v.Value)
			if err != nil {
				l.fail(o, o.File.FieldSpan(k, v), "%s: expected a whole number", k.Value)
			}
			*to = &n
		}
	}
	return least, most
}

// capacity reads the annotations that give the autoscaler the capacity of a node, before the node
// reserves some of it. A value of 0 is ignored (kubernetes/autoscaler 55c37cd5 clusterapi_unstructured.go,
// InstanceCapacity). OpenShift sets the first two (openshift/cluster-autoscaler-operator,
// pkg/controller/machineautoscaler; memoryMb counts MiB). Its number of GPUs is left out: a device
// plugin may offer each of them several times (R-S21).
func (l *loader) capacity(o *source.Object, annotations *source.Node, p *PoolSpec) {
	const group = "capacity.cluster-autoscaler.kubernetes.io/"
	p.Capacity = corev1.ResourceList{}
	for _, row := range []struct {
		key, unit string
		name      corev1.ResourceName
	}{
		{openshift + "/vCPU", "", corev1.ResourceCPU}, {openshift + "/memoryMb", "Mi", corev1.ResourceMemory},
		{group + "cpu", "", corev1.ResourceCPU}, {group + "memory", "", corev1.ResourceMemory}, {group + "ephemeral-disk", "", corev1.ResourceEphemeralStorage},
		{group + "gpu-count", "", corev1.ResourceName(annotations.Get(group + "gpu-type").Text())},
	} {
		k, v := annotations.Field(row.key)
		if v.Text() == "" || row.name == "" {
			continue
		}
		most, err := resource.ParseQuantity(v.Text() + row.unit)
		if err != nil {
			l.fail(o, o.File.FieldSpan(k, v), "%s: expected a quantity, found %s", row.key, v.Text())
		} else if most.Sign() > 0 {
			p.Capacity[row.name] = most
		}
	}
}

// machinePool adds a pool of replicas machines, or of the least number for the autoscaler, or of one
// (kubernetes-sigs/cluster-api ae7ff047 core/webhooks/admission/machinedeployment.go,
// calculateMachineDeploymentReplicas).
func (l *loader) machinePool(o *source.Object, item *source.Node, span diag.Span, replicas, least, most *int, p *PoolSpec, before int) {
	one := 1
	if least == nil || most == nil {
		least, most = replicas, replicas
	}
	count := *cmp.Or(replicas, least, &one)
	pool := &Pool{Name: p.Name, Count: count, Min: min(count, *cmp.Or(least, &count)), Max: max(count, *cmp.Or(most, &count)), Span: span, Declaration: Declaration{o.File, item}}
	switch first, twice := l.pooled[p.Name]; {
	case len(validation.IsDNS1123Subdomain(p.Name)) > 0:
		l.fail(o, span, "machines need a name that can be part of a node name, found %q", p.Name)
	case twice:
		l.fail(o, span, "%s is declared twice, for the first time at %s", p.Name, first)
	case pool.Min < 0 || pool.Max > maxNodes:
		l.fail(o, span, "%s: expected 0 <= min-size <= replicas <= max-size <= %d, found %d, %d, %d", p.Name, maxNodes, pool.Min, count, pool.Max)
	}
	l.pooled[p.Name] = l.place(o, span)
	for _, key := range p.UnknownLabels[len(clusterOpen):] { // nodes may register with another value
		delete(p.Labels, key)
	}
	if l.machined = cmp.Or(l.machined, o); len(l.errs) == before {
		l.pool(o, pool, p)
	}
}

// synced adds the labels of Machines that Cluster API copies to their nodes. It copies others, and
// those of a MachinePool, only in some set-ups (kubernetes-sigs/cluster-api ae7ff047
// core/reconcilers/machine/machine_controller_noderef.go; util/labels/helpers.go, GetManagedLabels).
func (l *loader) synced(o *source.Object, labels *source.Node, p *PoolSpec, copies bool) {
	for k, v := range labels.Fields() {
		domain, _, _ := strings.Cut(k.Value, "/")
		if copies && (domain == "node-role.kubernetes.io" || within(domain, corev1.LabelNamespaceNodeRestriction, "node.cluster.x-k8s.io")) {
			l.label(o, o.File.FieldSpan(k, v), p.Name, k.Value, labelValue(v))
			p.Labels[k.Value] = labelValue(v)
		} else {
			p.UnknownLabels = append(slices.Clip(p.UnknownLabels), k.Value)
		}
	}
}

// registers adds the labels and taints with which nodes register. Other bootstrap configurations
// than those of kubeadm, and pools of managed clusters, must not mention any.
func (l *loader) registers(o *source.Object, namespace string, config, infrastructure *source.Node, p *PoolSpec) {
	refs := []*source.Node{config}
	if managed(infrastructure) {
		refs = []*source.Node{infrastructure}
		if config != nil {
			refs = append(refs, config)
		}
	}
	for _, ref := range refs {
		kind, name := ref.Get("kind").Text(), ref.Get("name").Text()
		switch of := l.find(kind, name, namespace); {
		case of == nil:
			l.fail(o, o.File.Span(cmp.Or(ref, o.Root)), "%s: %s is not in the node files: add it, or declare these nodes in a NodeTopology", p.Name, cmp.Or(strings.TrimSpace(kind+" "+name), "its bootstrap data"))
		case strings.HasPrefix(kind, "KubeadmConfig"):
			spec := of.Root.Get("spec")
			r := l.kubeadmSpec(of, cmp.Or(spec.At("template", "spec"), spec), "joinConfiguration")
			maps.Copy(p.Labels, r.labels)
			p.Taints = append(p.Taints, r.nodeTaints(kindWorker, 2)...)
		case mentions(of.Root.Get("spec"), "label", "taint"):
			l.fail(o, o.File.Span(ref), "%s: labels or taints in %s %s are not read: declare these nodes in a NodeTopology", p.Name, kind, name)
		}
	}
	if of := l.find(infrastructure.Get("kind").Text(), infrastructure.Get("name").Text(), namespace); of == nil || mentions(of.Root, "windows") {
		p.UnknownLabels = append(slices.Clip(p.UnknownLabels), corev1.LabelOSStable, betaOS, corev1.LabelWindowsBuild)
	}
}

// kubeadmControl adds what kubeadm gives to control planes.
func (l *loader) kubeadmControl(o *source.Object, spec *source.Node, p *PoolSpec) {
	first, others := l.kubeadmSpec(o, spec, "initConfiguration"), l.kubeadmSpec(o, spec, "joinConfiguration")
	taints := others.nodeTaints(kindControl, 2)
	if !maps.Equal(first.labels, others.labels) || !reflect.DeepEqual(first.nodeTaints(kindControl, 2), taints) {
		l.fail(o, o.File.Span(spec), "%s: initConfiguration and joinConfiguration differ in labels or taints: declare these nodes in a NodeTopology", p.Name)
	}
	maps.Copy(p.Labels, others.labels)
	p.Labels[controlPlane], p.Labels[corev1.LabelNodeExcludeBalancers] = "", ""
	p.Taints = append(p.Taints, taints...)
}

// kubeadmSpec reads how nodes register, and refuses commands and files that may change it.
func (l *loader) kubeadmSpec(o *source.Object, spec *source.Node, document string) (r registration) {
	node, p := spec.At(document, "nodeRegistration"), &patch{loader: l, o: o}
	var in nodeRegistration
	l.decides(o, o.File.Span, node, &in)
	r.taints = l.taintList(o, o.File.Span, in.Taints)
	p.args(document, in.Args)
	for _, e := range p.edits {
		e.apply(&r)
	}
	for k, v := range spec.Fields() {
		if !strings.HasSuffix(k.Value, "Configuration") && mentions(v, "node-labels", "taint") {
			l.fail(o, o.File.Span(k), "%s may decide labels or taints: declare these nodes in a NodeTopology", k.Value)
		}
	}
	return r
}

// clusterObject holds the fields of a Cluster that decide about nodes
// (kubernetes-sigs/cluster-api ae7ff047 api/core/v1beta2/cluster_types.go).
type clusterObject struct {
	Spec struct {
		ControlPlane *source.Node `json:"controlPlaneRef"`
		Topology     struct {
			Class        string       `json:"class"`
			Ref          *source.Node `json:"classRef"`
			Namespace    string       `json:"classNamespace"`
			ControlPlane workerSet    `json:"controlPlane"`
			Workers      struct {
				Deployments []workerSet `json:"machineDeployments"`
				Pools       []workerSet `json:"machinePools"`
			} `json:"workers"`
		} `json:"topology"`
	} `json:"spec"`
}

type workerSet struct {
	Name     string       `json:"name"`
	Class    string       `json:"class"`
	Replicas *int         `json:"replicas"`
	Metadata machineMeta  `json:"metadata"`
	Taints   *source.Node `json:"taints"`
}

// capiCluster reads the topology of a Cluster, whose templates are in its ClusterClass.
func (l *loader) capiCluster(o *source.Object) {
	var in clusterObject
	if !l.decides(o, o.File.Span, o.Root, &in) {
		return
	}
	l.controls = l.controls || managed(in.Spec.ControlPlane)
	t, topology := &in.Spec.Topology, o.Root.At("spec", "topology")
	owned := func(of *source.Object) bool {
		return of.Namespace == o.Namespace && of.Root.At("metadata", "labels", "topology.cluster.x-k8s.io/owned") != nil
	}
	if topology == nil || slices.ContainsFunc(l.objects, owned) { // these come from the topology
		return
	}
	name := cmp.Or(t.Ref.Get("name").Text(), t.Class)
	class := l.find("ClusterClass", name, cmp.Or(t.Ref.Get("namespace").Text(), t.Namespace, o.Namespace))
	if class == nil {
		l.fail(o, o.File.Span(topology), "ClusterClass %s is not in the node files: add it with its templates, or declare these nodes in a NodeTopology", name)
		return
	}
	if patches := class.Root.At("spec", "patches"); slices.ContainsFunc(patches.Items(), classPatchDecides) {
		l.fail(class, class.File.Span(patches), "patches of the class may decide labels or taints: declare these nodes in a NodeTopology")
		return
	}
	for _, kind := range []struct {
		field, name string
		sets        []workerSet
	}{{"machineDeployments", "MachineDeployment", t.Workers.Deployments}, {"machinePools", "MachinePool", t.Workers.Pools}} {
		items := topology.At("workers", kind.field).Items()
		for i, set := range kind.sets {
			before, p, of := len(l.errs), newMachinePool(o.Name+"-"+set.Name), classOf(class, kind.field, set.Class)
			l.synced(class, cmp.Or(of.At("template", "metadata", "labels"), of.At("metadata", "labels")), p, kind.name != "MachinePool")
			l.synced(o, set.Metadata.Labels, p, kind.name != "MachinePool")
			l.registers(class, class.Namespace, ref(of, "bootstrap"), ref(of, "infrastructure"), p)
			p.Taints = append(p.Taints, l.ownTaints(o, set.Taints, class, of)...)
			l.capacity(o, set.Metadata.Annotations, p)
			least, most := l.bounds(o, set.Metadata.Annotations, capi)
			l.machinePool(o, items[i], at(o, items[i]), set.Replicas, least, most, p, before)
		}
	}
	control := class.Root.At("spec", "controlPlane")
	template := cmp.Or(control.Get("templateRef"), control.Get("ref"))
	l.controls = l.controls || managed(template)
	if template.Get("kind").Text() != "KubeadmControlPlaneTemplate" {
		return
	}
	before, p := len(l.errs), newMachinePool(o.Name+"-control-plane")
	of := l.find("KubeadmControlPlaneTemplate", template.Get("name").Text(), class.Namespace)
	if of == nil {
		l.fail(class, class.File.Span(template), "%s is not in the node files: add it, or declare these nodes in a NodeTopology", template.Get("name").Text())
		return
	}
	l.synced(o, t.ControlPlane.Metadata.Labels, p, true)
	l.kubeadmControl(of, of.Root.At("spec", "template", "spec", "kubeadmConfigSpec"), p)
	p.Taints = append(p.Taints, l.ownTaints(o, t.ControlPlane.Taints, class, control)...)
	l.machinePool(o, topology, o.File.Span(topology), t.ControlPlane.Replicas, nil, nil, p, before)
}

// ownTaints returns the taints that a Cluster gives to workers, or those of its class.
func (l *loader) ownTaints(o *source.Object, own *source.Node, class *source.Object, of *source.Node) []corev1.Taint {
	if own == nil {
		o, own = class, of.Get("taints")
	}
	return l.taintList(o, o.File.Span, own)
}

// classPatchDecides reports whether a patch of a ClusterClass may decide labels or taints. Those that
// set another flag of the kubelet do not (kubernetes-sigs/cluster-api ae7ff047
// api/core/v1beta2/clusterclass_types.go, JSONPatch).
func classPatchDecides(patch *source.Node) bool {
	registers := func(op *source.Node) bool {
		_, flag, sets := strings.Cut(op.Get("path").Text(), "/nodeRegistration/kubeletExtraArgs/")
		harmless := sets && strings.Trim(flag, "-0123456789") == flag && flag != "hostname-override" && flag != "register-node"
		return !harmless && mentions(op, "noderegistration")
	}
	return patch.Get("external") != nil || mentions(patch, "node-labels", "taint") || slices.ContainsFunc(patch.Get("definitions").Items(), func(d *source.Node) bool {
		return slices.ContainsFunc(d.Get("jsonPatches").Items(), registers)
	})
}

// classOf returns the item of a ClusterClass for a class of workers.
func classOf(class *source.Object, field, name string) *source.Node {
	for _, item := range class.Root.At("spec", "workers", field).Items() {
		if item.Get("class").Text() == name {
			return item
		}
	}
	return nil
}

// ref returns a reference to a template in v1beta2 or v1beta1 of a ClusterClass.
func ref(item *source.Node, field string) *source.Node {
	return cmp.Or(item.At(field, "templateRef"), item.At("template", field, "ref"))
}

// managed reports whether a cloud or another cluster runs what a reference is to: a control plane, so
// that it has no nodes, or a node group.
func managed(ref *source.Node) bool {
	kind := ref.Get("kind").Text()
	return strings.Contains(kind, "Managed") || slices.ContainsFunc([]string{"Kamaji", "K0smotron", "Hosted", "ROSA"}, func(w string) bool { return strings.HasPrefix(kind, w) })
}

// find returns an object of the node files, or nil. Files may leave the namespace out.
func (l *loader) find(kind, name, namespace string) *source.Object {
	for _, o := range l.objects {
		if o.Kind == kind && o.Name == name && (o.Namespace == namespace || o.Namespace == "" || namespace == "") {
			return o
		}
	}
	return nil
}

// mentions reports whether a key or a value contains a word.
func mentions(n *source.Node, words ...string) bool {
	if n == nil {
		return false
	}
	text := strings.ToLower(n.Value)
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
		return true
	}
	for k, v := range n.Fields() {
		if mentions(k, words...) || mentions(v, words...) {
			return true
		}
	}
	return slices.ContainsFunc(n.Items(), func(item *source.Node) bool { return mentions(item, words...) })
}
