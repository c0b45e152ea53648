package bound

import (
	"strings"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
)

// site is an eligible node and how many pods of one workload it holds.
type site struct {
	node *topology.Node
	cap  int
}

// siteSet is the sites of one kind of pod in one view. Many workloads ask the
// same of it, so answers are kept.
type siteSet struct {
	sites []site
	most  map[string]int
	rooms map[string]map[string]int
}

func newSiteSet(sites []site) *siteSet {
	return &siteSet{sites: sites, most: map[string]int{}, rooms: map[string]map[string]int{}}
}

// apart is the bound of apart for the whole set.
func (s *siteSet) apart(keys []string) int {
	id := strings.Join(keys, ",")
	most, ok := s.most[id]
	if !ok {
		most = apart(s.sites, keys)
		s.most[id] = most
	}
	return most
}

// room is how many pods fit into each domain of a key.
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

// addUp sums up what the sites of each domain of a key hold.
func (s *siteSet) addUp(room map[string]int, key string) {
	for i := range s.sites {
		if value, ok := s.sites[i].node.Labels[key]; ok {
			room[value] = min(room[value]+s.sites[i].cap, model.Unbounded)
		}
	}
}

// largest is the most pods that one site holds under keys, and the first that
// holds so many.
func (s *siteSet) largest(keys []string) (most int, node string) {
	for i := range s.sites {
		if n := s.sites[i].apart(keys); n > most {
			most, node = n, s.sites[i].node.Name
		}
	}
	return most, node
}

// apart is what one site holds: one pod if it carries one of the keys.
func (s *site) apart(keys []string) int {
	for _, k := range keys {
		if _, ok := s.node.Labels[k]; ok {
			return min(s.cap, 1)
		}
	}
	return s.cap
}

// mode says what limits the sites of a set.
type mode struct {
	// fit leaves out nodes that are too small for one pod, room counts how many
	// pods fit by resources, ports lets one pod be on a node.
	fit, room, ports bool
	// keys stands for the labels that a node needs to be a site: those of all hard
	// spread constraints, or none.
	keys string
}

// setKey identifies a siteSet.
type setKey struct {
	view               *model.View
	signature, request string
	mode               mode
}

// keptSets are the sets of a model that are kept.
type keptSets struct {
	sets map[setKey]*siteSet
	// sites is how many there are in sets.
	sites int
}

func setsOf(m *model.Model) *keptSets {
	return model.KeepForNodes(m, func() *keptSets { return &keptSets{sets: map[setKey]*siteSet{}} })
}

// maxKept bounds the sites that are kept for workloads which ask the same.
const maxKept = 500_000

// fitting tells how many pods of a group a node of a view holds when empty. What the
// declared nodes offer is known as numbers, but for pods that a manifest binds: a kubelet
// passes over some requests.
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

// set gives the sites of a view for the pods of a workload.
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
