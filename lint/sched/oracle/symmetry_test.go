package main

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/trials"
)

// TestSymmetry holds exploration by kinds of nodes against exploration that tells all nodes
// apart: of small clusters, and of large ones of which a few nodes are left.
func TestSymmetry(t *testing.T) {
	cases := trials.AtLeast(t, 100, 10)
	w := newComparer(options{}).World
	compared, merged := 0, 0
	for _, family := range clusters.Families {
		for i := range trials.Seeds(t, cases) {
			c := clusters.Generate(family, 11, uint64(i))
			// The first nodes of a large cluster are scarce; among four later ones two
			// are of one kind at least.
			c.Nodes = c.Nodes[:min(len(c.Nodes), 7)]
			plain, kinds := exploredBothWays(t, w, c)
			if plain == nil {
				continue
			}
			compared++
			if kinds.States < plain.States {
				merged++
			}
			kinds.States = plain.States
			if !reflect.DeepEqual(kinds, plain) {
				t.Errorf("%s case %d: %+v, by kinds %+v", family, i, plain, kinds)
			}
		}
	}
	if all := cases * len(clusters.Families); compared < all*3/4 || merged < all/10 {
		t.Errorf("of %d cases %d were compared, and %d had nodes of one kind", all, compared, merged)
	}
}

// exploredBothWays is nil for a case with too many states, or one that is refused.
func exploredBothWays(t *testing.T, w *World, c *clusters.Case) (plain, kinds *Truth) {
	t.Helper()
	cluster, err := NewCluster(c.Text())
	if err != nil {
		return nil, nil
	}
	of, err := cluster.kinds()
	if err != nil {
		return nil, nil
	}
	plain, err = explore(context.Background(), w, cluster, 3000, nil)
	if errors.Is(err, ErrTooLarge) {
		return nil, nil
	}
	if err == nil {
		kinds, err = explore(context.Background(), w, cluster, 3000, of)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plain, kinds
}
