package topology

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
)

// talosGroup is the group of documents of Talos, which have no kind.
const talosGroup = "talos.dev"

// talosWhole says what to name instead of a patch.
const talosWhole = " the files that talhelper genconfig or talosctl machineconfig patch writes"

// Instead says what to name instead of files that declare no nodes, or returns "".
func Instead(files []*source.File) string {
	patches := func(f *source.File) bool {
		return slices.ContainsFunc([]string{"machine:", "/machine/", "apiVersion: v1alpha1"}, func(word string) bool { return bytes.Contains(f.Text, []byte(word)) })
	}
	if slices.ContainsFunc(files, patches) {
		return "; instead of a patch of a Talos configuration, name" + talosWhole
	}
	return ""
}

// talosNode holds what a machine configuration says about its node (siderolabs/talos ad882317
// pkg/machinery/config/types/v1alpha1/v1alpha1_k8s_bridge.go; R-S14).
type talosNode struct {
	name, arch string
	control    bool
	// own is set if a KubeNodeConfig lists all labels and taints, those of a control plane too.
	own bool
	// fqdn is set if the node is named after its host and domain.
	fqdn              bool
	onControl, onMain *bool // allowSchedulingOnControlPlanes and its old name
	labels            map[string]string
	taints            map[string]corev1.Taint
	open              []string // keys of labels whose values are not known
}

// talosDocument holds the fields that decide about nodes. Fields with a Node also do, or resemble
// such fields (siderolabs/talos ad882317 pkg/machinery/config/types/v1alpha1/v1alpha1_types.go).
type talosDocument struct {
	Machine struct {
		Type        string       `json:"type"`
		Labels      *source.Node `json:"nodeLabels"`
		Taints      *source.Node `json:"nodeTaints"`
		Kubelet     talosKubelet `json:"kubelet"`
		Annotations *source.Node `json:"nodeAnnotations"`
		Network     struct {
			Hostname string `json:"hostname"`
		} `json:"network"`
	} `json:"machine"`
	Cluster struct {
		OnControl     *bool `json:"allowSchedulingOnControlPlanes"`
		OnMain        *bool `json:"allowSchedulingOnMasters"`
		CloudProvider struct {
			Enabled bool `json:"enabled"`
		} `json:"externalCloudProvider"`
	} `json:"cluster"`
}

// talosKubelet is machine.kubelet or a KubeletConfig.
type talosKubelet struct {
	FQDN   bool         `json:"registerWithFQDN"`
	Skip   bool         `json:"skipNodeRegistration"`
	Args   *source.Node `json:"extraArgs"`
	Extra  *source.Node `json:"extraConfig"`
	Config *source.Node `json:"config"` // extraConfig of a KubeletConfig
	Mounts *source.Node `json:"extraMounts"`
}

// talosKubeNode is a KubeNodeConfig, which replaces fields of machine and cluster
// (siderolabs/talos ad882317 pkg/machinery/config/types/k8s/node.go).
type talosKubeNode struct {
	FQDN        bool         `json:"registerWithFQDN"`
	Skip        bool         `json:"skipNodeRegistration"`
	Labels      *source.Node `json:"labels"`
	Taints      *source.Node `json:"taints"`
	Annotations *source.Node `json:"annotations"`
}

// talos reads the machine configuration of a node, and the other documents of its file.
func (l *loader) talos(o *source.Object) {
	before, n := len(l.errs), newTalosNode()
	for _, root := range o.File.Roots() {
		l.talosDocument(o, o.File.Span, root, n)
	}
	switch kind := o.Root.At("machine", "type").Text(); kind {
	case "controlplane", "init":
		n.control = true
	case "worker", "join":
	case "":
		l.fail(o, o.File.Span(o.Root.Get("machine")), "machine.type is missing: expected controlplane or worker, or instead of a patch%s", talosWhole)
	default:
		l.fail(o, o.File.Span(o.Root.Get("machine")), "machine.type is %q: expected controlplane or worker", kind)
	}
	if len(l.errs) == before {
		l.talosNode(o, o.Root, o.File.Span(o.Root), n)
	}
}

func newTalosNode() *talosNode {
	return &talosNode{labels: map[string]string{}, taints: map[string]corev1.Taint{}}
}

// talosDocument reads a document of a machine configuration, or a patch that is merged into it.
func (l *loader) talosDocument(o *source.Object, at func(*source.Node) diag.Span, root *source.Node, n *talosNode) {
	if k, _ := root.Field("$patch"); k != nil {
		l.fail(o, at(k), "$patch is not read: declare this node in a NodeTopology")
		return
	}
	switch kind := root.Get("kind").Text(); kind {
	case "":
		var in talosDocument
		if !l.decides(o, at, root, &in) {
			return
		}
		n.hostname(in.Machine.Network.Hostname)
		l.talosLabels(o, at, in.Machine.Labels, n)
		l.talosTaints(o, at, in.Machine.Taints, n)
		l.talosKubelet(o, at, root.At("machine", "kubelet"), &in.Machine.Kubelet, n)
		if v := in.Cluster.OnControl; v != nil {
			n.onControl = v
		}
		if v := in.Cluster.OnMain; v != nil {
			n.onMain = v
		}
		if in.Cluster.CloudProvider.Enabled {
			n.open = append(n.open, cloudLabels...)
		}
	case "HostnameConfig":
		n.hostname(root.Get("hostname").Text())
	case "KubeletConfig":
		var in talosKubelet
		if l.decides(o, at, root, &in) {
			l.talosKubelet(o, at, root, &in, n)
		}
	case "KubeNodeConfig":
		var in talosKubeNode
		if n.own = true; l.decides(o, at, root, &in) {
			l.talosLabels(o, at, in.Labels, n)
			l.talosTaints(o, at, in.Taints, n)
			l.talosKubelet(o, at, root, &talosKubelet{FQDN: in.FQDN, Skip: in.Skip}, n)
		}
	}
}

