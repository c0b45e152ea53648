package chart

import (
	"encoding/json"

	helm "helm.sh/helm/v3/pkg/chart"
)

// metadata is what templates see as .Chart. Helm has pointers in two of its lists, and
// prints their addresses where a template prints such a list: those are no two times the
// same, so the lists here hold what the pointers lead to.
type metadata struct {
	helm.Metadata // without the two lists
	Maintainers   []helm.Maintainer
	Dependencies  []helm.Dependency
	IsRoot        bool
}

func metadataOf(c *helm.Chart) metadata {
	m := metadata{Metadata: *c.Metadata, Maintainers: pointees(c.Metadata.Maintainers), Dependencies: pointees(c.Metadata.Dependencies), IsRoot: c.IsRoot()}
	m.Metadata.Maintainers, m.Metadata.Dependencies = nil, nil
	return m
}

// MarshalJSON gives the members that Helm gives, in its order.
func (m metadata) MarshalJSON() ([]byte, error) {
	all := struct {
		helm.Metadata
		IsRoot bool
	}{m.Metadata, m.IsRoot}
	all.Maintainers, all.Dependencies = pointers(m.Maintainers), pointers(m.Dependencies)
	return json.Marshal(all)
}

// pointees are what pointers lead to; Helm refuses lists with nil in them.
func pointees[T any](list []*T) (all []T) {
	for _, p := range list {
		if p != nil {
			all = append(all, *p)
		}
	}
	return all
}

func pointers[T any](list []T) (all []*T) {
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}
