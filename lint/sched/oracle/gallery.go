package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/fixtures/clusters"
)

// gallery shrinks agreeing cases in which order matters to what makes it
// matter, and keeps one for each mixture of fields.
func gallery(o options, folder string, wanted int) error {
	comparer := newComparer(o)
	comparer.Walks = 0
	seen := map[string]bool{}
	for i := range o.cases {
		for _, family := range o.families {
			if len(seen) >= wanted {
				return nil
			}
			c := clusters.Generate(family, o.seed, uint64(i))
			if !comparer.instructive(c) {
				continue
			}
			for again := true; again; {
				c, again = comparer.step(c)
			}
			features := features(c)
			if key := strings.Join(features, "-"); !seen[key] {
				seen[key] = true
				comment := "Order matters: " + strings.Join(features, ", ")
				if err := save(comparer.World, folder, fmt.Sprintf("order-%02d", len(seen)), comment, c); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *Comparer) instructive(k *clusters.Case) bool {
	nodes, manifests := k.Text()
	r, err := c.try(nodes, manifests)
	return err == nil && r.Truth != nil && len(r.Findings) == 0 && !r.Open && r.Truth.Verdict == OrderDependent
}

// step makes an instructive case smaller, if it can.
func (c *Comparer) step(k *clusters.Case) (*clusters.Case, bool) {
	for next := range k.Smaller() {
		if c.instructive(next) {
			return next, true
		}
	}
	return k, false
}

// features are the fields that make up a case.
func features(c *clusters.Case) []string {
	nodes, manifests := c.Text()
	var all []string
	for _, word := range []string{
		"podAffinity", "podAntiAffinity", "topologySpreadConstraints", "minDomains", "nodeTaintsPolicy", "nodeAffinityPolicy", "matchLabelKeys", "mismatchLabelKeys",
		"namespaceSelector", "nodeSelector", "nodeAffinity", "tolerations", "hostPort", "requests", "limits", "DaemonSet", "StatefulSet", "Job", "nodeName", "allocatable", "Running",
	} {
		if strings.Contains(nodes+manifests, word+":") || strings.Contains(manifests, ": "+word) {
			all = append(all, word)
		}
	}
	slices.Sort(all)
	return all
}

func trimmed(s string) string { return strings.TrimRight(s, "\n") }
