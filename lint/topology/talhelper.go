package topology

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/source"
)

// talhelperConfig holds the fields of a talconfig.yaml that decide about nodes
// (budimanjojo/talhelper 39b69792 pkg/config/config.go; R-S14).
type talhelperConfig struct {
	OnControl    bool            `json:"allowSchedulingOnControlPlanes"`
	OnMain       bool            `json:"allowSchedulingOnMasters"`
	Patches      []*source.Node  `json:"patches"`
	Nodes        []talhelperNode `json:"nodes"`
	ControlPlane talhelperGroup  `json:"controlPlane"`
	Worker       talhelperGroup  `json:"worker"`
}

type talhelperNode struct {
	Hostname        string       `json:"hostname"`
	ControlPlane    bool         `json:"controlPlane"`
	IgnoreHostname  bool         `json:"ignoreHostname"`
	OverridePatches bool         `json:"overridePatches"`
	Manifests       *source.Node `json:"overrideExtraManifests"` // only resembles such a field
	talhelperGroup
}

type talhelperGroup struct {
	Labels      *source.Node   `json:"nodeLabels"`
	Taints      *source.Node   `json:"nodeTaints"`
	Annotations *source.Node   `json:"nodeAnnotations"` // only resembles such a field
	Patches     []*source.Node `json:"patches"`
	MachineSpec struct {
		Arch string `json:"arch"`
	} `json:"machineSpec"`
}

// talhelper reads the nodes of a talconfig.yaml (budimanjojo/talhelper 39b69792
// pkg/config/nodeconfigs.go, pkg/generate/config.go).
func (l *loader) talhelper(o *source.Object) {
	var in talhelperConfig
	if !l.decides(o, o.File.Span, o.Root, &in) {
		return
	}
	for i, item := range o.Root.Get("nodes").Items() {
		before, n, node := len(l.errs), newTalosNode(), &in.Nodes[i]
		group, own := &in.Worker, node.talhelperGroup
		if n.control = node.ControlPlane; n.control {
			group = &in.ControlPlane
		}
		if own.Labels.IsNull() {
			own.Labels = group.Labels
		}
		if own.Taints.IsNull() {
			own.Taints = group.Taints
		}
		if n.arch = own.MachineSpec.Arch; item.Get("machineSpec").IsNull() {
			n.arch = group.MachineSpec.Arch
		}
		if on := in.OnControl || in.OnMain; on {
			n.onControl = &on
		}
		l.talosLabels(o, o.File.Span, own.Labels, n)
		l.talosTaints(o, o.File.Span, own.Taints, n)
		if !node.OverridePatches || own.Patches == nil {
			own.Patches = slices.Concat(group.Patches, own.Patches)
		}
		if n.name = node.Hostname; node.IgnoreHostname {
			n.open = append(n.open, corev1.LabelHostname)
		}
		for _, p := range slices.Concat(own.Patches, in.Patches) {
			l.talhelperPatch(o, p, n)
		}
		n.own = false // talhelper writes the label and taint of a control plane itself
		if len(l.errs) == before {
			l.talosNode(o, item, at(o, item, "hostname"), n)
		}
	}
}

// talhelperPatch applies a patch, which may be in another file (budimanjojo/talhelper 39b69792
// pkg/patcher/patcher.go). A template counts if it may decide labels or taints.
func (l *loader) talhelperPatch(o *source.Object, block *source.Node, n *talosNode) {
	p := &patch{loader: l, o: o, block: block, text: source.NewFile(o.File.Name, o.File.Display, []byte(block.Text()))}
	if name, elsewhere := strings.CutPrefix(block.Text(), "@"); elsewhere {
		if p.text = l.beside(o, strings.TrimSpace(name)); p.text == nil {
			p.refuse(nil, "the patch %s cannot be read", name)
			return
		}
	}
	for _, root := range p.text.Numbered() {
		switch {
		case root == nil && mentions(&source.Node{Value: string(p.text.Text)}, talosWords...):
			p.refuse(nil, "the patch is not YAML, and may decide labels or taints")
			return
		case root == nil:
		case root.Kind == source.Sequence:
			for _, op := range root.Items() {
				if mentions(op, talosWords...) {
					p.refuse(op, "an operation on %s is not read: write it as a merge patch", op.Get("path").Text())
				}
			}
		default:
			l.talosDocument(o, p.span, root, n)
		}
	}
}

// talosWords holds what occurs in a patch that decides labels, taints or names, in lower case.
var talosWords = []string{
	"nodelabels", "nodetaints", "node-labels", "register", "nodereg", "hostname", "allowscheduling", "kubenodeconfig", "cloud-provider", "externalcloudprovider",
}
