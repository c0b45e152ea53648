package main

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Cluster is the nodes, namespaces and pods that a case leads to.
type Cluster struct {
	Nodes      []*corev1.Node
	Namespaces []*corev1.Namespace
	// Series are the workloads that take part; Running are pods in place.
	Series  []*Series
	Running []*corev1.Pod
	// Owners are the ReplicaSets, ReplicationControllers and StatefulSets of the pods.
	Owners  []runtime.Object
	Storage Storage
	// Services are set by the caller.
	Services []*corev1.Service
	// Refused says of which workloads the API server refuses what.
	Refused map[string]Refusal
	// Aside are workloads that another scheduler or a gate keeps out.
	Aside map[string]bool
	// Odd is set for a pod that is in place and would be refused.
	Odd bool
}

// Refusal is an object that the API server refuses, or an object of which it
// refuses every pod.
type Refusal struct {
	Pods   bool
	Reason string
}

// Series is the pods of one workload.
type Series struct {
	Name    string
	Classes []*Class
	// Ordered is set if each pod waits for the one before it.
	Ordered bool
	// Daemon is set if each class belongs to the node of the same pod.
	Daemon bool
}

// Class is pods that are alike in all that can matter.
type Class struct {
	Series *Series
	Pod    *corev1.Pod
	Count  int
	// Bound is set for pods that name their node, so that only a kubelet has a say.
	Bound bool

	placed []*placedPod // by node, made when needed
	barred []bool       // by node; nodes that are out whatever the filters say
}

// Total is the number of pods that are to be placed.
func (c *Cluster) Total() int {
	n := 0
	for _, s := range c.Series {
		n += s.Total()
	}
	return n
}

// Total is the number of pods of the series.
func (s *Series) Total() int {
	n := 0
	for _, c := range s.Classes {
		n += c.Count
	}
	return n
}

// NewCluster reads the manifests of a case and makes up for what they do not declare.
func NewCluster(nodes, manifests string) (*Cluster, error) {
	c, err := readCluster(nodes, manifests)
	if err != nil {
		return nil, err
	}
	c.complete()
	return c, c.Storage.complete(c.pods())
}

// readCluster reads the manifests of a case; nodes come first so that
// DaemonSets know them. An invalid node, namespace or object of storage is an error of the case.
func readCluster(nodes, manifests string) (*Cluster, error) {
	c := &Cluster{Refused: map[string]Refusal{}, Aside: map[string]bool{}}
	for _, doc := range documents(nodes) {
		obj, kind, err := decode([]byte(doc))
		if err == nil {
			err = admit(obj, kind)
		}
		if err != nil {
			return nil, fmt.Errorf("node: %w", err)
		}
		node := external(obj, &corev1.Node{})
		taint := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
		if there := func(t corev1.Taint) bool { return t.MatchTaint(&taint) }; node.Spec.Unschedulable && !slices.ContainsFunc(node.Spec.Taints, there) {
			node.Spec.Taints = append(node.Spec.Taints, taint) // as the node lifecycle controller does (R-S10)
		}
		c.Nodes = append(c.Nodes, node)
	}
	slices.SortFunc(c.Nodes, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	for _, doc := range documents(manifests) {
		if err := c.manifest(doc); err != nil {
			return nil, err
		}
	}
	if err := c.Storage.settle(c.Owners); err != nil {
		return nil, err
	}
	c.mergeClasses()
	return c, c.imply()
}

// imply adds the namespaces that pods are in and that no manifest declares:
// they exist, with no more labels than every namespace has.
func (c *Cluster) imply() error {
	for _, p := range c.pods() {
		if slices.ContainsFunc(c.Namespaces, func(n *corev1.Namespace) bool { return n.Name == p.Namespace }) {
			continue
		}
		if err := c.manifest("apiVersion: v1\nkind: Namespace\nmetadata: {name: " + p.Namespace + "}\n"); err != nil {
			return err
		}
	}
	return nil
}

// Classes are those of all series, in order.
func (c *Cluster) Classes() []*Class {
	var all []*Class
	for _, s := range c.Series {
		all = append(all, s.Classes...)
	}
	return all
}

// manifest takes in one object of a case.
func (c *Cluster) manifest(doc string) error {
	obj, kind, err := decode([]byte(doc))
	if err != nil {
		c.Refused[nameOf(doc)] = Refusal{Reason: err.Error()}
		return nil
	}
	meta := obj.(metav1.Object)
	name := kind.Kind + " " + meta.GetNamespace() + "/" + meta.GetName()
	uid, created, deleted := meta.GetUID(), meta.GetCreationTimestamp(), meta.GetDeletionTimestamp()
	var phase corev1.PodPhase
	if kind.Kind == "Pod" {
		phase = external(obj, &corev1.Pod{}).Status.Phase
	}
	if err := admit(obj, kind); err != nil {
		if kind.Kind == "Namespace" || slices.Contains(storageKinds, kind.Kind) {
			return err
		}
		c.Refused[name] = Refusal{Reason: err.Error()}
		c.Odd = c.Odd || phase == corev1.PodRunning
		return nil
	}
	if slices.Contains(storageKinds, kind.Kind) {
		meta.SetUID(uid)
		meta.SetCreationTimestamp(created)
		meta.SetDeletionTimestamp(deleted)
		c.Storage.add(obj)
		return nil
	}
	switch kind.Kind {
	case "Namespace":
		c.Namespaces = append(c.Namespaces, external(obj, &corev1.Namespace{}))
		return nil
	case "Pod":
		pod := external(obj, &corev1.Pod{})
		if phase == corev1.PodRunning && pod.Spec.NodeName != "" {
			pod.DeletionTimestamp = deleted
			c.Running = append(c.Running, pod)
			return nil
		}
		c.add(&Series{Name: name}, []draft{{pod: pod, count: 1}})
		return nil
	}
	c.workload(name, obj, kind)
	return nil
}

// nameOf is the name of an object that does not decode, read off its text.
func nameOf(doc string) string {
	field := func(name string) string {
		for line := range strings.Lines(doc) {
			if v, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), name+": "); ok {
				return strings.Trim(v, `"'`)
			}
		}
		return ""
	}
	return field("kind") + " " + field("  namespace") + "/" + field("  name")
}

