package topology

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
)

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
