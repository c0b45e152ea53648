package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

func init() { metrics.Register() }

// World is a scheduler's view of one cluster: the real framework with the
// real NodeInfos, to which pods are added and taken away again. It is used by
// one goroutine; the framework is built once and serves case after case.
type World struct {
	framework  framework.Framework
	namespaces cache.Indexer
	// owned has what the default constraints of a pod take their selector from.
	owned   owned
	storage storage
	lister  *lister
	// provisioned are the ways back from the placements that are in force, in their order.
	provisioned []func()

	nodes []*framework.NodeInfo
	index map[string]int
}

// leftOut are plugins of the default profile that need objects which a case
// does not have, or that do not filter.
var leftOut = []string{
	names.DynamicResources, names.NodeDeclaredFeatures, names.DefaultPreemption,
}

// NewWorld builds a scheduler framework with the default profile.
func NewWorld(ctx context.Context) (*World, error) {
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	profile := defaults.Profiles[0].DeepCopy()
	profile.SchedulerName = corev1.DefaultSchedulerName
	profile.Plugins.MultiPoint.Enabled = slices.DeleteFunc(profile.Plugins.MultiPoint.Enabled, func(p config.Plugin) bool {
		return slices.Contains(leftOut, p.Name)
	})
	factory := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	w := &World{lister: &lister{}, storage: newStorage(factory), namespaces: factory.Core().V1().Namespaces().Informer().GetIndexer(), owned: owned{
		services:     factory.Core().V1().Services().Informer().GetIndexer(),
		replicaSets:  factory.Apps().V1().ReplicaSets().Informer().GetIndexer(),
		statefulSets: factory.Apps().V1().StatefulSets().Informer().GetIndexer(),
		controllers:  factory.Core().V1().ReplicationControllers().Informer().GetIndexer(),
	}}
	w.framework, err = frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), profile,
		frameworkruntime.WithSnapshotSharedLister(w.lister), frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithParallelism(1),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())))
	return w, err
}

// Load makes a cluster the one that is looked at, with only the running pods.
func (w *World) Load(c *Cluster) error {
	if err := cmp.Or(replace(w.namespaces, c.Namespaces), w.owned.load(c), w.storage.load(c)); err != nil {
		return err
	}
	w.provisioned = nil
	w.nodes, w.index, w.lister.all = nil, map[string]int{}, nil
	for i, n := range c.Nodes {
		info := framework.NewNodeInfo()
		info.SetNode(n)
		w.nodes = append(w.nodes, info)
		w.lister.all = append(w.lister.all, info)
		w.index[n.Name] = i
	}
	for _, p := range c.Running {
		if i, ok := w.index[p.Spec.NodeName]; ok {
			w.nodes[i].AddPodInfo(w.bind(p, i).info)
		}
	}
	return nil
}

// placedPod is a pod as it is once it is bound to a node.
type placedPod struct {
	pod  *corev1.Pod
	info *framework.PodInfo
}

// bind gives a pod its node and the node's zone and region labels, as the
// admission plugin PodTopologyLabels does
// (plugin/pkg/admission/podtopologylabels; R-P7).
func (w *World) bind(p *corev1.Pod, node int) *placedPod {
	n := w.nodes[node].Node()
	bound := *p
	bound.Spec.NodeName = n.Name
	bound.Labels = maps.Clone(p.Labels)
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if v, ok := n.Labels[key]; ok {
			if bound.Labels == nil {
				bound.Labels = map[string]string{}
			}
			bound.Labels[key] = v
		}
	}
	info, err := framework.NewPodInfo(&bound)
	if err != nil {
		// A selector that does not parse selects nothing; validation lets none through.
		panic(fmt.Errorf("pod %s: %w", p.Name, err))
	}
	return &placedPod{&bound, info}
}

func (w *World) placed(c *Class, node int) *placedPod {
	if c.placed == nil {
		c.placed = make([]*placedPod, len(w.nodes))
	}
	if c.placed[node] == nil {
		c.placed[node] = w.bind(c.Pod, node)
	}
	return c.placed[node]
}

// Place puts a pod of a class on a node without asking. Its claims that wait for it get volumes;
// those of a pod that names its node wait for ever, since the scheduler has no part in it.
func (w *World) Place(c *Class, node int) {
	w.nodes[node].AddPodInfo(w.placed(c, node).info)
	undo := func() {}
	if !c.Bound {
		undo = w.storage.provision(c.Pod, w.nodes[node].Node())
	}
	w.provisioned = append(w.provisioned, undo)
}