// workload turns an object into the pods that its controller asks for.
func (c *Cluster) workload(name string, obj runtime.Object, kind schema.GroupKind) {
	s := &Series{Name: name}
	drafts, err := c.drafts(s, obj, kind)
	for i := range drafts {
		if err != nil {
			break
		}
		drafts[i].pod, err = createPod(drafts[i].pod)
	}
	if err != nil {
		c.Refused[name] = Refusal{Pods: true, Reason: err.Error()}
		return
	}
	c.add(s, drafts)
}

func (c *Cluster) drafts(s *Series, obj runtime.Object, kind schema.GroupKind) ([]draft, error) {
	switch kind.Kind {
	case "Deployment":
		d := external(obj, &appsv1.Deployment{})
		d.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(kind.Kind))
		rs, drafts, err := deploymentPods(d)
		if err == nil {
			c.Owners = append(c.Owners, rs)
		}
		return drafts, err
	case "ReplicaSet":
		r := external(obj, &appsv1.ReplicaSet{})
		r.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(kind.Kind))
		c.Owners = append(c.Owners, r)
		return replicaPods(&r.Spec.Template, r, r.Spec.Replicas), nil
	case "ReplicationController":
		r := external(obj, &corev1.ReplicationController{})
		r.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind.Kind))
		c.Owners = append(c.Owners, r)
		return replicaPods(r.Spec.Template, r, r.Spec.Replicas), nil
	case "StatefulSet":
		t := external(obj, &appsv1.StatefulSet{})
		t.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(kind.Kind))
		s.Ordered = t.Spec.PodManagementPolicy == appsv1.OrderedReadyPodManagement
		c.Owners = append(c.Owners, t)
		return statefulPods(t), nil
	case "DaemonSet":
		d := external(obj, &appsv1.DaemonSet{})
		d.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind(kind.Kind))
		s.Daemon = true
		return daemonPods(d, c.Nodes), nil
	case "Job":
		j := external(obj, &batchv1.Job{})
		j.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind(kind.Kind))
		return jobPods(j), nil
	case "CronJob":
		j := external(obj, &batchv1.CronJob{})
		return cronPods(j)
	}
	return nil, fmt.Errorf("the oracle makes no pods of %s", kind)
}

// add takes in a series unless it takes no part.
func (c *Cluster) add(s *Series, drafts []draft) {
	for _, d := range drafts {
		if d.count == 0 {
			continue
		}
		if len(d.pod.Spec.SchedulingGates) > 0 || d.pod.Spec.SchedulerName != corev1.DefaultSchedulerName {
			c.Aside[s.Name] = true
			return
		}
		s.Classes = append(s.Classes, &Class{Series: s, Pod: d.pod, Count: d.count, Bound: d.pod.Spec.NodeName != ""})
	}
	c.Series = append(c.Series, s)
}

// perPod are the labels by which pods of one workload differ.
var perPod = []string{appsv1.StatefulSetPodNameLabel, appsv1.PodIndexLabel, batchv1.JobCompletionIndexAnnotation}

// mergeClasses joins the pods of a series that differ in labels only which no
// selector of the case reads, and have the same claims.
func (c *Cluster) mergeClasses() {
	read := false
	c.selectors(func(s *metav1.LabelSelector) {
		for _, key := range perPod {
			read = read || reads(s, key)
		}
	})
	for _, s := range c.Series {
		if read || s.Daemon || len(s.Classes) == 0 {
			continue
		}
		same := func(k *Class) bool { return slices.Equal(claimNames(k.Pod), claimNames(s.Classes[0].Pod)) }
		if total := s.Total(); !slices.ContainsFunc(s.Classes, func(k *Class) bool { return !same(k) }) {
			s.Classes[0].Count = total
			s.Classes = s.Classes[:1]
		}
	}
}

// reads reports whether a selector asks for a label.
func reads(s *metav1.LabelSelector, key string) bool {
	_, ok := s.MatchLabels[key]
	return ok || slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool { return e.Key == key })
}

// selectors calls f for every label selector of every pod.
func (c *Cluster) selectors(f func(*metav1.LabelSelector)) {
	each := func(p *corev1.Pod) {
		for _, t := range requiredTerms(p) {
			if t.LabelSelector != nil {
				f(t.LabelSelector)
			}
		}
		for _, t := range p.Spec.TopologySpreadConstraints {
			if t.LabelSelector != nil {
				f(t.LabelSelector)
			}
		}
	}
	for _, p := range c.Running {
		each(p)
	}
	for _, class := range c.Classes() {
		each(class.Pod)
	}
}

func requiredTerms(p *corev1.Pod) []corev1.PodAffinityTerm {
	var all []corev1.PodAffinityTerm
	if a := p.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			all = append(all, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		}
		if a.PodAntiAffinity != nil {
			all = append(all, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution...)
		}
	}
	return all
}
