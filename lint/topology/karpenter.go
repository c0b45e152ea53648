package topology

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
)

// nodePool is a NodePool of Karpenter. Fields with a Node decide nothing about labels, taints or the
// number of nodes (kubernetes-sigs/karpenter 226646810 pkg/apis/v1/nodepool.go; R-S17).
type nodePool struct {
	Metadata karpenterMeta `json:"metadata"`
	Spec     struct {
		Template struct {
			Metadata karpenterMeta `json:"metadata"`
			Spec     struct {
				Taints       *source.Node           `json:"taints"`
				Requirements []karpenterRequirement `json:"requirements"`
				NodeClassRef struct {
					Group      string       `json:"group"`
					Kind       string       `json:"kind"`
					Name       string       `json:"name"`
					APIVersion *source.Node `json:"apiVersion"`
				} `json:"nodeClassRef"`

				StartupTaints *source.Node `json:"startupTaints"` // Karpenter expects them to go
				Kubelet       *source.Node `json:"kubelet"`
				Resources     *source.Node `json:"resources"`
				Grace         *source.Node `json:"terminationGracePeriod"`
				ExpireAfter   *source.Node `json:"expireAfter"`
			} `json:"spec"`
		} `json:"template"`
		Limits   map[string]resource.Quantity `json:"limits"`
		Replicas *int                         `json:"replicas"`

		Disruption *source.Node `json:"disruption"`
		Weight     *source.Node `json:"weight"`
	} `json:"spec"`

	APIVersion *source.Node `json:"apiVersion"`
	Kind       *source.Node `json:"kind"`
	Status     *source.Node `json:"status"`
}

type karpenterMeta struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

type karpenterRequirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
	// MinValues keeps Karpenter from adding nodes if too few instance types are left for a pod, and may
	// be relaxed (pkg/controllers/provisioning/scheduling/nodeclaim.go,
	// filterInstanceTypesByRequirements). It refuses no node that exists.
	MinValues *int `json:"minValues"`
}

// NodePool is the node label with the name of the NodePool that Karpenter made the node for.
const NodePool = "karpenter.sh/nodepool"

// anyValue lists the labels that Karpenter and its cloud providers set to values that a NodePool need
// not name. An entry that ends in a slash stands for all keys of a domain
// (kubernetes-sigs/karpenter 226646810 pkg/apis/v1/labels.go, WellKnownLabels).
func anyValue() []string {
	return []string{
		corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelInstanceTypeStable, corev1.LabelArchStable,
		corev1.LabelOSStable, "karpenter.sh/capacity-type", corev1.LabelWindowsBuild,
		"karpenter.k8s.aws/", "topology.k8s.aws/", "eks.amazonaws.com/", "k8s.io/cloud-provider-aws", "topology.ebs.csi.aws.com/zone",
		"karpenter.azure.com/", "kubernetes.azure.com/", "topology.disk.csi.azure.com/zone",
		"karpenter.k8s.gcp/", "cloud.google.com/", "topology.gke.io/zone", "karpenter.k8s.alibabacloud/", "karpenter.k8s.oracle/",
	}
}

// onEveryNode counts the labels at the start of anyValue that each node has.
const onEveryNode = 6

// drawn is the entry of Topology.open for all keys that a NodePool does not declare. No label has it as
// its key.
const drawn = "*"

// mostSamples is the maximum number of samples of a NodePool's nodes.
const mostSamples = 64

// allowed holds the values that a NodePool lets a label have. The label is open if it may have others,
// and set if it is a label of the template.
type allowed struct {
	open, set bool
	values    []string
	rules     []karpenterRequirement // what an open label has to meet
}

