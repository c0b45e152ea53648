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
		s.rooms[id] = room
	}
	return room
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

// maxKept bounds the number of cached sites.
const maxKept = 500_000

// set returns the sites of a view for the pods of a workload.
func set(m *model.Model, v *model.View, g *model.Group, how mode) *siteSet {
	key := setKey{view: v, signature: g.Signature, mode: how}
	if how.fit {
		key.request = g.Request
	}
	kept := model.KeepForNodes(m, func() *keptSets { return &keptSets{sets: map[setKey]*siteSet{}} })
	if s := kept.sets[key]; s != nil {
		return s
	}
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
	kept.sets[key] = s
	return s
}
