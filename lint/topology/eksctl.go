package topology

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/source"
)

// eksctlConfig holds the fields of a ClusterConfig that decide about nodes (eksctl-io/eksctl 99984adb
// pkg/apis/eksctl.io/v1alpha5/types.go; R-S13).
type eksctlConfig struct {
	Metadata          eksctlMeta    `json:"metadata"`
	NodeGroups        []eksctlGroup `json:"nodeGroups"`
	ManagedNodeGroups []eksctlGroup `json:"managedNodeGroups"`
	AvailabilityZones []string      `json:"availabilityZones"`

	// These only resemble such fields.
	APIVersion *source.Node `json:"apiVersion"`
	Kind       *source.Node `json:"kind"`
	LocalZones *source.Node `json:"localZones"`
}

type eksctlMeta struct {
	Name   string `json:"name"`
	Region string `json:"region"`
}

type eksctlGroup struct {
	Name              string            `json:"name"`
	DesiredCapacity   *int              `json:"desiredCapacity"`
	MinSize           *int              `json:"minSize"`
	MaxSize           *int              `json:"maxSize"`
	Labels            map[string]string `json:"labels"`
	Taints            *source.Node      `json:"taints"`
	AvailabilityZones []string          `json:"availabilityZones"`
	LocalZones        []string          `json:"localZones"`
	Subnets           *source.Node      `json:"subnets"`
	OutpostARN        *source.Node      `json:"outpostARN"`
	AMIFamily         string            `json:"amiFamily"`
	InstanceType      string            `json:"instanceType"`
	InstanceTypes     []string          `json:"instanceTypes"`
	Mixed             *source.Node      `json:"instancesDistribution"`
	Spot              bool              `json:"spot"`
	Reservation       *source.Node      `json:"capacityReservation"`
	Kubelet           *source.Node      `json:"kubeletExtraConfig"`
	Override          *source.Node      `json:"overrideBootstrapCommand"`
	Before            []*source.Node    `json:"preBootstrapCommands"`

	InstanceName *source.Node `json:"instanceName"` // only resembles such a field
}

// Labels of nodes that eksctl and EKS make (eksctl-io/eksctl 99984adb
// pkg/apis/eksctl.io/v1alpha5/types.go).
const (
	eksctlCluster = "alpha.eksctl.io/cluster-name"
	eksctlGroupOf = "alpha.eksctl.io/nodegroup-name"
	eksGroup      = "eks.amazonaws.com/nodegroup"
	eksCapacity   = "eks.amazonaws.com/capacityType"
)

// eksctl reads the node groups of a ClusterConfig as pools.
func (l *loader) eksctl(o *source.Object) {
	var in eksctlConfig
	if !l.decides(o, o.File.Span, o.Root, &in) {
		return
	}
	if in.Metadata.Name == "" {
		l.fail(o, diag.Span{}, "a ClusterConfig needs metadata.name")
	}
	for _, value := range []*string{&in.Metadata.Name, &in.Metadata.Region} {
		if strings.Contains(*value, "$") { // a variable, which decides nothing else
			*value = ""
		}
	}
	l.label(o, o.NameSpan(), "metadata.name", eksctlCluster, in.Metadata.Name)
	l.label(o, o.NameSpan(), "metadata.region", corev1.LabelTopologyRegion, in.Metadata.Region)
	for i, item := range o.Root.Get("nodeGroups").Items() {
		l.eksctlGroup(o, &in, item, &in.NodeGroups[i], false)
	}
	for i, item := range o.Root.Get("managedNodeGroups").Items() {
		l.eksctlGroup(o, &in, item, &in.ManagedNodeGroups[i], true)
	}
	for _, field := range []string{"fargateProfiles", "autoModeConfig", "karpenter", "remoteNetworkConfig"} { // their nodes may take any pod
		k, v := o.Root.Field(field)
		if on, is := v.Get("enabled").Bool(); k != nil && !v.IsNull() && (on || !is) {
			l.fail(o, o.File.Span(k), "nodes that %s adds are not read: declare the nodes in a NodeTopology", field)
		}
	}
}

