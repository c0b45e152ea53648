package topology

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
)

// Cluster is the key of a topology with one domain, the whole cluster. Every Node has it among its
// labels. It is no valid key, so no manifest can name it.
const Cluster = "the whole cluster"

// Node holds the node properties that the scheduler reads (R-S1).
type Node struct {
	Name          string
	Labels        map[string]string
	Taints        []corev1.Taint
	Unschedulable bool
	// Allocatable is the capacity that pods of the manifests may use, or nil if the node declares neither
	// allocatable nor capacity.
	Allocatable corev1.ResourceList
	// Reserved holds what pods outside the manifests take. Allocatable is without it.
	Reserved corev1.ResourceList
	// Capacity holds the most that the node has of resources, before it reserves some of them. It counts
	// only for those that Allocatable does not list.
	Capacity corev1.ResourceList
	// Volumes holds how many volumes of each kind the node takes, by names that Attachable and
	// PersistentVolumes return. It takes any number of others.
	Volumes map[corev1.ResourceName]int64
	// Whole is set if Allocatable lists all of the node's native resources.
	Whole bool
	// Live is set if the API server wrote the Node, which then has all its labels, or if its pool
	// is said to be of such Nodes.
	Live bool
	// Extended holds the extended resources of the whole topology.
	Extended *Extended
	// Pool is the node's pool, or nil.
	Pool *Pool
	made map[string]bool // the labels whose values are made up
	// Span is the location of the declaration of the node or its pool.
	Span diag.Span
	// Declaration is the v1 Node, or the entry for the pool in a NodeTopology.
	Declaration Declaration
}

// The names of resources that count volumes. They differ from all names that a pod may request.
const (
	attachable = "volumes of "
	persistent = "PersistentVolumes of class "
)

// Attachable returns the name of the resource that counts the volumes of a CSI driver that are
// attached to a node (R-N45).
func Attachable(driver string) corev1.ResourceName { return corev1.ResourceName(attachable + driver) }

// Driver returns the CSI driver whose attached volumes a resource counts, or "".
func Driver(name corev1.ResourceName) string {
	if driver, is := strings.CutPrefix(string(name), attachable); is {
		return driver
	}
	return ""
}

// PersistentVolumes returns the name of the resource that counts PersistentVolumes that no claim
// holds (R-N46).
func PersistentVolumes(class string) corev1.ResourceName {
	return corev1.ResourceName(persistent + class)
}

// CountsVolumes reports whether a resource counts volumes of any kind.
func CountsVolumes(name corev1.ResourceName) bool { return Driver(name) != "" || Stocked(name) }

// Stocked reports whether a resource counts PersistentVolumes that no claim holds.
func Stocked(name corev1.ResourceName) bool { return strings.HasPrefix(string(name), persistent) }

// AtMost returns the most that a node has of a resource whose allocatable amount is not known.
func (n *Node) AtMost(name corev1.ResourceName) (most resource.Quantity, is bool) {
	if _, listed := n.Allocatable[name]; listed {
		return most, false
	}
	most, is = n.Capacity[name]
	return most, is
}

// Declaration is the object or list item that declares a node or a pool.
type Declaration struct {
	File *source.File
	Node *source.Node
}

// Taints returns the declared taints, or nil if there are none.
func (d *Declaration) Taints() *source.Node {
	if spec := d.Node.Get("spec"); spec != nil {
		return spec.Get("taints")
	}
	return d.Node.Get("taints")
}

// Sample reports whether the node stands for nodes of a NodePool that has none yet.
func (n *Node) Sample() bool {
	return n.Pool != nil && n.Pool.Count == 0 && n.Labels[NodePool] != ""
}

// Made reports whether a label's value is made up, because the NodePool names none.
func (n *Node) Made(key string) bool { return n.made[key] }

// Pool is a set of identical nodes whose number may change.
type Pool struct {
	Name            string
	Count, Min, Max int
	// MinValues is set if a pod that narrows the choice of a label may keep the pool from growing.
	MinValues bool
	// Mixed is set if the nodes of the pool may differ in more than their zone.
	Mixed       bool
	Spec        *PoolSpec
	Span        diag.Span
	Declaration Declaration
}

