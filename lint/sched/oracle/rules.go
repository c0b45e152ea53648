package main

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// rules is the cluster as the verdict on rules alone takes it: pods do not
// contend for resources, slots or volumes, but each has to fit its node when that is
// empty.
func (w *World) rules(ctx context.Context, c *Cluster) (*Cluster, error) {
	choices, err := c.choices() // whichever it is, resources come first
	if err != nil {
		return nil, err
	}
	if err := w.Load(&Cluster{Nodes: c.Nodes, Namespaces: c.Namespaces, Storage: choices[0].Storage}); err != nil {
		return nil, err
	}
	out := &Cluster{Namespaces: c.Namespaces, Storage: c.Storage.plentiful(), Refused: c.Refused, Aside: c.Aside}
	for _, n := range c.Nodes {
		out.Nodes = append(out.Nodes, plentiful(n))
	}
	for _, p := range c.Running {
		out.Running = append(out.Running, undemanding(p))
	}
	for _, s := range c.Series {
		t := &Series{Name: s.Name, Ordered: s.Ordered, Daemon: s.Daemon}
		for _, class := range s.Classes {
			class.placed = nil
			alike := &Class{Series: t, Pod: undemanding(class.Pod), Count: class.Count, Bound: class.Bound, barred: make([]bool, len(c.Nodes))}
			for n, reason := range w.Filter(ctx, class) {
				alike.barred[n] = reason == names.NodeResourcesFit || reason == names.NodeVolumeLimits || reason == names.VolumeBinding && len(choices) == 1 || class.Bound && reason != ""
			}
			class.placed = nil
			t.Classes = append(t.Classes, alike)
		}
		out.Series = append(out.Series, t)
	}
	return out, nil
}

// undemanding is a pod without requests.
func undemanding(p *corev1.Pod) *corev1.Pod {
	q := p.DeepCopy()
	q.Spec.Overhead, q.Spec.Resources = nil, nil
	for _, list := range [][]corev1.Container{q.Spec.Containers, q.Spec.InitContainers} {
		for i := range list {
			list[i].Resources = corev1.ResourceRequirements{}
		}
	}
	return q
}

// plentiful is a node with slots for all.
func plentiful(n *corev1.Node) *corev1.Node {
	m := n.DeepCopy()
	m.Status.Allocatable[corev1.ResourcePods] = apiresource.MustParse("100000")
	return m
}

// contended reports whether resources, slots or volumes can make a difference.
func (c *Cluster) contended() bool {
	free := func(v *corev1.PersistentVolume) bool { return v.Status.Phase == corev1.VolumeAvailable }
	if len(c.resourceNames()) > 0 || len(c.Storage.Nodes) > 0 || slices.ContainsFunc(c.Storage.Volumes, free) {
		return true
	}
	for _, n := range c.Nodes {
		if slots := n.Status.Allocatable[corev1.ResourcePods]; slots.Value() < 100 {
			return true
		}
	}
	return false
}
