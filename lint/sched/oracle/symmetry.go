package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// fewNodes is up to how many nodes are told apart all: exploring more of them takes
// symmetry.
const fewNodes = 10

// kinds numbers the nodes of a cluster so that exchanging two of one number changes no
// answer of a filter: nothing that a pod names tells them apart, and each set of the pods
// asks for too much of both or of neither. It rests on the API objects and on sums that
// are counted out, and on nothing of ours; TestSymmetry holds it against exploration
// without it.
func (c *Cluster) kinds() ([]int, error) {
	named, err := c.specs()
	if err != nil {
		return nil, err
	}
	sums, err := c.sums()
	if err != nil {
		return nil, err
	}
	hosts := map[string]int{}
	for _, n := range c.Nodes {
		hosts[n.Labels[corev1.LabelHostname]]++
	}
	kinds, numbers := make([]int, len(c.Nodes)), map[string]int{}
	for i, n := range c.Nodes {
		look := c.look(n, named, hosts) + sums.look(n)
		for k, class := range c.Classes() {
			if class.barred != nil && class.barred[i] {
				look += fmt.Sprint(" barred to ", k)
			}
		}
		if _, known := numbers[look]; !known {
			numbers[look] = len(numbers)
		}
		kinds[i] = numbers[look]
	}
	return kinds, nil
}

// specs is the text of all pods and of all that has to do with volumes, in which each name of a
// node or a label is in quotes.
func (c *Cluster) specs() (string, error) {
	var b strings.Builder
	text, err := json.Marshal(c.Storage)
	if err != nil {
		return "", err
	}
	b.Write(text)
	for _, p := range c.pods() {
		text, err := json.Marshal(p.Spec)
		if err != nil {
			return "", err
		}
		b.Write(text)
	}
	return b.String(), nil
}

// pods are one of each class and those that run.
func (c *Cluster) pods() []*corev1.Pod {
	pods := slices.Clone(c.Running)
	for _, class := range c.Classes() {
		pods = append(pods, class.Pod)
	}
	return pods
}

// look is what a node is but for its resources. A hostname that no other node has and no
// pod names is one like another; a node that a pod names is like no other.
func (c *Cluster) look(n *corev1.Node, named string, hosts map[string]int) string {
	names := func(text string) bool { return strings.Contains(named, strconv.Quote(text)) }
	look := fmt.Sprintf("%+v %+v", n.Spec.Taints, n.Spec.Unschedulable)
	if names(n.Name) {
		look += " " + n.Name
	}
	for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
		value := n.Labels[key]
		switch {
		case key == corev1.LabelHostname && hosts[value] == 1 && !names(value):
			look += " host"
		case names(key), key == corev1.LabelHostname,
			key == corev1.LabelTopologyZone, key == corev1.LabelTopologyRegion, // which bound pods carry
			key == corev1.LabelFailureDomainBetaZone, key == corev1.LabelFailureDomainBetaRegion: // which VolumeZone reads
			look += " " + key + "=" + strconv.Quote(value)
		}
	}
	return look
}

// sums are, resource by resource, all that some of the pods ask for together.
type sums struct {
	pods int
	of   map[corev1.ResourceName][]int64
}

// sums counts out the pods that are to be placed; a node with others is named by them.
func (c *Cluster) sums() (*sums, error) {
	s := &sums{pods: c.Total(), of: map[corev1.ResourceName][]int64{}}
	for _, class := range c.Classes() {
		info, err := framework.NewPodInfo(class.Pod)
		if err != nil {
			return nil, err
		}
		for name, ask := range amounts(info.CalculateResource().Resource) {
			if s.of[name] == nil {
				s.of[name] = []int64{0}
			}
			var all []int64
			for n := range class.Count + 1 {
				for _, sum := range s.of[name] {
					all = append(all, sum+int64(n)*ask)
				}
			}
			slices.Sort(all)
			s.of[name] = slices.Compact(all)
		}
	}
	return s, nil
}

// look is how many of the sums a node has room for, and how many pods.
func (s *sums) look(n *corev1.Node) string {
	info := framework.NewNodeInfo()
	info.SetNode(n)
	has := amounts(info.GetAllocatable())
	look := fmt.Sprintf(" %d pods", min(s.pods, info.GetAllocatable().GetAllowedPodNumber()))
	for _, name := range slices.Sorted(maps.Keys(s.of)) {
		at, _ := slices.BinarySearch(s.of[name], has[name]+1)
		look += fmt.Sprintf(" %s %d", name, at)
	}
	return look
}

// amounts are those of all resources as the scheduler counts them.
func amounts(r fwk.Resource) map[corev1.ResourceName]int64 {
	all := map[corev1.ResourceName]int64{
		corev1.ResourceCPU: r.GetMilliCPU(), corev1.ResourceMemory: r.GetMemory(), corev1.ResourceEphemeralStorage: r.GetEphemeralStorage(),
	}
	maps.Copy(all, r.GetScalarResources())
	return all
}

// column is what an explorer has put on a node, and of which kind the node is.
func (x *explorer) column(to []byte, node int) []byte {
	to = append(to, byte(x.kinds[node]))
	for k := range x.classes {
		to = append(to, x.counts[k*len(x.world.nodes)+node])
	}
	return append(to, x.world.storage.reach(x.world.nodes[node].Node())...)
}

// key is equal for states that differ by which nodes of one kind hold what.
func (x *explorer) key() string {
	if x.kinds == nil {
		key := slices.Clone(x.counts)
		for _, n := range x.world.nodes {
			key = append(key, x.world.storage.reach(n.Node())...)
		}
		return string(key) + x.world.storage.taken()
	}
	columns := make([][]byte, len(x.kinds))
	for n := range x.kinds {
		columns[n] = x.column(nil, n)
	}
	slices.SortFunc(columns, bytes.Compare)
	return string(bytes.Join(columns, nil)) + x.world.storage.taken()
}

// stands tells which nodes are tried: of those that are of one kind and hold as much the
// first stands for all.
func (x *explorer) stands() []bool {
	stands, seen := make([]bool, len(x.world.nodes)), map[string]bool{}
	for n := range stands {
		if x.kinds == nil {
			stands[n] = true
			continue
		}
		id := string(x.column(nil, n))
		stands[n], seen[id] = !seen[id], true
	}
	return stands
}