// Growth describes the nodes that a pool may add in one of its zones. Node is a sample of these
// nodes. Extra is the maximum number of nodes that the pool may add across all its zones.
type Growth struct {
	Node    *Node
	Extra   int
	choices []choice
}

// Topology holds all nodes in one cluster.
type Topology struct {
	Nodes  []*Node
	Growth []Growth
	Pools  []*Pool
	// Extended holds the extended resources that nodes and pools list. All nodes share it.
	Extended *Extended
	// Storage says where the volumes of StorageClasses can be used. Stored lists the volumes, volume
	// claims and StorageClasses that the cluster has. LoadFrom sets only those that come with it.
	Storage storage.Declared
	Stored  []*source.Object
	// Notes lists irregularities that the user should know about, each as one sentence.
	Notes []string

	keys []string // all label keys, sorted; nil until they are computed
	// open holds the keys of labels that some node may have although it does not declare them. An
	// entry that ends in a slash stands for all keys of a domain and its subdomains, except those that
	// all such nodes declare, which are its value. The entry "/" stands for all keys.
	open map[string]map[string]bool
	// opened counts the pools that leave a label open, and ruled holds the requirements of those that have
	// any. anyDomain holds the labels for which samples have two made-up values, which stand for any number
	// of values.
	opened    map[string]int
	ruled     map[string][][]karpenterRequirement
	anyDomain map[string]bool
	// named holds the names and hostnames of the nodes that are not of pools. It is nil if no node is of
	// a pool.
	named map[string]bool
}

// Empty reports whether the topology has no nodes and no pool that can grow.
func (t *Topology) Empty() bool { return t == nil || len(t.Nodes) == 0 && len(t.Growth) == 0 }

// Elastic reports whether any pool can grow.
func (t *Topology) Elastic() bool { return t != nil && len(t.Growth) > 0 }

// Only returns a topology of some of the nodes, or of nodes like them, that cannot grow.
func (t *Topology) Only(nodes []*Node) *Topology {
	return &Topology{Nodes: nodes, open: t.open, opened: t.opened, ruled: t.ruled, anyDomain: t.anyDomain, named: t.named}
}

// All returns all nodes, and a sample of the nodes that each pool may add.
func (t *Topology) All() []*Node {
	all := slices.Clone(t.Nodes)
	all = append(all, lists.Of(t.Growth, func(g Growth) *Node { return g.Node })...)
	return all
}

// AllNodeLabels returns the labels of all nodes, including nodes that pools may add.
func (t *Topology) AllNodeLabels() []map[string]string {
	return lists.Of(t.All(), func(n *Node) map[string]string { return n.Labels })
}

// wellKnown returns the labels that kubelets and cloud controllers set (R-V42, R-S2). The most
// common labels come first, because Suggest returns the first near miss.
func wellKnown() []string {
	return []string{
		corev1.LabelHostname, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelOSStable, corev1.LabelArchStable,
		corev1.LabelInstanceTypeStable, corev1.LabelWindowsBuild, corev1.LabelNodeExcludeBalancers,
	}
}

// LabelMaster is the old control-plane node label. OpenShift still sets it.
const LabelMaster = "node-role.kubernetes.io/master"

// Deprecated labels that every node still has.
const (
	betaOS   = "beta.kubernetes.io/os"
	betaArch = "beta.kubernetes.io/arch"
)

// notInService holds the keys of taints that say that a node is not in service: it is cordoned,
// broken, starting, or about to be deleted.
var notInService = []string{
	corev1.TaintNodeUnschedulable, // kubectl cordon
	// The node controller sets these from the conditions of the node
	// (pkg/controller/nodelifecycle/node_lifecycle_controller.go).
	corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure,
	corev1.TaintNodePIDPressure, corev1.TaintNodeNetworkUnavailable,
	corev1.TaintNodeOutOfService, // set by hand after a node was shut down
	// k8s.io/cloud-provider, api/well_known_taints.go
	"node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown",
	// cluster-autoscaler/utils/taints/taints.go
	"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler",
	// sigs.k8s.io/karpenter, pkg/apis/v1/taints.go and, for disruption, pkg/apis/v1beta1/taints.go
	"karpenter.sh/disrupted", "karpenter.sh/unregistered", "karpenter.sh/disruption",
}

// NotInService reports whether a taint says that its node is not in service.
func NotInService(key string) bool { return slices.Contains(notInService, key) }

