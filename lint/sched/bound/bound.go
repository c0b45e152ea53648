package bound

import (
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
)

// apart returns an upper bound on how many pods fit on the sites when no two pods may share a
// domain of any key. A key does not limit nodes that lack it (R-A6, R-M1). The bound is exact for
// nested keys, such as host within zone. For other keys, it is the lowest bound of any single key
// or nested pair of keys.
func apart(sites []site, keys []string) int {
	if len(keys) == 0 {
		return total(sites)
	}
	count := map[string]int{} // number of values per key
	for _, k := range keys {
		by, _ := domains(sites, k)
		count[k] = len(by)
	}
	ordered := slices.Clone(keys)
	slices.SortStableFunc(ordered, func(a, b string) int { return count[a] - count[b] })
	ordered = slices.Compact(ordered)
	if nested(sites, ordered) {
		return nestedApart(sites, ordered)
	}
	best := model.Unbounded
	for i := range ordered {
		best = min(best, apart(sites, ordered[i:i+1]))
		for j := i + 1; j < len(ordered); j++ {
			if pair := []string{ordered[i], ordered[j]}; nested(sites, pair) {
				best = min(best, nestedApart(sites, pair))
			}
		}
	}
	return best
}

// total returns how many pods fit on the sites in total, capped at Unbounded.
func total(sites []site) int {
	sum := 0
	for _, s := range sites {
		if sum += s.cap; sum >= model.Unbounded {
			return model.Unbounded
		}
	}
	return sum
}

// domains groups sites by their value for a key. without lists the sites that lack the key.
func domains(sites []site, key string) (by map[string][]site, without []site) {
	sizes := map[string]int{}
	for i := range sites {
		if v, ok := sites[i].node.Labels[key]; ok {
			sizes[v]++
		}
	}
	by = make(map[string][]site, len(sizes))
	for i := range sites {
		v, ok := sites[i].node.Labels[key]
		if !ok {
			without = append(without, sites[i])
			continue
		}
		if by[v] == nil {
			by[v] = make([]site, 0, sizes[v])
		}
		by[v] = append(by[v], sites[i])
	}
	return by, without
}

// nested reports whether every domain of a key lies within one domain of the preceding key.
func nested(sites []site, ordered []string) bool {
	for i := 1; i < len(ordered); i++ {
		outer := map[string]string{}
		for _, s := range sites {
			fine, ok := s.node.Labels[ordered[i]]
			if !ok {
				continue
			}
			coarse, has := s.node.Labels[ordered[i-1]]
			if !has {
				coarse = "\x00"
			}
			if was, seen := outer[fine]; seen && was != coarse {
				return false
			}
			outer[fine] = coarse
		}
	}
	return true
}

func nestedApart(sites []site, ordered []string) int {
	if len(ordered) == 0 {
		return total(sites)
	}
	by, without := domains(sites, ordered[0])
	sum := nestedApart(without, ordered[1:])
	for _, group := range by {
		sum += min(1, nestedApart(group, ordered[1:]))
	}
	return min(sum, model.Unbounded)
}

// bound computes the limit that a spread constraint imposes (R-M2, R-M3). A domain's room is the
// number of pods that fit in it under the other rules. The eligible domain with the least room sets
// the minimum, and pods of other workloads can raise it: they fill the domains with the least room. No
// domain can exceed that minimum by more than the skew.
func bound(r *model.SpreadRule, sites *siteSet, keys []string) (most, smallest int, smallestDomain string) {
	room := sites.room(r.Term.Key, keys)
	smallest = model.Unbounded
	var rooms []int
	for _, value := range model.SortedKeys(r.Eligible) {
		if r.Eligible[value] && room[value] < smallest {
			smallest, smallestDomain = room[value], value
		}
		if r.Eligible[value] {
			rooms = append(rooms, room[value])
		}
	}
	if len(r.Eligible) < r.Term.MinDomains() {
		smallest, smallestDomain = 0, ""
	}
	least, sum := smallest+r.Foreign, r.Foreign
	slices.Sort(rooms)
	for i, c := range rooms {
		if sum += c; smallestDomain != "" {
			least = min(least, sum/(i+1))
		}
	}
	limit := min(model.Unbounded, least+int(r.Term.Constraint.MaxSkew))
	if smallestDomain == "" { // no eligible domain limits the others
		smallest = 0
	}
	for _, c := range room {
		most += min(c, limit)
	}
	return min(most, model.Unbounded), smallest, smallestDomain
}