// eksctlGroup reads a node group.
func (l *loader) eksctlGroup(o *source.Object, in *eksctlConfig, item *source.Node, g *eksctlGroup, managed bool) {
	before, here := len(l.errs), at(o, item)
	if g.Name == "" {
		l.fail(o, here, "a node group needs a name")
		return
	}
	if first, twice := l.pooled[g.Name]; twice {
		l.fail(o, here, "node group %s is declared twice, for the first time at %s", g.Name, first)
		return
	}
	l.pooled[g.Name] = l.place(o, here)
	l.label(o, here, "node group", eksctlGroupOf, g.Name)
	l.labels(o, "node group "+g.Name, item)
	l.bootstrap(o, item, g)
	// eksctl-io/eksctl 99984adb pkg/cfn/builder/nodegroup.go, pkg/apis/eksctl.io/v1alpha5/validation.go,
	// ValidateManagedNodeGroup.
	usual := 2
	count := *cmp.Or(g.DesiredCapacity, g.MinSize, &usual)
	pool := &Pool{Name: g.Name, Count: count, Min: *cmp.Or(g.MinSize, &count), Max: *cmp.Or(g.MaxSize, &count)}
	if managed && g.MaxSize == nil {
		pool.Max = max(pool.Max, 1)
	}
	pool.Span, pool.Declaration = here, Declaration{o.File, item}
	if pool.Min < 0 || pool.Min > pool.Count || pool.Count > pool.Max || pool.Max > maxNodes {
		l.fail(o, at(o, item, "desiredCapacity", "minSize", "maxSize"), "node group %s: expected 0 <= minSize <= desiredCapacity <= maxSize <= %d, found %d, %d, %d", g.Name, maxNodes, pool.Min, pool.Count, pool.Max)
	}
	p := &PoolSpec{Name: g.Name, Labels: maps.Clone(g.Labels), Taints: l.eksctlTaints(o, item.Get("taints"), managed)}
	if p.Labels == nil {
		p.Labels = map[string]string{}
	}
	p.Labels[eksctlGroupOf] = g.Name
	g.labels(p, &in.Metadata, managed)
	switch zones := g.zones(in); {
	case len(zones) == 0 || pool.Count%len(zones) > 0:
		p.UnknownLabels = append(p.UnknownLabels, corev1.LabelTopologyZone)
	default:
		p.Zones = map[string]int{}
		for _, zone := range zones {
			l.label(o, at(o, item, "availabilityZones", "localZones"), "node group "+g.Name, corev1.LabelTopologyZone, zone)
			p.Zones[zone] = pool.Count / len(zones)
		}
	}
	if len(l.errs) == before {
		l.pool(o, pool, p)
	}
}

// zones returns the zones of a group, or nil if they are not known. Of the zones of the cluster,
// eksctl leaves out those that lack the instance type, so they are known only if there is one
// (eksctl-io/eksctl 99984adb pkg/cfn/builder/nodegroup.go, AssignSubnets; pkg/vpc/vpc.go).
func (g *eksctlGroup) zones(in *eksctlConfig) []string {
	if g.Subnets != nil || g.OutpostARN != nil {
		return nil
	}
	unique := func(zones []string) []string {
		zones = slices.Sorted(slices.Values(zones))
		return slices.Compact(zones)
	}
	if own := unique(slices.Concat(g.AvailabilityZones, g.LocalZones)); len(own) > 0 {
		return own
	}
	if all := unique(in.AvailabilityZones); len(all) == 1 {
		return all
	}
	return nil
}

