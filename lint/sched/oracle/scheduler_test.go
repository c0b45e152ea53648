package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/lint/sched/simulate"
)

// TestScheduler runs kube-scheduler itself against a client in memory and compares
// how often it places all pods of everyday clusters with the share of simulated
// runs. It takes minutes, so it runs only if SCHEDLINT_SCHEDULER is set.
//
// Each scheduler has an extender that gives every node the same score. It makes the
// scheduler draw among the nodes with the highest score, which 1.36 forgets to do
// without one (kubernetes#141024).
func TestScheduler(t *testing.T) {
	if os.Getenv("SCHEDLINT_SCHEDULER") == "" {
		t.Skip("set SCHEDLINT_SCHEDULER to run the scheduler itself")
	}
	const cases, runs, simulated = 10, 20, 4000
	sum, compared := 0.0, 0
	for number := uint64(0); compared < cases && number < 400; number++ {
		c := clusters.Everyday(23, number)
		nodes, manifests := c.Text()
		ours, err := NewOurs(nodes, manifests)
		if err != nil {
			t.Fatal(err)
		}
		if len(ours.Nodes) > 16 {
			continue // takes long
		}
		r := simulate.Runs(ours.Model, simulated)
		if len(r.Components) != 1 || r.Components[0].Runs != simulated {
			continue
		}
		share := float64(r.Components[0].Complete) / simulated
		if share < 0.1 || share > 0.9 {
			continue
		}
		cluster, err := NewCluster(nodes, manifests)
		if err != nil {
			t.Fatal(err)
		}
		var complete atomic.Int64
		var wait sync.WaitGroup
		few := make(chan bool, 6) // with more at a time, pods come so slowly that refused ones are tried again before
		for run := range uint64(runs) {
			wait.Go(func() {
				few <- true
				defer func() { <-few }()
				done, err := schedule(t.Context(), cluster, rand.New(rand.NewPCG(number, run+1000)))
				if err != nil {
					t.Error(err)
				}
				if done {
					complete.Add(1)
				}
			})
		}
		wait.Wait()
		expected := share * runs
		sum += (float64(complete.Load()) - expected) * (float64(complete.Load()) - expected) / (expected * (1 - share))
		compared++
		t.Logf("case %d, %d nodes, %d pods: %d of %d runs are complete, %.1f expected", number, len(ours.Nodes), cluster.Total(), complete.Load(), runs, expected)
	}
	const limit = 29.59 // 99.9 % of chi-square values with 10 degrees of freedom
	if compared < cases || sum > limit {
		t.Errorf("chi-square of %d cases is %.1f, want at most %.1f", compared, sum, limit)
	}
	t.Logf("chi-square %.1f", sum)
}

// indifferent is an extender that gives every node the same score.
type indifferent struct{ fwk.Extender }

func (indifferent) Name() string                  { return "indifferent" }
func (indifferent) IsInterested(*corev1.Pod) bool { return true }
func (indifferent) IsPrioritizer() bool           { return true }
func (indifferent) IsFilter() bool                { return false }
func (indifferent) IsBinder() bool                { return false }
func (indifferent) IsIgnorable() bool             { return false }
func (indifferent) SupportsPreemption() bool      { return false }

func (indifferent) Filter(_ *corev1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodeInfo, extenderv1.FailedNodesMap, extenderv1.FailedNodesMap, error) {
	return nodes, nil, nil, nil
}

func (indifferent) Prioritize(_ *corev1.Pod, nodes []fwk.NodeInfo) (*extenderv1.HostPriorityList, int64, error) {
	list := extenderv1.HostPriorityList{}
	for _, n := range nodes {
		list = append(list, extenderv1.HostPriority{Host: n.Node().Name})
	}
	return &list, 1, nil
}

