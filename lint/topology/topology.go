package topology

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Node is one node with the properties that the scheduler reads (R-S1).
type Node struct {
	Name          string
	Labels        map[string]string
	Taints        []corev1.Taint
	Unschedulable bool
	// Allocatable is the capacity that pods may use; nil if the node declares neither allocatable
	// nor capacity.
	Allocatable corev1.ResourceList
	// Whole is set if Allocatable names every native resource of the node.
	Whole bool
	// Extended is that of the topology.
	Extended *Extended
	// Pool is the pool that the node belongs to, or nil.
	Pool *Pool
	// Span is the location of the declaration of the node or its pool.
	Span diag.Span
	// Declaration is the v1 Node, or the entry of the pool in its NodeTopology.
	Declaration Declaration
}

// Declaration is the object or list item that declares a node or a pool.
type Declaration struct {
	File *source.File
	Node *source.Node
}

// Taints returns the taints as written, or nil.
func (d *Declaration) Taints() *source.Node {
	if spec := d.Node.Get("spec"); spec != nil {
		return spec.Get("taints")
	}
	return d.Node.Get("taints")
}

// Pool is a set of equal nodes whose number may change.
type Pool struct {
	Name            string
	Count, Min, Max int
	Span            diag.Span
	Declaration     Declaration
}

// Growth is the room that a pool has in one of its zones: up to Extra more nodes like Node. The
// zones of a pool share its Extra.
type Growth struct {
	Node  *Node
	Extra int
}

// Topology has all nodes of one cluster.
type Topology struct {
	Nodes  []*Node
	Growth []Growth
	// Extended has the extended resources that are listed; all nodes share it.
	Extended *Extended
	// Notes are irregularities that the user should know, as complete sentences.
	Notes []string

	keys []string // of the labels, sorted; nil if not yet known
}

// Empty reports whether no node is declared and no pool can grow.
func (t *Topology) Empty() bool { return t == nil || len(t.Nodes) == 0 && len(t.Growth) == 0 }

// Elastic reports whether some pool may grow.
func (t *Topology) Elastic() bool { return t != nil && len(t.Growth) > 0 }

// AllNodeLabels returns the labels of every node and of every pool that may grow.
func (t *Topology) AllNodeLabels() []map[string]string {
	var all []map[string]string
	for _, n := range t.Nodes {
		all = append(all, n.Labels)
	}
	for _, g := range t.Growth {
		all = append(all, g.Node.Labels)
	}
	return all
}

// wellKnown returns the labels that kubelets and cloud controllers set (R-V42, R-S2), most used
// first, because a near miss is resolved to the first match.
func wellKnown() []string {
	return []string{
		corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelOSStable, corev1.LabelArchStable,
		corev1.LabelInstanceTypeStable, corev1.LabelWindowsBuild, corev1.LabelNodeExcludeBalancers,
	}
}

// LabelMaster is the old label of control-plane nodes, which OpenShift still sets.
const LabelMaster = "node-role.kubernetes.io/master"

// Deprecated labels that every node has.
const (
	betaOS   = "beta.kubernetes.io/os"
	betaArch = "beta.kubernetes.io/arch"
)

// deprecated maps labels that the API server warns about, or that nothing sets any more, to their
// replacements (R-V41).
var deprecated = map[string]string{
	betaArch:                            corev1.LabelArchStable,
	betaOS:                              corev1.LabelOSStable,
	corev1.LabelInstanceType:            corev1.LabelInstanceTypeStable,
	corev1.LabelFailureDomainBetaZone:   corev1.LabelTopologyZone,
	corev1.LabelFailureDomainBetaRegion: corev1.LabelTopologyRegion,
	LabelMaster:                         "node-role.kubernetes.io/control-plane",
	"app.kubernetes.io/created-by":      "app.kubernetes.io/managed-by",
	"scheduler.alpha.kubernetes.io/preferAvoidPods": "",
}

// Deprecated reports whether a node label key is deprecated, and returns its replacement.
func Deprecated(key string) (replacement string, is bool) {
	replacement, is = deprecated[key]
	return replacement, is
}

// Uncertain reports whether nodes of pools may have a label that no pool declares: a cloud provider
// sets it beside its replacement, which they have (k8s.io/cloud-provider,
// controllers/node/node_controller.go; R-S11).
func (t *Topology) Uncertain(key string) bool {
	switch key {
	case corev1.LabelInstanceType, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion:
	default:
		return false
	}
	may := func(n *Node) bool {
		_, has := n.Labels[key]
		_, replaced := n.Labels[deprecated[key]]
		return n.Pool != nil && replaced && !has
	}
	return t != nil && (slices.ContainsFunc(t.Nodes, may) || slices.ContainsFunc(t.Growth, func(g Growth) bool { return may(g.Node) }))
}

