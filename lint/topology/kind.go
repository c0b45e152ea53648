package topology

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// kindCluster holds the fields of a kind cluster that decide about nodes (kubernetes-sigs/kind
// fed26882 pkg/apis/config/v1alpha4/types.go; R-S12).
type kindCluster struct {
	Name  string     `json:"name"`
	Nodes []kindNode `json:"nodes"`
	kindPatches
}

type kindNode struct {
	Role   string            `json:"role"`
	Labels map[string]string `json:"labels"`
	kindPatches
}

type kindPatches struct {
	Merge []*source.Node `json:"kubeadmConfigPatches"`
	JSON  []struct {
		Group   string       `json:"group"`
		Version string       `json:"version"`
		Kind    string       `json:"kind"`
		Patch   *source.Node `json:"patch"`
	} `json:"kubeadmConfigPatchesJSON6902"`
}

// The roles of nodes, and the label and taint that kubeadm gives to a control plane.
const (
	kindControl  = "control-plane"
	kindWorker   = "worker"
	controlPlane = "node-role.kubernetes.io/control-plane"
)

// kind reads the nodes of a kind cluster (kubernetes-sigs/kind fed26882
// pkg/cluster/internal/providers/common/namer.go,
// pkg/cluster/internal/create/actions/{config,kubeadminit,kubeadmjoin}).
func (l *loader) kind(o *source.Object) {
	var in kindCluster
	if !l.decides(o, o.File.Span, o.Root, &in) {
		return
	}
	name, nodes, items, before := cmp.Or(in.Name, "kind"), in.Nodes, o.Root.Get("nodes").Items(), len(l.errs)
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		l.fail(o, diag.Span{}, "a kind cluster needs a name that can be part of a node name, found %q", name)
	}
	if len(nodes) == 0 {
		nodes, items = []kindNode{{}}, []*source.Node{o.Root}
	}
	everywhere, counts, roles := l.kubeadm(o, o.Root, in.kindPatches), map[string]int{}, make([]string, len(nodes))
	for i, n := range nodes {
		roles[i] = cmp.Or(n.Role, kindControl)
		if roles[i] != kindControl && roles[i] != kindWorker {
			l.fail(o, at(o, items[i], "role"), "nodes[%d].role is %q: expected %s or %s", i, n.Role, kindControl, kindWorker)
		}
	}
	if !slices.Contains(roles, kindControl) {
		l.fail(o, diag.Span{}, "a kind cluster needs a node with the role %s", kindControl)
	}
	var all []*Node
	for i, n := range nodes {
		role, document := roles[i], "JoinConfiguration"
		if counts[role]++; role == kindControl && counts[role] == 1 {
			document = "InitConfiguration"
		}
		full := name + "-" + role
		if counts[role] > 1 {
			full += fmt.Sprint(counts[role])
		}
		l.labels(o, "node "+full, items[i])
		r := registration{labels: n.Labels}
		for _, e := range slices.Concat(everywhere, l.kubeadm(o, items[i], n.kindPatches)) {
			if e.document == document {
				e.apply(&r)
			}
		}
		span := at(o, items[i], "role")
		all = append(all, &Node{Name: full, Labels: r.nodeLabels(full, role, len(nodes)), Taints: r.nodeTaints(role, len(nodes)), Span: span, Declaration: Declaration{o.File, items[i]}})
	}
	if len(l.errs) > before {
		return
	}
	for _, n := range all {
		l.topo.mayHave(n, corev1.LabelArchStable)
		l.add(o, n)
	}
	l.topo.Stored = append(l.topo.Stored, source.LoadText(source.Options{}, o.File.Name, []byte(kindClass)).Objects...)
}

// kindClass is the StorageClass of every kind cluster (kubernetes-sigs/kind fed26882
// pkg/build/nodeimage/const_storage.go).
const kindClass = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: standard
  annotations: {storageclass.kubernetes.io/is-default-class: "true"}