// schedule makes one run: it creates the pods of a cluster in an order that is drawn
// as in package simulate, each when the scheduler is done with the one before, and
// reports whether all get a node.
func schedule(ctx context.Context, c *Cluster, random *rand.Rand) (complete bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var objects []runtime.Object
	for _, n := range c.Nodes {
		objects = append(objects, n.DeepCopy())
	}
	for _, n := range c.Namespaces {
		objects = append(objects, n.DeepCopy())
	}
	for _, o := range c.Owners {
		objects = append(objects, o.DeepCopyObject())
	}
	client := fake.NewClientset(objects...)
	client.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		create := action.(clienttesting.CreateAction)
		binding, ok := create.GetObject().(*corev1.Binding)
		if !ok {
			return false, nil, nil
		}
		return true, binding, bind(client.Tracker(), c, create.GetNamespace(), binding)
	})
	factory := scheduler.NewInformerFactory(client, 0)
	s, err := scheduler.New(ctx, client, factory, nil, func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }, scheduler.WithParallelism(1))
	if err != nil {
		return false, err
	}
	s.Extenders = []fwk.Extender{indifferent{}}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := s.WaitForHandlersSync(ctx); err != nil {
		return false, err
	}
	go s.Run(ctx)

	pods := client.CoreV1().Pods(metav1.NamespaceAll)
	state := func(namespace, name string) (bound, refused bool) {
		p, err := client.CoreV1().Pods(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return false, false
		}
		return p.Spec.NodeName != "", slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
		})
	}
	// create makes a pod and waits for the scheduler to decide about it.
	create := func(p *corev1.Pod) error {
		if _, err := client.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{}); err != nil {
			return err
		}
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if bound, refused := state(p.Namespace, p.Name); bound || refused {
				return nil
			}
		}
		return fmt.Errorf("the scheduler does not decide about %s", p.Name)
	}
	total := 0
	var held []*corev1.Pod
	for _, p := range drawn(c, random) {
		total++
		if before, ok := p.Annotations["before"]; ok {
			if bound, _ := state(p.Namespace, before); !bound {
				held = append(held, p)
				continue
			}
		}
		if err := create(p); err != nil {
			return false, err
		}
	}
	// Pods that were refused are tried again, at first after a second.
	for last, idle := -1, 0; idle < 25; idle++ {
		list, err := pods.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		bound := 0
		for _, p := range list.Items {
			if p.Spec.NodeName != "" {
				bound++
			}
		}
		if bound == total {
			return true, nil
		}
		if bound > last {
			last, idle = bound, 0
		}
		for len(held) > 0 {
			if ready, _ := state(held[0].Namespace, held[0].Annotations["before"]); !ready {
				break
			}
			if err := create(held[0]); err != nil {
				return false, err
			}
			held = held[1:]
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false, nil
}

// bind does what the API server does with a binding.
func bind(tracker clienttesting.ObjectTracker, c *Cluster, namespace string, b *corev1.Binding) error {
	gvr := corev1.SchemeGroupVersion.WithResource("pods")
	found, err := tracker.Get(gvr, namespace, b.Name)
	if err != nil {
		return err
	}
	p := found.(*corev1.Pod).DeepCopy()
	p.Spec.NodeName = b.Target.Name
	p.Labels = maps.Clone(p.Labels)
	for _, n := range c.Nodes {
		for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
			if v, ok := n.Labels[key]; ok && n.Name == b.Target.Name {
				p.Labels[key] = v
			}
		}
	}
	return tracker.Update(gvr, p, namespace)
}

// drawn are the pods of a cluster in the order of a run. A pod of a StatefulSet names
// the one before it.
func drawn(c *Cluster, random *rand.Rand) []*corev1.Pod {
	var daemons []*corev1.Pod
	var groups [][]*corev1.Pod
	for i, s := range c.Series {
		var group []*corev1.Pod
		for _, class := range s.Classes {
			for range class.Count {
				p := class.Pod.DeepCopy()
				p.Name = fmt.Sprintf("%s-%d", metav1.GetControllerOf(p).Name, len(group))
				if s.Daemon {
					p.Name = fmt.Sprintf("daemon-%d-%d", i, len(group))
				}
				p.UID = types.UID(p.Namespace + "/" + p.Name)
				if p.Labels[appsv1.StatefulSetPodNameLabel] != "" {
					p.Labels[appsv1.StatefulSetPodNameLabel] = p.Name
				}
				if s.Ordered && len(group) > 0 {
					p.Annotations = map[string]string{"before": group[len(group)-1].Name}
				}
				group = append(group, p)
			}
		}
		if s.Daemon {
			daemons = append(daemons, group...)
		} else {
			groups = append(groups, group)
		}
	}
	random.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	queue := slices.Concat(groups...)
	if random.IntN(2) == 0 {
		random.Shuffle(len(queue), func(i, j int) { queue[i], queue[j] = queue[j], queue[i] })
		made := map[types.UID]int{}
		byOwner := map[types.UID][]*corev1.Pod{}
		for _, g := range groups {
			byOwner[metav1.GetControllerOf(g[0]).UID] = g
		}
		for i, p := range queue {
			owner := metav1.GetControllerOf(p).UID
			queue[i] = byOwner[owner][made[owner]]
			made[owner]++
		}
	}
	return append(daemons, queue...)
}