// Known reports whether a node label key is plausible: well known, deprecated, of a family that
// anyone may set, or in a domain of the user's own. Keys that claim to be Kubernetes' own and are
// not (R-V42), and bare or misspelt forms of well-known keys, are not known.
func Known(key string) bool {
	if slices.Contains(wellKnown(), key) {
		return true
	}
	if _, old := deprecated[key]; old {
		return true
	}
	domain, name, ok := strings.Cut(key, "/")
	if !ok {
		return !slices.Contains([]string{"hostname", "zone", "region"}, key)
	}
	switch domain {
	case "node-role.kubernetes.io":
		return true
	case "kubernetes.io", "k8s.io", "topology.kubernetes.io", "failure-domain.beta.kubernetes.io", "beta.kubernetes.io",
		"failure-domain.kubernetes.io", "topology.beta.kubernetes.io", "failure-domain.alpha.kubernetes.io":
		return false
	}
	ours := strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io")
	return ours || name == "" || diag.Nearest(domain, []string{"kubernetes.io", "topology.kubernetes.io"}) == ""
}

// Suggest returns the key that was probably meant, or "": one with the same name under another
// domain, or one that differs in a few letters. Labels of the declared nodes are preferred to
// well-known ones.
func (t *Topology) Suggest(key string) string {
	if r := deprecated[key]; r != "" {
		return r
	}
	candidates := wellKnown()
	if !t.Empty() {
		if keys := t.labelKeys(); len(keys) > 0 {
			candidates = slices.DeleteFunc(candidates, func(k string) bool { return !slices.Contains(keys, k) })
			candidates = append(candidates, keys...)
		}
	}
	name := key[strings.LastIndexByte(key, '/')+1:]
	for _, c := range candidates {
		if c != key && c[strings.LastIndexByte(c, '/')+1:] == name {
			return c
		}
	}
	return diag.Nearest(key, candidates)
}

// labelKeys returns the keys of all labels that are worth suggesting, sorted.
func (t *Topology) labelKeys() []string {
	if t.keys != nil {
		return t.keys
	}
	seen := map[string]bool{}
	for _, labels := range t.AllNodeLabels() {
		for k := range labels {
			if _, old := deprecated[k]; !old {
				seen[k] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// Keys returns the number of label keys of the nodes, which determines the cost of Suggest.
func (t *Topology) Keys() int {
	if t.Empty() {
		return 0
	}
	return len(t.labelKeys())
}

// Extended has the extended resources (R-N26) that the nodes and pools of a topology list. A
// resource that none of them lists may still come from a scheduler extender or from dynamic
// resource allocation (R-N27), so the lists are incomplete unless the configuration declares them
// complete. A nil Extended means complete lists.
type Extended struct {
	// Complete is set if every list of allocatable names all resources of its node.
	Complete bool
	listed   map[corev1.ResourceName]bool
}

// Known reports whether a node that does not list a resource certainly lacks it: another node or
// pool lists it, or all lists are complete.
func (x *Extended) Known(name corev1.ResourceName) bool {
	return x == nil || x.Complete || x.listed[name]
}

// Names returns the resources with a domain that some node or pool lists, sorted.
func (x *Extended) Names() []string {
	if x == nil {
		return nil
	}
	var names []string
	for name := range x.listed {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

// add records a list of allocatable.
func (x *Extended) add(list corev1.ResourceList) {
	for name := range list {
		if strings.Contains(string(name), "/") {
			x.listed[name] = true
		}
	}
}

// isWhole reports whether a Node's list is whole, so that a native resource missing from it is 0
// (R-N23). An API server sets metadata.uid, which is not written by hand. Without it the list
// counts as whole if it has the resources that a kubelet reports for every node
// (pkg/kubelet/nodestatus/setters.go MachineInfo). A shorter list may be written by hand, with the
// resources that matter to its author.
func isWhole(uid string, list corev1.ResourceList) bool {
	if len(list) == 0 {
		return false
	}
	reported := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods}
	return uid != "" || !slices.ContainsFunc(reported, func(name corev1.ResourceName) bool {
		_, ok := list[name]
		return !ok
	})
}
