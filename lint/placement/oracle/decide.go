package main

import (
	"context"
	"errors"
)

// decide compares verdicts, numbers and runs.
func (c *Comparer) decide(ctx context.Context, r *Report, cluster *Cluster, ours *Ours) error {
	truth, err := Explore(ctx, c.World, cluster, c.States)
	if errors.Is(err, ErrTooLarge) {
		r.Discarded = true
		return nil
	}
	if err != nil {
		return err
	}
	r.Truth = truth
	return nil
}