// Remove takes back what the last Place did.
func (w *World) Remove(c *Class, node int) {
	last := len(w.provisioned) - 1
	w.provisioned[last]()
	w.provisioned = w.provisioned[:last]
	if err := w.nodes[node].RemovePod(klog.Background(), w.placed(c, node).pod); err != nil {
		panic(err)
	}
}

// Filter runs PreFilter and Filter for one more pod of a class: the reason of
// every node that refuses it, and "" for a node that takes it.
func (w *World) Filter(ctx context.Context, c *Class) []string { return w.FilterOn(ctx, c, nil) }

// FilterOn is Filter for some of the nodes; nil is all.
func (w *World) FilterOn(ctx context.Context, c *Class, some []bool) []string {
	reasons := make([]string, len(w.nodes))
	if c.Bound {
		for i := range w.nodes {
			reasons[i] = "NodeName"
			if w.nodes[i].Node().Name == c.Pod.Spec.NodeName {
				reasons[i] = w.kubelet(c, i)
			}
		}
		return reasons
	}
	state := framework.NewCycleState()
	result, status, _ := w.framework.RunPreFilterPlugins(ctx, state, c.Pod)
	for i, info := range w.lister.all {
		switch {
		case some != nil && !some[i]:
		case !status.IsSuccess():
			reasons[i] = refusedBy(status)
		case !result.AllNodes() && !result.NodeNames.Has(info.Node().Name):
			reasons[i] = names.NodeAffinity
		default:
			if s := w.framework.RunFilterPlugins(ctx, state, c.Pod, info); !s.IsSuccess() {
				reasons[i] = refusedBy(s)
			}
		}
	}
	return reasons
}

// refusedBy is the plugin behind a status. Errors are none of the outcomes
// that a case may have.
func refusedBy(s *fwk.Status) string {
	if s.Code() == fwk.Error {
		panic(s.AsError())
	}
	if s.Plugin() == "" {
		return s.Message()
	}
	return s.Plugin()
}

// kubelet asks the admission of the node's kubelet, which a pod that names its
// node meets alone (pkg/kubelet/lifecycle/predicate.go; R-P8).
func (w *World) kubelet(c *Class, node int) string {
	info := w.nodes[node]
	handler := lifecycle.NewPredicateAdmitHandler(
		func(context.Context, bool) (*corev1.Node, error) { return info.Node().DeepCopy(), nil },
		lifecycle.NewAdmissionFailureHandlerStub(),
		func(*framework.NodeInfo, *lifecycle.PodAdmitAttributes) error { return nil },
	)
	var others []*corev1.Pod
	for _, p := range info.GetPods() {
		others = append(others, p.GetPod())
	}
	result := handler.Admit(&lifecycle.PodAdmitAttributes{Pod: w.placed(c, node).pod, OtherPods: others})
	if result.Admit {
		return ""
	}
	return "kubelet: " + result.Reason
}

// lister is the snapshot that the plugins read: live, so that nothing is
// rebuilt between two states, unless a test puts in another.
type lister struct {
	all      []fwk.NodeInfo
	snapshot fwk.SharedLister
}

func (l *lister) NodeInfos() fwk.NodeInfoLister {
	if l.snapshot != nil {
		return l.snapshot.NodeInfos()
	}
	return l
}

func (l *lister) StorageInfos() fwk.StorageInfoLister     { return l }
func (l *lister) PodGroupStates() fwk.PodGroupStateLister { return nil }
func (l *lister) List() ([]fwk.NodeInfo, error)           { return l.all, nil }

func (l *lister) IsPVCUsedByPods(key string) bool {
	return len(l.with(func(n fwk.NodeInfo) int { return n.GetPVCRefCounts()[key] })) > 0
}

func (l *lister) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) {
	return l.with(func(n fwk.NodeInfo) int { return len(n.GetPodsWithAffinity()) }), nil
}

func (l *lister) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	return l.with(func(n fwk.NodeInfo) int { return len(n.GetPodsWithRequiredAntiAffinity()) }), nil
}

func (l *lister) with(count func(fwk.NodeInfo) int) []fwk.NodeInfo {
	var some []fwk.NodeInfo
	for _, n := range l.all {
		if count(n) > 0 {
			some = append(some, n)
		}
	}
	return some
}

func (l *lister) Get(name string) (fwk.NodeInfo, error) {
	for _, n := range l.all {
		if n.Node().Name == name {
			return n, nil
		}
	}
	return nil, fmt.Errorf("no node %s", name)
}
