package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
)

// topology reads the nodes of a part: its files, and NodeTopology documents
// among its manifests. It is empty if something is wrong with it.
func (r *run) topology(p part, among []*source.Object) *topology.Topology {
	objects, from, read := r.declared(p)
	for _, o := range among {
		if !from[o.File.Name] {
			objects = append(objects, o)
		}
	}
	for _, o := range p.objects {
		if o.Kind == "Node" && topology.Declares(o) && !from[o.File.Name] {
			r.passed.nodes++
		}
	}
	topo, err := topology.Load(objects)
	if err != nil {
		r.fail(fmt.Errorf("reading topology: %w", err))
		topo = &topology.Topology{}
	}
	if err == nil && read && topo.Empty() && len(among) > 0 {
		r.fail(fmt.Errorf("reading topology: no node is declared in %s", strings.Join(fileNames(among), ", ")))
	}
	s := &r.report.Summary
	s.Nodes += len(topo.Nodes)
	s.TopologyDeclared = s.TopologyDeclared || !topo.Empty()
	s.Notes = append(s.Notes, topo.Notes...)
	switch {
	case !topo.Empty():
	case err != nil || !read || len(among) > 0:
		s.Notes = append(s.Notes, in(p.name, "the topology could not be read: "+unchecked))
	default:
		s.Notes = append(s.Notes, in(p.name, "no topology is declared (--topology FILE): "+unchecked))
	}
	return topo
}

const unchecked = "node selectors, taints, resources, host ports and the number of domains were not checked"

// declared reads the topology files of a part and gives the names of those that
// were read. Every path has to declare a node, as one with a misspelt kind would
// otherwise pass for a smaller cluster; read is false if something is wrong.
func (r *run) declared(p part) (objects []*source.Object, from map[string]bool, read bool) {
	from, read = map[string]bool{}, true
	for _, path := range p.topology {
		before := len(r.errs)
		set, err := source.Load(r.sourceOptions(), []string{path})
		r.fail(err)
		r.keep(set)
		for _, problem := range set.Problems {
			r.fail(fmt.Errorf("reading topology: %s:%d: %s: %s", r.display(problem.Span.File), problem.Span.Line, problem.Kind, problem.Detail))
		}
		if len(r.errs) == before && !slices.ContainsFunc(set.Objects, topology.Declares) {
			r.fail(fmt.Errorf("reading topology: no node is declared in %s: expected v1 Nodes or a NodeTopology, %s", path, found(set)))
		}
		read = read && len(r.errs) == before
		for _, o := range set.Objects {
			if !from[o.File.Name] {
				objects = append(objects, o)
			}
		}
		for _, f := range set.Files {
			from[f.Name] = true
		}
	}
	return objects, from, read
}

// found names the first thing that stands where a topology was expected.
func found(set *source.Set) string {
	switch {
	case len(set.Objects) > 0:
		o := set.Objects[0]
		return strings.TrimSpace("found " + o.Kind + " (" + cmp.Or(o.APIVersion, "no apiVersion") + ")")
	case len(set.Skipped) > 0:
		return "found a " + set.Skipped[0].Reason
	}
	return "found no document"
}

func in(cluster, note string) string {
	if cluster == "" {
		return note
	}
	return "cluster " + cluster + ": " + note
}

func fileNames(objects []*source.Object) []string {
	var names []string
	for _, o := range objects {
		names = append(names, o.File.Display)
	}
	return names
}
