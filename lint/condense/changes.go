package condense

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
)

// Change says in one sentence how two topologies differ, or returns "" if all that a verdict may
// depend on is the same. Unlike Differences, it compares names, bounds, exact amounts and objects
// about storage.
func Change(was, now *topology.Topology) string {
	const most = 5
	all := changes(was, now)
	if len(all) == 0 {
		return ""
	}
	all = append(presence(files(was), files(now)), all...)
	if more := len(all) - most; more > 0 {
		all = append(all[:most], fmt.Sprintf("and %d more", more))
	}
	text := "the nodes differ: "
	if len(was.Nodes) != len(now.Nodes) {
		text = fmt.Sprintf("%s became %d: ", plural(len(was.Nodes), "node"), len(now.Nodes))
	}
	return text + strings.Join(all, "; ")
}

// files returns the files that declare nodes.
func files(topo *topology.Topology) map[string]bool {
	return lists.SetOf(topo.All(), func(n *topology.Node) string { return "node file " + n.Span.File })
}

// changes lists the differences. Numbers of nodes come first.
func changes(was, now *topology.Topology) (all []string) {
	before, after := byName(was), byName(now)
	had, has := counts(before), counts(after)
	for _, at := range sortedKeys(had, has) {
		was, old := had[at]
		is, now := has[at]
		switch {
		case was != is:
			all = append(all, fmt.Sprintf("%s %d to %d", at, was, is))
		case !now:
			all = append(all, at+" is gone")
		case !old:
			all = append(all, at+" is new")
		}
	}
	if len(all) == 0 { // otherwise the numbers say it
		all = presence(before, after)
	}
	for _, name := range sortedKeys(before, after) {
		if a, b := before[name], after[name]; a != nil && b != nil {
			all = append(all, lists.Of(a.properties(b), func(text string) string { return name + ": " + text })...)
		}
	}
	all = append(all, open(was, now)...)
	if fields(reflect.ValueOf(was.Storage)) != fields(reflect.ValueOf(now.Storage)) {
		all = append(all, "storage differs")
	}
	x, y := stored(was), stored(now)
	all = append(all, presence(x, y)...)
	for _, name := range sorting.Keys(x) {
		if text, has := y[name]; has && x[name] != text {
			all = append(all, name+" differs")
		}
	}
	return all
}

// presence lists the keys that only one of two maps has.
func presence[V any](was, now map[string]V) []string {
	return changed(set(slices.Collect(maps.Keys(was))), set(slices.Collect(maps.Keys(now))))
}

// byName returns the pools and single nodes of a topology by name, with all that is declared.
func byName(topo *topology.Topology) map[string]*kind {
	all := map[string]*kind{}
	for _, k := range kinds(topo, nil) {
		all[k.name] = k
	}
	return all
}

// counts returns the numbers of nodes by pool and zone. Nodes of no pool count by zone.
func counts(kinds map[string]*kind) map[string]int {
	all := map[string]int{}
	for name, k := range kinds {
		for zone, n := range k.zones {
			at, single := name, strings.HasPrefix(name, "node ")
			switch {
			case single && zone == "":
				at = "nodes without a zone"
			case single:
				at = "zone " + zone
			case zone != "":
				at += ", zone " + zone
			}
			all[at] += n
		}
	}
	return all
}

// stored returns the objects about storage that count, which are the first of their names, as text.
func stored(topo *topology.Topology) map[string]string {
	all := map[string]string{}
	for i, doc := range (&Cluster{stored: topo.Stored}).storedDocuments() {
		o := topo.Stored[i]
		if name := o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/"); all[name] == "" {
			all[name] = encoded(doc)
		}
	}
	return all
}

// declare adds what a node and its pool declare apart from what Differences compares.
func (k *kind) declare(n *topology.Node) {
	if n.Live {
		k.has["live"] = ""
	}
	p := n.Pool
	if p == nil {
		return
	}
	if p.Min < p.Max {
		k.has["min and max"] = strings.Replace(fmt.Sprintf("%d to %d", p.Min, p.Max), fmt.Sprint(topology.Unbounded), "any", 1)
	}
	for what, is := range map[string]bool{"minValues": p.MinValues, "complete": p.Spec.Complete} {
		if is {
			k.has[what] = ""
		}
	}
	for name, q := range p.Spec.Reserved {
		k.has["reserved "+string(name)] = q.String()
	}
	for name, q := range p.Spec.Capacity {
		k.has["capacity "+string(name)] = q.String()
	}
	if p.Spec.Cost != nil {
		k.has["cost"] = fmt.Sprint(*p.Spec.Cost)
	}
	if u := p.Spec.Upgrade; u != nil {
		text := u.Surge.String() + " more, " + u.Unavailable.String() + " fewer"
		if u.Zone == topology.ZoneAny {
			text += ", in any zone"
		}
		if u.Cordon == topology.CordonAll {
			text += ", all cordoned"
		}
		k.has["upgrade"] = text
	}
}