// labels adds the labels of EC2 and EKS, and the keys of those whose values are not known.
func (g *eksctlGroup) labels(p *PoolSpec, cluster *eksctlMeta, managed bool) {
	p.UnknownLabels = append(p.UnknownLabels, "topology.k8s.aws/", "k8s.io/cloud-provider-aws", "topology.ebs.csi.aws.com/zone", "vpc.amazonaws.com/")
	for label, value := range map[string]string{eksctlCluster: cluster.Name, corev1.LabelTopologyRegion: cluster.Region} {
		if value == "" {
			p.UnknownLabels = append(p.UnknownLabels, label)
		} else {
			p.Labels[label] = value
		}
	}
	types := slices.Concat(g.InstanceTypes, []string{g.InstanceType})
	types = append(types, lists.Of(g.Mixed.Get("instanceTypes").Items(), (*source.Node).Text)...)
	types = slices.DeleteFunc(types, func(t string) bool { return t == "" })
	slices.Sort(types)
	if types = slices.Compact(types); len(types) == 1 {
		p.Labels[corev1.LabelInstanceTypeStable] = types[0]
	} else {
		p.UnknownLabels = append(p.UnknownLabels, corev1.LabelInstanceTypeStable)
	}
	arm := func(t string) bool { return graviton(t) }
	switch {
	case len(types) == 0, slices.ContainsFunc(types, arm) && slices.ContainsFunc(types, func(t string) bool { return !arm(t) }):
		p.UnknownLabels = append(p.UnknownLabels, corev1.LabelArchStable)
	case arm(types[0]):
		p.Labels[corev1.LabelArchStable] = "arm64"
	}
	if strings.HasPrefix(g.AMIFamily, "Windows") {
		p.Labels[corev1.LabelOSStable] = "windows"
		p.UnknownLabels = append(p.UnknownLabels, corev1.LabelWindowsBuild)
	}
	switch {
	case !managed:
		p.UnknownLabels = append(p.UnknownLabels, "node-lifecycle", "alpha.eksctl.io/instance-id")
		return
	case g.Spot:
		p.Labels[eksCapacity] = "SPOT"
	case g.Reservation == nil:
		p.Labels[eksCapacity] = "ON_DEMAND"
	default:
		p.UnknownLabels = append(p.UnknownLabels, eksCapacity)
	}
	p.Labels[eksGroup] = g.Name
	p.UnknownLabels = append(p.UnknownLabels, "eks.amazonaws.com/nodegroup-image", "eks.amazonaws.com/sourceLaunchTemplateId", "eks.amazonaws.com/sourceLaunchTemplateVersion")
}

// graviton reports whether an instance type has an Arm processor: a letter g after the generation,
// as in m7g.large, or the first generation, a1 (Amazon EC2, naming conventions).
func graviton(instanceType string) bool {
	family, _, _ := strings.Cut(instanceType, ".")
	generation := strings.IndexAny(family, "0123456789")
	return family == "a1" || generation >= 0 && strings.Contains(family[generation:], "g")
}

// eksctlTaints reads taints: a list, or a map in nodeGroups from keys to effect or value:effect
// (eksctl-io/eksctl 99984adb pkg/utils/taints/taints.go).
func (l *loader) eksctlTaints(o *source.Object, n *source.Node, managed bool) (taints []corev1.Taint) {
	if managed || n == nil || n.Kind != source.Map {
		return l.taintList(o, o.File.Span, n)
	}
	return l.taintMap(o, o.File.Span, n)
}

// bootstrap refuses what may decide the labels and taints of nodes apart from the fields for them.
// A NodeConfig is added to that of eksctl, other commands replace it
// (eksctl-io/eksctl 99984adb pkg/nodebootstrap/{al2023,userdata}.go).
func (l *loader) bootstrap(o *source.Object, item *source.Node, g *eksctlGroup) {
	const instead = "declare these nodes in a NodeTopology"
	for _, field := range []string{"registerWithTaints", "registerNode"} {
		if k, v := g.Kubelet.Field(field); k != nil {
			l.fail(o, o.File.FieldSpan(k, v), "node group %s: kubeletExtraConfig.%s is not read: %s", g.Name, field, instead)
		}
	}
	decides := func(n *source.Node) bool {
		text := strings.ToLower(n.Text())
		return strings.Contains(text, "node-labels") || strings.Contains(text, "taint")
	}
	if g.Override != nil && (decides(g.Override) || !strings.Contains(g.Override.Text(), "NodeConfig")) {
		l.fail(o, at(o, item, "overrideBootstrapCommand"), "node group %s: overrideBootstrapCommand may decide labels and taints: %s", g.Name, instead)
	}
	if slices.ContainsFunc(g.Before, decides) {
		l.fail(o, at(o, item, "preBootstrapCommands"), "node group %s: preBootstrapCommands may decide labels and taints: %s", g.Name, instead)
	}
}
