package lint

import (
	"slices"

	"github.com/schedlint/schedlint/lint/condense"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
)

// SeenNodes holds the nodes of a run by the key of the part. A part has several topologies only if
// alternatives among its manifests declare nodes. A topology is nil if it could not be read.
type SeenNodes map[string][]*topology.Topology

// of returns the nodes of a part. A part that is not known has those of another part that is no
// configured cluster.
func (s SeenNodes) of(key string) []*topology.Topology {
	if known, ok := s[key]; ok || configured(key) {
		return known
	}
	for _, other := range sorting.Keys(s) {
		if !configured(other) {
			return s[other]
		}
	}
	return nil
}

// configured reports whether a key is the name of a configured cluster.
func configured(key string) bool { return key != "" && key[0] != 0 }

// Changes says how the nodes differ from those of an earlier run. sure is set if a run with the
// earlier nodes shows what follows.
func (s SeenNodes) Changes(before SeenNodes) (all []diag.Silence) {
	type pair struct{ was, now *topology.Topology }
	compared := map[pair]bool{}
	for _, key := range sorting.Keys(s) {
		was, now := before.of(key), s[key]
		if was == nil {
			continue
		}
		for i := range max(len(was), len(now)) {
			p := pair{&topology.Topology{}, &topology.Topology{}}
			if i < len(was) {
				p.was = was[i]
			}
			if i < len(now) {
				p.now = now[i]
			}
			if p.was == nil || p.now == nil || compared[p] {
				continue
			}
			compared[p] = true
			if text := condense.Change(p.was, p.now); text != "" {
				one := diag.Silence{Message: text}
				if configured(key) {
					one.Message = in(key, text)
				}
				if nodes := p.now.All(); len(nodes) > 0 {
					one.Location = nodes[0].Span
				}
				if !slices.Contains(all, one) {
					all = append(all, one)
				}
			}
		}
	}
	return all
}
