package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Ours is schedlint's view of a case.
type Ours struct {
	Model     *model.Model
	Set       *workload.Set
	Workloads map[string]*workload.Workload
	Nodes     []*topology.Node   // by name, as in a Cluster
	Refusals  []workload.Refusal // of objects that create no pods
}

// NewOurs reads the same bytes as NewCluster.
func NewOurs(nodes, manifests string) (*Ours, error) {
	nodeObjects, err := parse(nodes)
	if err != nil {
		return nil, err
	}
	objects, err := parse(manifests)
	if err != nil {
		return nil, err
	}
	topo, err := topology.Load(slices.Concat(nodeObjects, objects)) // CSINodes are among the manifests
	if err != nil {
		return nil, err
	}
	topo.Extended.Complete = true // as for the scheduler
	set := workload.Load(workload.NewTable(), objects)
	for _, w := range set.Workloads {
		w.PlainClass = w.PlainClass || len(w.Adds) == 0 && len(w.Spec.Overhead) > 0 // the class adds what the pods have
	}
	model := sched.New(set, topo)
	model.Scale(scale(len(topo.Nodes)), 1)
	model.Run().OnRefusal = func(err error) { panic(err) }
	o := &Ours{Model: model, Set: set, Workloads: map[string]*workload.Workload{}, Nodes: model.Topology.Nodes, Refusals: set.Refusals}
	for _, w := range set.Workloads {
		o.Workloads[w.Object.Kind+" "+w.Object.Namespace+"/"+w.Object.Name] = w
	}
	return o, nil
}

// scale is how many times the usual budget our side has: what it leaves open is not
// compared, but among many nodes a thousand times takes minutes.
func scale(nodes int) float64 {
	if nodes <= fewNodes {
		return 1000
	}
	return 10
}

func parse(text string) ([]*source.Object, error) {
	set, err := source.Load(source.Options{Dir: "/", Root: "/", Stdin: strings.NewReader(text)}, []string{"-"})
	if err != nil {
		return nil, err
	}
	for _, p := range set.Problems {
		return nil, fmt.Errorf("%s: %s", p.Kind, p.Detail)
	}
	return set.Objects, nil
}

// unknown reports whether our side does not know how to place the pods of some workload, and leaves
// them out of its numbers. What provisioners choose is not unknown, because a decision covers each choice.
func (o *Ours) unknown(cluster *Cluster) bool {
	chosen := map[*workload.Workload]bool{}
	for _, c := range o.Model.Choices() {
		for _, w := range c.Users {
			chosen[w] = true
		}
	}
	for name, w := range o.Workloads {
		if o.Model.Group(w).Unknown.Given() && !chosen[w] && !w.Refused() && !cluster.Aside[name] {
			return true
		}
	}
	return false
}

// open reports whether it is not known on our side which pods some hard term
// selects.
func (o *Ours) open(cluster *Cluster) bool {
	if o.unknown(cluster) {
		return true
	}
	for _, a := range o.Workloads {
		g := o.Model.Group(a)
		for _, t := range g.Terms {
			for _, b := range o.Workloads {
				if t.Hard && (o.Model.Peer(t, a, b) == model.Maybe || o.Model.Self(t, a) == model.Maybe) {
					return true
				}
			}
		}
	}
	return false
}
