package bound

import (
	"strings"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
)

// site is an eligible node and the number of pods of one workload that it holds.
type site struct {
	node *topology.Node
	cap  int
}

// siteSet holds the sites of one kind of pod in one view. Answers are cached, because many
// workloads ask the same.
type siteSet struct {
	sites []site
	most  map[string]int
	rooms map[string]map[string]int
}

func newSiteSet(sites []site) *siteSet {
	return &siteSet{sites: sites, most: map[string]int{}, rooms: map[string]map[string]int{}}
}

// apart returns the bound of the function apart for the set, cached.
func (s *siteSet) apart(keys []string) int {
	id := strings.Join(keys, ",")
	most, ok := s.most[id]
	if !ok {
		most = apart(s.sites, keys)
		s.most[id] = most
	}
	return most
}

// room returns how many pods fit into each domain of a key.
func (s *siteSet) room(key string, keys []string) map[string]int {
	id := key + "|" + strings.Join(keys, ",")
	room := s.rooms[id]
	if room == nil {
		room = map[string]int{}
		if len(keys) == 0 {
			s.addUp(room, key)
		} else {
			by, _ := domains(s.sites, key)
			for value, group := range by {
				room[value] = apart(group, keys)
			}
		}
		s.rooms[id] = room
	}
	return room
}

// addUp adds up what the sites of each domain of a key hold.
func (s *siteSet) addUp(room map[string]int, key string) {
	for i := range s.sites {
		if value, ok := s.sites[i].node.Labels[key]; ok {
			room[value] = min(room[value]+s.sites[i].cap, model.Unbounded)
		}
	}
}

// largest returns the most pods that one site holds under keys, and the first node that
// holds so many.
func (s *siteSet) largest(keys []string) (most int, node string) {
	for i := range s.sites {
		if n := s.sites[i].apart(keys); n > most {
			most, node = n, s.sites[i].node.Name
		}
	}
	return most, node
}

// apart returns how many pods the site holds: at most one if it carries one of the keys.
func (s *site) apart(keys []string) int {
	for _, k := range keys {
		if _, ok := s.node.Labels[k]; ok {
			return min(s.cap, 1)
		}
	}
	return s.cap
}

// mode selects what limits the sites of a set.
type mode struct {
	// fit leaves out nodes that are too small for one pod, room counts how many
	// pods fit by resources, ports allows one pod per node.
	fit, room, ports bool
	// keys identifies the labels that a node needs to be a site: the keys of all hard
	// spread constraints, or none.
	keys string
}

// setKey identifies a siteSet.
type setKey struct {
	view               *model.View
	signature, request string
	mode               mode
}

// keptSets caches the site sets of a model.
type keptSets struct {
	sets map[setKey]*siteSet
	// sites is the number of sites in all sets.
	sites int
}

func setsOf(m *model.Model) *keptSets {
	return model.KeepForNodes(m, func() *keptSets { return &keptSets{sets: map[setKey]*siteSet{}} })
}

// maxKept bounds the number of cached sites.
const maxKept = 500_000

// fitting returns a function that computes how many pods of a group an empty node of a view
// holds. It uses the cached amounts of declared nodes, except for pods whose manifest names
// their node, because a kubelet ignores some requests.
func fitting(m *model.Model, v *model.View, g *model.Group) func(i int, n *topology.Node) int {
	c := Capacities(m, g)
	return func(i int, n *topology.Node) int {
		if from := v.From[i]; from >= 0 && g.Spec.NodeName == "" {
			return c.At(from)
		}
		most, _ := model.Fits(n, g.Requests)
		return most
	}
}

// set returns the sites of a view for the pods of a workload.
func set(m *model.Model, v *model.View, g *model.Group, how mode) *siteSet {
	key := setKey{view: v, signature: g.Signature, mode: how}
	if how.fit {
		key.request = g.Request
	}
	kept := setsOf(m)
	if s := kept.sets[key]; s != nil {
		return s
	}
	m.Run().Spend(len(v.Nodes) * (1 + len(g.Requests)) / 2)
	e := m.Eligible(g.Workload)
	var keys []string
	if how.keys != "" {
		keys = model.HardKeys(g)
	}
	holds := fitting(m, v, g)
	sites := make([]site, 0, e.Count)
	for i, n := range v.Nodes {
		if !v.Passes(e, i).All() || !model.Carries(n.Labels, keys) {
			continue
		}
		most := model.Unbounded
		if how.fit {
			if most = holds(i, n); most == 0 {
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
	kept.sets[key] = s
	return s
}