// pinned groups sites by the domains to which required self-affinity confines the pods. The first
// pod chooses the domains, and the other pods follow (R-A9, R-A14, R-M4). A site that lacks one of
// the keys cannot accept a pod.
func pinned(sites *siteSet, keys []string) []*siteSet {
	if len(keys) == 0 {
		return []*siteSet{sites}
	}
	by := map[string][]site{}
	for _, s := range sites.sites {
		if !model.Carries(s.node.Labels, keys) {
			continue
		}
		tuple := ""
		for _, k := range keys {
			tuple += s.node.Labels[k] + "\x00"
		}
		by[tuple] = append(by[tuple], s)
	}
	return lists.Of(model.SortedKeys(by), func(tuple string) *siteSet { return newSiteSet(by[tuple]) })
}

// selfKeys returns the topology keys of required affinity that only the workload's own pods can
// satisfy. All pods must match each other, and no other declared pod may match. Otherwise the
// result is nil.
func selfKeys(m *model.Model, g *model.Group) []string {
	var keys []string
	for t := range g.Hard(model.Affinity) {
		if m.Self(t, g.Workload) != model.Yes || m.Peer(t, g.Workload, g.Workload) != model.Yes || len(m.Others(t, g.Workload, true)) > 0 {
			return nil
		}
		keys = append(keys, t.Key)
	}
	return keys
}

// site is an eligible node, with the number of the workload's pods that fit on it.
type site struct {
	node *topology.Node
	cap  int
}

// siteSet holds the sites for one kind of pod in one view. It caches results because many workloads
// share a set.
type siteSet struct {
	sites []site
	most  map[string]int
	rooms map[string]map[string]int
}

func newSiteSet(sites []site) *siteSet {
	return &siteSet{sites: sites, most: map[string]int{}, rooms: map[string]map[string]int{}}
}

// apart returns the result of the function apart for the set, and caches it.
func (s *siteSet) apart(keys []string) int {
	id := strings.Join(keys, ",")
	return lazy.Cached(s.most, id, func() int { return apart(s.sites, keys) })
}

// room returns how many pods fit in each domain of a key.
func (s *siteSet) room(key string, keys []string) map[string]int {
	id := key + "|" + strings.Join(keys, ",")
	return lazy.Cached(s.rooms, id, func() map[string]int {
		room := map[string]int{}
		if len(keys) == 0 {
			for i := range s.sites {
				if value, ok := s.sites[i].node.Labels[key]; ok {
					room[value] = min(room[value]+s.sites[i].cap, model.Unbounded)
				}
			}
		} else {
			by, _ := domains(s.sites, key)
			for value, group := range by {
				room[value] = apart(group, keys)
			}
		}
		return room
	})
}

// mode selects the rules that limit a set's sites.
type mode struct {
	// fit omits nodes that are too small for one pod. room limits the pods on a node to what its
	// resources allow. ports allows at most one pod per node.
	fit, room, ports bool
	// keys identifies the label keys that a site must have. These are the keys of all hard spread
	// constraints. If keys is "", a site needs no keys.
	keys string
}

type setKey struct {
	view               *model.View
	signature, request string
	mode               mode
}

type keptSets struct {
	sets map[setKey]*siteSet
	// sites is the number of sites in all sets.
	sites int
}

// maxKept is the maximum number of cached sites.
const maxKept = 500_000

// set returns the view's sites for a group's pods.
func set(m *model.Model, v *model.View, g *model.Group, how mode) *siteSet {
	key := setKey{view: v, signature: g.Signature, mode: how}
	if how.fit {
		key.request = g.Request
	}
	kept := model.KeepForNodes(m, func() *keptSets { return &keptSets{sets: map[setKey]*siteSet{}} })
	return lazy.Cached(kept.sets, key, func() *siteSet {
		m.Run().Spend(len(v.Nodes) * (1 + len(g.Requests)) / 2)
		e := m.Eligible(g.Workload)
		var keys []string
		if how.keys != "" {
			keys = model.HardKeys(g)
		}
		amounts := Capacities(m, g)
		sites := make([]site, 0, e.Count)
		for i, n := range v.Nodes {
			if !v.Passes(e, i).All() || !model.Carries(n.Labels, keys) {
				continue
			}
			most := model.Unbounded
			if how.fit {
				if from := v.From[i]; from >= 0 && g.Spec.NodeName == "" {
					most = amounts.At(from)
				} else { // a kubelet ignores some requests
					most, _ = model.Fits(n, g.Requests)
				}
				if most == 0 {
					continue
				}
			}
			if !how.room {
				most = model.Unbounded
			}
			if how.ports || g.Kind.PerNode() {
				most = min(most, 1)
			}
			sites = append(sites, site{node: n, cap: most})
		}
		s := newSiteSet(sites)
		if kept.sites += len(sites); kept.sites > maxKept {
			clear(kept.sets)
			kept.sites = len(sites)
		}
		return s
	})
}