// deprecated maps labels that are no longer set, or that the API server warns about, to their
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

// Deprecated reports whether a node label is deprecated, and returns its replacement.
func Deprecated(key string) (replacement string, is bool) {
	replacement, is = deprecated[key]
	return replacement, is
}

// Uncertain reports whether some node may have a label that it does not declare. A node of a pool
// with a zone, region or instance type label may also have the deprecated form of the label. Cloud
// providers set both forms (k8s.io/cloud-provider, controllers/node/node_controller.go; R-S11).
func (t *Topology) Uncertain(key string) bool {
	if t == nil || len(t.open) == 0 {
		return false
	}
	_, open := t.open[key]
	return open || t.openDomain(key)
}

// openDomain reports whether some node may have a label because all keys of its domain are open.
func (t *Topology) openDomain(key string) bool {
	for domain, _, _ := strings.Cut(key, "/"); ; _, domain, _ = strings.Cut(domain, ".") {
		for _, entry := range []string{domain + "/", domain + "/*"} {
			if declared, open := t.open[entry]; open && !declared[key] {
				return true
			}
		}
		if domain == "" {
			return false
		}
	}
}

// MadeUp reports whether one of the names may be that of a node of a pool. Their names are made up
// (R-S3).
func (t *Topology) MadeUp(names ...string) bool {
	return t.named != nil && slices.ContainsFunc(names, func(name string) bool { return !t.named[name] })
}

// Drawn reports whether a node may get a label with any number, because a pod avoids values of a key
// that a NodePool of Karpenter does not declare
// (pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go, resolveCustomLabelsFromRequirements;
// R-S17).
func (t *Topology) Drawn(key string) bool {
	declared, open := t.open[drawn]
	return open && !declared[key]
}

// featureLabels is the domain of the labels that Node Feature Discovery gives to nodes
// (node-feature-discovery: api/nfd/v1alpha1/annotations_labels.go).
const featureLabels = "feature.node.kubernetes.io/"

// Labels that the file of a cluster does not declare. A cloud provider adds the first, operators for
// hardware the others.
var (
	cloudLabels    = []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelInstanceTypeStable}
	operatorLabels = []string{featureLabels, "nvidia.com/"}
)

// featureLabel reports whether a key is in the domain of Node Feature Discovery or a subdomain.
func featureLabel(key string) bool {
	domain, _, _ := strings.Cut("."+key, "/")
	return strings.HasSuffix(domain+"/", "."+featureLabels)
}

// mayHave records keys of labels that a node may have although it does not declare them.
func (t *Topology) mayHave(n *Node, keys ...string) {
	for _, old := range []string{betaOS, betaArch, corev1.LabelInstanceType, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion} {
		_, has := n.Labels[deprecated[old]]
		if exact := n.Pool != nil && (n.Pool.Spec.Complete || n.Live); has && !exact || slices.Contains(keys, deprecated[old]) {
			keys = append(slices.Clip(keys), old)
		}
	}
	t.leaveOpen(n, keys)
}

func (t *Topology) leaveOpen(n *Node, keys []string) {
	for _, key := range keys {
		declared, before := t.open[key]
		_, has := n.Labels[key]
		if !has {
			t.opened[key]++
		}
		switch {
		case has:
		case !before:
			t.open[key] = map[string]bool{}
			for k := range n.Labels {
				t.open[key][k] = true
			}
		default:
			maps.DeleteFunc(declared, func(k string, _ bool) bool { _, has := n.Labels[k]; return !has })
		}
	}
}

// templated matches an action of a template. domains matches the domains of keys in a template
// without its actions.
var (
	templated = lazy.Regexp(`(?s)\{\{.*?\}\}`)
	domains   = lazy.Regexp(`[^\s{/]*/`)
)

// AddFeatureRules records the labels that NodeFeatureRules of Node Feature Discovery may give to
// nodes. A node may have any value for those that it does not declare
// (node-feature-discovery: pkg/nfd-master/nfd-master.go, addNsToMapKeys; R-S19).
func (t *Topology) AddFeatureRules(rules []*source.Object) {
	var keys []string
	for _, o := range rules {
		for _, rule := range o.Root.At("spec", "rules").Items() {
			for k := range rule.Get("labels").Fields() {
				key := k.Value
				if !strings.Contains(key, "/") {
					key = featureLabels + key
				}
				keys = append(keys, key)
			}
			if text := rule.Get("labelsTemplate").Text(); text != "" {
				keys = append(append(keys, featureLabels), domains().FindAllString(templated().ReplaceAllString(text, "{"), -1)...)
			}
		}
	}
	for _, n := range t.All() {
		t.leaveOpen(n, keys)
	}
}

