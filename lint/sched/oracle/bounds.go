package main

import (
	"context"

	"github.com/schedlint/schedlint/lint/sched/bound"
)

// bounds compares closed forms about single workloads with what exploration found: no more
// pods are placed than a limit says, and all of a workload that is said to fit alone.
func (c *Comparer) bounds(ctx context.Context, r *Report, cluster *Cluster, ours *Ours, truth *Truth) error {
	for _, s := range cluster.Series {
		w, span := ours.Workloads[s.Name], truth.Series[s.Name]
		if ours.Model.Group(w).Unknown.Given() {
			continue
		}
		for _, l := range bound.Capacity(ours.Model, w) {
			if l.Most < span.Max || l.Exceeded && span.Max == span.Pods {
				r.find("bound", string(l.By), "%s: %d of %d pods are placed, %s allows %d (exceeded: %v)", s.Name, span.Max, span.Pods, l.By, l.Most, l.Exceeded)
			}
		}
		company := len(ours.Model.Group(w).HardAffinity()) > 0 // of which that says nothing
		if company || span.Max == span.Pods || !bound.Fits(ours.Model, w) {
			continue
		}
		fits, err := c.fitsAlone(ctx, cluster, s)
		if err != nil {
			return err
		}
		if !fits {
			r.find("bound", "fits", "%s does not fit, even alone, and we say that it does", s.Name)
		}
	}
	return nil
}

// fitsAlone reports whether all pods of a workload can be placed if there are no others.
func (c *Comparer) fitsAlone(ctx context.Context, cluster *Cluster, s *Series) (bool, error) {
	alone := *cluster
	alone.Series, alone.Running = []*Series{s}, nil
	truth, err := Explore(ctx, c.World, &alone, c.States)
	if err != nil {
		return false, err
	}
	return truth.MaxPlaced == truth.Total, nil
}