// karpenter reads a NodePool as a pool that starts empty and may grow to any size. Karpenter makes a
// node for a pod only if the NodePool defines each label that the pod selects, unless it is one of
// anyValue (kubernetes-sigs/karpenter 226646810 pkg/scheduling/requirements.go, Compatible).
func (l *loader) karpenter(o *source.Object) {
	var in nodePool
	if found := l.decoder.Decode(o.Root, &in); len(found) > 0 {
		l.misfits(o, found)
		return
	}
	before, name, template, class := len(l.errs), in.Metadata.Name, o.Root.At("spec", "template"), in.Spec.Template.Spec.NodeClassRef
	if first, twice := l.pooled[name]; twice {
		l.fail(o, o.NameSpan(), "NodePool %s is declared twice, for the first time at %s", name, first)
		return
	}
	l.pooled[name] = l.place(o, o.NameSpan())
	l.labels(o, "NodePool "+name, template.Get("metadata"))
	if l.label(o, o.NameSpan(), "NodePool "+name, NodePool, name); name == "" {
		l.fail(o, o.NameSpan(), "a NodePool needs metadata.name")
	}
	may := map[string]*allowed{}
	labels := maps.Clone(in.Spec.Template.Metadata.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	// pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go, NewNodeClaimTemplate
	labels[NodePool], labels["karpenter.sh/registered"], labels["karpenter.sh/initialized"] = name, "true", "true"
	if len(validation.IsValidLabelValue(class.Name)) == 0 && class.Group != "" {
		labels[class.Group+"/"+strings.ToLower(class.Kind)] = class.Name
	}
	for _, key := range sorting.Keys(labels) {
		r := karpenterRequirement{Key: key, Operator: "In", Values: []string{labels[key]}}
		if r.restrict(may) {
			l.fail(o, o.NameSpan(), "NodePool %s: its labels set %s to two different values", name, normalized(key))
		}
		may[normalized(key)].set = true
	}
	items := template.At("spec", "requirements").Items()
	for i := range 2 * len(items) { // those with values first
		item, r := items[i%len(items)], in.Spec.Template.Spec.Requirements[i%len(items)]
		if (r.Operator == string(corev1.NodeSelectorOpIn)) != (i < len(items)) {
			continue
		}
		if why := r.wrong(); why != "" {
			l.fail(o, at(o, item, "operator", "key"), "NodePool %s: requirement on %s: %s", name, r.Key, why)
			continue
		}
		for _, v := range r.Values {
			l.label(o, at(o, item, "values"), "NodePool "+name, r.Key, v)
		}
		if r.restrict(may) {
			l.fail(o, at(o, item, "values", "operator"), "NodePool %s: no node can meet its requirements on %s", name, r.Key)
		}
	}
	if may[corev1.LabelOSStable] == nil && l.linux(template.At("spec", "nodeClassRef")) {
		may[corev1.LabelOSStable], may[corev1.LabelWindowsBuild] = &allowed{values: []string{"linux"}}, &allowed{}
	}
	pool := &Pool{Name: name, Max: Unbounded, MinValues: slices.ContainsFunc(in.Spec.Template.Spec.Requirements, func(r karpenterRequirement) bool { return r.MinValues != nil }), Span: o.NameSpan(), Declaration: Declaration{o.File, template.Get("spec")}}
	for resource, limit := range in.Spec.Limits {
		// A machine without GPUs does not exceed a limit of 0 GPUs (scheduler.go, filterByRemainingResources).
		if resource == "nodes" || limit.IsZero() && slices.Contains([]string{"cpu", "memory", "pods", "ephemeral-storage"}, resource) {
			pool.Max = int(min(max(limit.Value(), 0), int64(pool.Max)))
		}
	}
	if n := in.Spec.Replicas; n != nil {
		pool.Count, pool.Min, pool.Max = *n, *n, *n
	}
	if pool.Count < 0 || pool.Max > maxNodes {
		l.fail(o, at(o, o.Root.Get("spec"), "replicas"), "NodePool %s: expected 0 to %d replicas, found %d", name, maxNodes, pool.Count)
	}
	taints := l.taintList(o, o.File.Span, in.Spec.Template.Spec.Taints)
	if len(l.errs) == before {
		l.karpenterNodes(o, pool, taints, may, strings.Join([]string{class.Group, class.Kind, class.Name}, "/"))
	}
}

// linux reports whether the nodes of a node class run Linux: all of EKS Auto Mode, and those of a
// class in the node files that does not mention Windows (aws/karpenter-provider-aws 027ed241
// pkg/providers/instancetype/types.go, getOS).
func (l *loader) linux(class *source.Node) bool {
	of := l.find(class.Get("kind").Text(), class.Get("name").Text(), "")
	return class.Get("group").Text() == "eks.amazonaws.com" || of != nil && !mentions(of.Root, "windows")
}

// karpenterNodes adds the nodes of a NodePool: a sample for each combination of values, up to
// mostSamples. Labels with more values are not known, and neither is which nodes have which values if
// their number is fixed.
func (l *loader) karpenterNodes(o *source.Object, pool *Pool, taints []corev1.Taint, may map[string]*allowed, class string) {
	p := &PoolSpec{Name: pool.Name, Taints: taints, Labels: map[string]string{}, UnknownLabels: []string{drawn}}
	for _, key := range anyValue() {
		if may[key] == nil {
			p.UnknownLabels = append(p.UnknownLabels, key)
		}
	}
	if may[corev1.LabelTopologyZone] == nil {
		p.choices = append(p.choices, choice{key: corev1.LabelTopologyZone, provided: true, class: class})
	}
	samples, keys := []map[string]string{{}}, slices.Collect(maps.Keys(may))
	slices.SortFunc(keys, func(a, b string) int { // those with few values first
		return cmp.Or(cmp.Compare(len(may[a].values), len(may[b].values)), strings.Compare(a, b))
	})
	for _, key := range keys {
		switch a := may[key]; {
		case !a.open && len(a.values) == 0: // no node has the label
		// Karpenter does not set a label to "" for a requirement (requirement.go, Any).
		case a.open:
			p.UnknownLabels, p.choices = append(p.UnknownLabels, key), append(p.choices, choice{key, a.rules, provided(key), class})
		case !a.set && slices.Contains(a.values, ""), len(samples)*len(a.values) > mostSamples, pool.Count > 0 && len(a.values) > 1:
			p.UnknownLabels = append(p.UnknownLabels, key)
		case len(a.values) == 1:
			p.Labels[key] = a.values[0]
		default:
			var more []map[string]string
			for _, s := range samples {
				for _, v := range a.values {
					labels := maps.Clone(s)
					labels[key] = v
					more = append(more, labels)
				}
			}
			samples = more
		}
	}
	for _, labels := range samples {
		variant := *p
		variant.Labels = maps.Clone(p.Labels)
		maps.Copy(variant.Labels, labels)
		variant.Name = strings.Join(slices.Concat([]string{pool.Name}, valuesOf(labels)), "-")
		l.pool(o, pool, &variant)
	}
}

func valuesOf(labels map[string]string) []string {
	return lists.Of(sorting.Keys(labels), func(key string) string { return labels[key] })
}

// wrong says what the API server refuses about a requirement, or returns "".
func (r *karpenterRequirement) wrong() string {
	number := func(v string) bool { n, err := strconv.Atoi(v); return err == nil && n >= 0 }
	switch r.Operator {
	case "In":
		if len(r.Values) == 0 || r.MinValues != nil && *r.MinValues > len(r.Values) {
			return "In needs values, at least as many as minValues"
		}
	case "NotIn", "Exists", "DoesNotExist":
	case "Gt", "Lt", "Gte", "Lte":
		if len(r.Values) != 1 || !number(r.Values[0]) {
			return r.Operator + " needs one number that is not negative"
		}
	default:
		return strconv.Quote(r.Operator) + ": expected In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte"
	}
	return ""
}

// normalized returns the key that Karpenter reads for a key with the same values
// (kubernetes-sigs/karpenter 226646810 pkg/apis/v1/labels.go, NormalizedLabels).
func normalized(key string) string {
	if current := cmp.Or(deprecated[key], storage.TopologyKey(key)); slices.Contains(anyValue(), current) {
		return current
	}
	return key
}

// restrict removes the values that a requirement excludes, and reports whether that leaves none for a
// label of the template or one that every node has. Nodes just lack other labels without values
// (kubernetes-sigs/karpenter 226646810 pkg/scheduling/requirement.go, Intersection).
func (r *karpenterRequirement) restrict(may map[string]*allowed) (none bool) {
	key := normalized(r.Key)
	a := may[key]
	if a == nil {
		a = &allowed{open: true}
		may[key] = a
	}
	had := a.open || len(a.values) > 0
	switch {
	case a.open && r.Operator == "In":
		a.open, a.values = false, slices.Compact(slices.Sorted(slices.Values(r.Values)))
	case a.open && r.Operator == "DoesNotExist":
		a.open = false
	case a.open:
		a.rules = append(a.rules, *r)
	default:
		a.values = slices.DeleteFunc(a.values, r.excludes)
	}
	return had && !a.open && len(a.values) == 0 && (a.set || slices.Contains(anyValue()[:onEveryNode], key))
}

// excludes reports whether a label with the value fails the requirement.
func (r *karpenterRequirement) excludes(v string) bool {
	switch r.Operator {
	case "In":
		return !slices.Contains(r.Values, v)
	case "NotIn":
		return slices.Contains(r.Values, v)
	case "Exists":
		return false
	case "DoesNotExist":
		return true
	}
	n, err := strconv.Atoi(v)
	bound, _ := strconv.Atoi(r.Values[0])
	order := cmp.Compare(n, bound)
	return err != nil || r.Operator == "Gt" && order <= 0 || r.Operator == "Gte" && order < 0 || r.Operator == "Lt" && order >= 0 || r.Operator == "Lte" && order > 0
}