// Open returns the keys of labels that some node may have although it does not declare them, sorted.
// An entry that ends in a slash stands for all keys of a domain. Labels that follow from the kinds of
// the pools are left out.
func (t *Topology) Open() []string {
	keys := sorting.Keys(t.open)
	return slices.DeleteFunc(keys, func(key string) bool { return strings.HasSuffix(key, "*") })
}

// Known reports whether a node label key is plausible. Plausible keys are well-known keys,
// deprecated keys, keys in a domain where anyone can define keys, and keys in the user's own
// domain. A key is implausible if it misspells a well-known key, omits the domain of one, or is an
// undefined key in a Kubernetes domain (R-V42).
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

// Suggest returns the key that was probably meant, or "" if there is none. For a deprecated key, it
// returns the replacement. For any other key, it returns a key with the same name in a different
// domain, or a key that differs by a few letters. If any node has labels, Suggest returns only
// labels of nodes.
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

// labelKeys returns the label keys of all nodes in sorted order, without deprecated keys.
func (t *Topology) labelKeys() []string {
	if t.keys != nil {
		return t.keys
	}
	seen := map[string]bool{}
	for _, labels := range t.AllNodeLabels() {
		for k := range labels {
			if _, old := deprecated[k]; !old && k != Cluster {
				seen[k] = true
			}
		}
	}
	return sorting.Keys(seen)
}

// Keys returns the number of distinct label keys on the nodes, which determines the cost of
// Suggest.
func (t *Topology) Keys() int {
	if t.Empty() {
		return 0
	}
	return len(t.labelKeys())
}

// Extended holds the extended resources (R-N26) that a topology's nodes and pools list. Nodes may
// have further resources from a scheduler extender or dynamic resource allocation (R-N27). The
// lists are therefore incomplete unless the configuration declares them complete. A nil Extended
// means that the lists are complete.
type Extended struct {
	// Complete is set if every node's allocatable list includes all of its extended resources.
	Complete bool
	listed   map[corev1.ResourceName]bool
}

// Known reports whether nodes that do not list a resource definitely lack it. This is the case if
// any node or pool lists the resource, or if the lists are complete.
func (x *Extended) Known(name corev1.ResourceName) bool {
	return x == nil || x.Complete || x.listed[name]
}

// Names returns the names of the listed extended resources in sorted order.
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

// add records the extended resources in an allocatable list.
func (x *Extended) add(list corev1.ResourceList) {
	for name := range list {
		if strings.Contains(string(name), "/") {
			x.listed[name] = true
		}
	}
}

// isWhole reports whether a Node's resource list is complete. If it is complete, a missing native
// resource counts as 0 (R-N23). A Node with metadata.uid comes from an API server, because no one
// writes a uid by hand. Otherwise, the list is complete if it has the resources that a kubelet
// reports for every node (pkg/kubelet/nodestatus/setters.go, MachineInfo). A shorter list may be
// handwritten and contain only the resources that matter to its author.
func isWhole(live bool, list corev1.ResourceList) bool {
	if len(list) == 0 {
		return false
	}
	reported := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods}
	return live || !slices.ContainsFunc(reported, func(name corev1.ResourceName) bool {
		_, ok := list[name]
		return !ok
	})
}

// InCloud reports whether the nodes have labels of EKS, GKE or AKS. The default class of these makes
// disks that can be used in one zone, so schedlint assumes that of a class that is not declared.
func (t *Topology) InCloud() bool {
	return slices.ContainsFunc(t.All(), func(n *Node) bool {
		for key := range n.Labels {
			if strings.HasPrefix(key, "eks.amazonaws.com/") || key == eksctlCluster || strings.HasPrefix(key, "cloud.google.com/gke-") || strings.HasPrefix(key, "kubernetes.azure.com/") {
				return true
			}
		}
		return false
	})
}