provisioner: rancher.io/local-path
volumeBindingMode: WaitForFirstConsumer
`

// registration holds what the kubeadm document of a node says about it. flagged holds the taints of
// the kubelet's flag. If taints is nil, kubeadm taints a control plane.
type registration struct {
	labels          map[string]string
	taints, flagged []corev1.Taint
	hasFlag         bool
}

// nodeLabels returns the labels of a node of a cluster with so many nodes. kind takes a label from
// the only node of a cluster.
func (r *registration) nodeLabels(name, role string, nodes int) map[string]string {
	labels := map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", betaOS: "linux", Cluster: Cluster}
	maps.Copy(labels, r.labels)
	if arch, known := labels[corev1.LabelArchStable]; known {
		labels[betaArch] = arch
	}
	if role == kindControl {
		labels[controlPlane], labels[corev1.LabelNodeExcludeBalancers] = "", ""
	}
	if nodes == 1 {
		delete(labels, corev1.LabelNodeExcludeBalancers)
	}
	return labels
}

// nodeTaints returns the taints of a node. kubeadm passes those of a worker to the kubelet, where the
// user's flag wins. It adds those of a control plane to what the kubelet has (k8s.io/kubernetes
// cmd/kubeadm/app/phases/{kubelet/flags.go,markcontrolplane}). kind removes the usual taint if the
// cluster has exactly one node.
func (r *registration) nodeTaints(role string, nodes int) []corev1.Taint {
	taints := r.taints
	switch {
	case role == kindWorker && r.hasFlag:
		return r.flagged
	case role == kindWorker:
		return taints
	case taints == nil:
		taints = []corev1.Taint{{Key: controlPlane, Effect: corev1.TaintEffectNoSchedule}}
	}
	taints = slices.Clip(taints)
	for _, t := range r.flagged {
		if !slices.Contains(taints, t) {
			taints = append(taints, t)
		}
	}
	if nodes == 1 {
		taints = slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool { return t.Key == controlPlane })
	}
	return taints
}

// edit holds what a patch changes in the kubeadm document of a kind.
type edit struct {
	document string
	apply    func(*registration)
}

// kubeadmDocument holds the fields of an InitConfiguration or JoinConfiguration that decide about
// nodes (k8s.io/kubernetes cmd/kubeadm/app/apis/kubeadm/v1beta4/types.go).
type kubeadmDocument struct {
	APIVersion       *source.Node     `json:"apiVersion"`
	NodeRegistration nodeRegistration `json:"nodeRegistration"`
	SkipPhases       []string         `json:"skipPhases"`
}

type nodeRegistration struct {
	Name   *source.Node `json:"name"`
	Taints *source.Node `json:"taints"`
	Args   *source.Node `json:"kubeletExtraArgs"`
}

// patch is the text of a patch in a block of the configuration, or the object if there is no block.
type patch struct {
	*loader
	o     *source.Object
	block *source.Node
	text  *source.File
	// versioned is set if the patch names an apiVersion.
	versioned bool
	edits     []edit
}

// kubeadm reads the patches that an item has, in the order in which kind applies them: merge patches
// first (kubernetes-sigs/kind fed26882 pkg/internal/patch/{kubeyaml,kubeadm_merge}.go).
func (l *loader) kubeadm(o *source.Object, item *source.Node, patches kindPatches) (all []edit) {
	for _, block := range patches.Merge {
		p, roots := l.patch(o, block)
		for _, root := range roots {
			p.merge(root)
		}
		all = append(all, p.edits...)
	}
	for i, j := range patches.JSON {
		block := cmp.Or(j.Patch, item.Get("kubeadmConfigPatchesJSON6902").Items()[i])
		p, roots := l.patch(o, block)
		p.versioned = j.Version != "" || j.Group != ""
		for _, root := range roots {
			for _, op := range root.Items() {
				p.operation(j.Kind, op)
			}
		}
		all = append(all, p.edits...)
	}
	return all
}

// patch parses a block.
func (l *loader) patch(o *source.Object, block *source.Node) (p *patch, roots []*source.Node) {
	set := source.LoadText(source.Options{Strict: true}, o.File.Name, []byte(block.Text()))
	p = &patch{loader: l, o: o, block: block, text: set.Files[0]}
	roots = p.text.Roots()
	if len(set.Problems) > 0 || len(roots) == 0 {
		p.refuse(nil, "the patch is not YAML")
	}
	return p, roots
}

// span returns the place of a node of the patch in the configuration.
func (p *patch) span(n *source.Node) diag.Span {
	if p.block == nil {
		return p.o.File.Span(n)
	}
	if n != nil {
		if at, ok := p.o.File.BlockSpan(p.block, p.text, p.text.Span(n)); ok {
			return at
		}
	}
	return p.o.File.Span(p.block)
}

func (p *patch) refuse(n *source.Node, format string, args ...any) {
	p.fail(p.o, p.span(n), format, args...)
}

// edit adds an edit. A patch with an apiVersion may not apply, because the version of the kubeadm
// documents depends on the node image.
func (p *patch) edit(document string, n *source.Node, apply func(*registration)) {
	if p.versioned {
		p.refuse(n, "kind applies a patch with an apiVersion only if the node image has that version: leave it out")
	}
	p.edits = append(p.edits, edit{document, apply})
}

// merge reads a merge patch, whose values replace those of the document.
func (p *patch) merge(root *source.Node) {
	var in kubeadmDocument
	document := root.Get("kind").Text()
	switch document {
	case "InitConfiguration", "JoinConfiguration":
	case "KubeletConfiguration":
		for _, field := range []string{"registerWithTaints", "registerNode"} {
			if k, _ := root.Field(field); k != nil {
				p.refuse(k, "%s is not read: write the taints under nodeRegistration", field)
			}
		}
		return
	case "ClusterConfiguration", "KubeProxyConfiguration":
		return
	default:
		p.refuse(cmp.Or(root.Get("kind"), root), "a patch of kubeadm needs a kind such as InitConfiguration or JoinConfiguration, found %q", document)
		return
	}
	if !p.decides(p.o, p.span, root, &in) {
		return
	}
	p.versioned = in.APIVersion.Text() != ""
	for _, phase := range in.SkipPhases {
		if strings.HasPrefix(phase, "control-plane-join") || phase == "mark-control-plane" {
			p.refuse(root.Get("skipPhases"), "the phase %s decides labels and taints: declare these nodes in a NodeTopology", phase)
		}
	}
	k, registers := root.Field("nodeRegistration")
	if k != nil && registers.IsNull() {
		p.refuse(k, "nodeRegistration: expected a map")
	}
	if k, _ := registers.Field("name"); k != nil {
		p.refuse(k, "nodeRegistration.name is not read: declare these nodes in a NodeTopology")
	}
	if k, v := registers.Field("taints"); k != nil {
		taints := p.taintList(p.o, p.span, v)
		p.edit(document, k, func(r *registration) { r.taints = taints })
	}
	p.args(document, registers.Get("kubeletExtraArgs"))
}

// args reads flags of the kubelet: a map, or a list of {name, value} from v1beta4 on.
func (p *patch) args(document string, n *source.Node) {
	for k, v := range n.Fields() {
		p.arg(document, k.Value, v, k)
	}
	for _, item := range n.Items() {
		p.arg(document, item.Get("name").Text(), item.Get("value"), item)
	}
}

// arg reads a flag of the kubelet. Null removes it.
func (p *patch) arg(document, name string, v, at *source.Node) {
	switch name {
	case "hostname-override", "register-node":
		p.refuse(at, "the flag %s is not read: declare these nodes in a NodeTopology", name)
		return
	case "node-labels", "register-with-taints":
	default:
		return
	}
	if !v.IsNull() && (v.Kind != source.Scalar || v.Type != source.String) {
		p.refuse(at, "%s: expected a string", name)
		return
	}
	labels, taints := map[string]string{}, []corev1.Taint(nil)
	for word := range strings.SplitSeq(v.Text(), ",") {
		if word = strings.TrimSpace(word); word == "" {
			continue
		}
		if name == "node-labels" {
			key, value, _ := strings.Cut(word, "=")
			p.label(p.o, p.span(at), name, key, value)
			labels[key] = value
			continue
		}
		t := parseTaint(word)
		p.taint(p.o, p.span(at), t)
		taints = append(taints, t)
	}
	p.edit(document, at, func(r *registration) {
		if name == "node-labels" {
			r.labels = labels
		} else {
			r.flagged, r.hasFlag = taints, !v.IsNull()
		}
	})
}

// parseTaint reads key=value:effect, the form of the kubelet's flag.
func parseTaint(word string) (t corev1.Taint) {
	before, effect, _ := strings.Cut(word, ":")
	t.Key, t.Value, _ = strings.Cut(before, "=")
	t.Effect = corev1.TaintEffect(effect)
	return t
}

// operation reads an operation of a JSON patch.
func (p *patch) operation(document string, op *source.Node) {
	const registers = "/nodeRegistration"
	kind, value := op.Get("op").Text(), op.Get("value")
	path, from := op.Get("path").Text(), op.Get("from").Text()
	within := func(path string) bool {
		return path == "" || path == registers || strings.HasPrefix(path, registers+"/")
	}
	rest := strings.TrimPrefix(path, registers)
	flag, isFlag := strings.CutPrefix(rest, "/kubeletExtraArgs/")
	number := flag != "" && flag[0] >= '0' && flag[0] <= '9'
	gone := kind == "remove"
	switch {
	case document == "KubeletConfiguration" && strings.HasPrefix(path, "/register"):
		p.refuse(op, "%s is not read: write the taints under nodeRegistration", path)
	case document != "InitConfiguration" && document != "JoinConfiguration", kind == "test", !within(path) && (from == "" || !within(from)):
	case kind != "add" && kind != "replace" && !gone:
		p.refuse(op, "the operation %s is not read on %s: expected add, replace or remove", kind, path)
	case slices.Contains([]string{"/criSocket", "/ignorePreflightErrors", "/imagePullPolicy", "/imagePullSerial"}, rest):
	case rest == "/taints":
		taints := []corev1.Taint(nil)
		if !gone {
			taints = p.taintList(p.o, p.span, value)
		}
		p.edit(document, op, func(r *registration) { r.taints = taints })
	case rest == "/taints/-" && !gone:
		var t corev1.Taint
		if found := p.decoder.Decode(value, &t); len(found) > 0 {
			p.misfitsAt(p.o, p.span, found)
			return
		}
		p.taint(p.o, p.span(op), t)
		p.edit(document, op, func(r *registration) { r.taints = append(slices.Clip(r.taints), t) })
	case rest == "/kubeletExtraArgs" && !gone:
		p.edit(document, op, func(r *registration) { r.labels, r.flagged, r.hasFlag = nil, nil, false })
		p.args(document, value)
	case flag == "-" && !gone:
		before := len(p.edits)
		p.arg(document, value.Get("name").Text(), value.Get("value"), op)
		for i := range p.edits[before:] { // the flag is repeated, so its labels add up
			e := &p.edits[before+i]
			set := e.apply
			e.apply = func(r *registration) {
				was := r.labels
				set(r)
				r.labels = merged(was, r.labels)
			}
		}
	case isFlag && !number && flag != "-":
		p.arg(document, flag, value, op) // remove has no value
	default:
		p.refuse(op, "%s is not read: expected a path such as /nodeRegistration/taints or /nodeRegistration/kubeletExtraArgs/node-labels", path)
	}
}

// merged returns the union of two maps, in which b wins.
func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	if all == nil {
		return b
	}
	maps.Copy(all, b)
	return all
}