// talosKubelet refuses what decides labels and taints apart from the fields for them.
func (l *loader) talosKubelet(o *source.Object, at func(*source.Node) diag.Span, item *source.Node, in *talosKubelet, n *talosNode) {
	n.fqdn = n.fqdn || in.FQDN
	refuse := func(of *source.Node, fields ...string) {
		for _, field := range fields {
			if k, _ := of.Field(field); k != nil {
				l.fail(o, at(k), "%s is not read: use nodeLabels and nodeTaints, or declare this node in a NodeTopology", field)
			}
		}
	}
	if in.Skip {
		refuse(item, "skipNodeRegistration")
	}
	refuse(in.Args, "node-labels", "register-with-taints", "register-node", "hostname-override")
	refuse(in.Extra, "registerWithTaints", "registerNode")
	refuse(in.Config, "registerWithTaints", "registerNode")
	if in.Args.Get("cloud-provider") != nil {
		n.open = append(n.open, cloudLabels...)
	}
}

// talosLabels adds labels, or deletes them. The value of a template is not known.
func (l *loader) talosLabels(o *source.Object, at func(*source.Node) diag.Span, labels *source.Node, n *talosNode) {
	for k, v := range labels.Fields() {
		delete(n.labels, k.Value)
		switch {
		case strings.HasSuffix(v.Get("$patch").Text()+v.Get("$$patch").Text(), "delete"):
		case v.Kind != source.Scalar:
			l.fail(o, at(k), "label %s: expected a string", k.Value)
		case strings.Contains(v.Value, "{{"):
			n.open = append(n.open, k.Value)
		default:
			l.label(o, at(k), "nodeLabels", k.Value, labelValue(v))
			n.labels[k.Value] = labelValue(v)
		}
	}
}

// labelValue returns the value of a label, which may be any scalar.
func labelValue(v *source.Node) string {
	if v.IsNull() {
		return ""
	}
	return v.Value
}

func (l *loader) talosTaints(o *source.Object, at func(*source.Node) diag.Span, taints *source.Node, n *talosNode) {
	for _, t := range l.taintMap(o, at, taints) {
		n.taints[t.Key] = t
	}
}

func (n *talosNode) hostname(name string) {
	if name != "" {
		n.name = name
	}
}

// talosNode adds a node.
func (l *loader) talosNode(o *source.Object, item *source.Node, span diag.Span, n *talosNode) {
	name, _, domain := strings.Cut(n.name, ".")
	if domain && n.fqdn {
		name = n.name
	}
	if name = strings.ToLower(name); len(validation.IsDNS1123Subdomain(name)) > 0 {
		l.fail(o, span, "a Talos node needs a hostname, found %q: declare nodes whose names are not known in a NodeTopology", name)
		return
	}
	labels := map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", betaOS: "linux", Cluster: Cluster}
	open := append(n.open, "extensions.talos.dev/")
	if n.arch == "" {
		open = append(open, corev1.LabelArchStable, betaArch)
	} else {
		labels[corev1.LabelArchStable], labels[betaArch] = n.arch, n.arch
	}
	if n.control {
		open = append(open, corev1.LabelNodeExcludeBalancers)
	}
	if keys := slices.Collect(maps.Keys(n.labels)); n.control || !slices.ContainsFunc(keys, restricted) {
		maps.Copy(labels, n.labels)
	} else {
		open = append(open, keys...)
	}
	if n.control && !n.own {
		labels[controlPlane] = ""
		if on := [...]*bool{n.onControl, n.onMain}; (on[0] == nil || !*on[0]) && (on[0] != nil || on[1] == nil || !*on[1]) {
			n.taints[controlPlane] = corev1.Taint{Key: controlPlane, Effect: corev1.TaintEffectNoSchedule}
		}
	}
	taints := lists.Of(sorting.Keys(n.taints), func(key string) corev1.Taint { return n.taints[key] })
	for _, key := range open {
		delete(labels, key)
	}
	node := &Node{Name: name, Labels: labels, Taints: taints, Span: span, Declaration: Declaration{o.File, item}}
	l.topo.mayHave(node, open...)
	l.add(o, node)
}

// restricted reports whether a worker must not give itself a label. The API server then rejects all
// labels that Talos sets on it (plugin/pkg/admission/noderestriction/admission.go,
// getForbiddenLabels; siderolabs/talos ad882317
// internal/app/machined/pkg/controllers/k8s/node_apply.go).
func restricted(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	_, old := deprecated[key]
	return within(domain, "kubernetes.io", "k8s.io") && !within(domain, "kubelet.kubernetes.io", "node.kubernetes.io") && !slices.Contains(wellKnown(), key) && (!old || key == LabelMaster)
}

// within reports whether a domain is one of others or of their subdomains.
func within(domain string, domains ...string) bool {
	return slices.ContainsFunc(domains, func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) })
}
