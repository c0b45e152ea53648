package lint

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
)

// topology reads the nodes of a part and says in the summary what there is. It
// is empty if something is wrong, as half of the nodes would leave pods Pending
// that are not.
func (r *run) topology(p part, among []*source.Object) *topology.Topology {
	topo, err := r.nodes(p, among)
	note := "no topology declared (--topology FILE)"
	if err != nil {
		r.fail(err)
		topo, note = &topology.Topology{}, "the topology could not be read"
	}
	s := &r.report.Summary
	if p.name != "" {
		s.Nodes += len(topo.Nodes)
	} else if more := len(topo.Nodes) - r.nodesCounted; more > 0 { // what has no cluster has the nodes in common
		r.nodesCounted += more
		s.Nodes += more
	}
	s.TopologyDeclared = s.TopologyDeclared || !topo.Empty()
	r.note(topo.Notes...)
	if topo.Empty() {
		r.note(in(p.name, note+": node selectors, taints, resources, host ports and the number of domains were not checked"))
		return topo
	}
	for _, o := range p.objects { // sets of possible nodes that are not read (R-S7)
		if o.Group() == "karpenter.sh" && (o.Kind == "NodePool" || o.Kind == "Provisioner") {
			r.passed.provisioners++
		}
	}
	return topo
}

// nodes reads what declares nodes: the files of a part, and the NodeTopology
// documents among its manifests.
func (r *run) nodes(p part, among []*source.Object) (*topology.Topology, error) {
	key := p.nodesKey(among)
	if known := r.nodesOf[key]; known != nil {
		r.passNodes(p, known.from)
		return known.topology, nil
	}
	objects, from, err := r.declared(p)
	if err != nil {
		return nil, err
	}
	others := r.ofClusters()
	for _, o := range among {
		if !from[o.File.Name] && !others[o.File.Name] {
			objects = append(objects, o)
		}
	}
	r.passNodes(p, from)
	topo, err := topology.LoadFrom(objects, r.namedAt)
	if err != nil {
		return nil, fmt.Errorf("reading topology: %w", err)
	}
	topo.Extended.Complete = r.Config.ClosesResources()
	if topo.Empty() && len(objects) > 0 {
		return nil, fmt.Errorf("reading topology: no node is declared in %s", strings.Join(append(slices.Clone(p.topology), r.fileNames(among)...), ", "))
	}
	if key != "" {
		r.nodesOf[key] = &declaredNodes{topo, from}
	}
	return topo, nil
}

// ofClusters are the files that the configuration names as the nodes of some cluster: they
// are nobody else's by chance.
func (r *run) ofClusters() map[string]bool {
	names := map[string]bool{}
	for _, c := range r.Config.Clusters {
		for _, path := range r.relative(c.Topology) {
			names[relative(filepath.ToSlash(resolved(r.Root)), filepath.ToSlash(resolved(absolute(r.Dir, path))))] = true
		}
	}
	return names
}

// declaredNodes are the nodes of some files.
type declaredNodes struct {
	topology *topology.Topology
	from     map[string]bool
}

// nodesKey is what the nodes of a render rest on; "" for anything else, which is asked
// for once.
func (p *part) nodesKey(among []*source.Object) string {
	if p.render == "" {
		return ""
	}
	key := strings.Join(p.topology, "\x00") + "\x00"
	for _, o := range among {
		key += fmt.Sprintf("%p ", o)
	}
	return key
}

// passNodes counts the nodes among manifests that declare none.
func (r *run) passNodes(p part, from map[string]bool) {
	for _, o := range p.objects {
		if o.Kind == "Node" && topology.Declares(o) && !from[o.File.Name] {
			r.passed.nodes++
		}
	}
}

// declared reads the topology files of a part and gives the names of the files.
// Every path has to declare a node, as one with a misspelt kind would otherwise
// pass for a smaller cluster.
func (r *run) declared(p part) (objects []*source.Object, from map[string]bool, err error) {
	var errs []error
	from = map[string]bool{}
	for _, path := range p.topology {
		set, err := source.Load(r.topologyOptions(path), []string{path})
		r.keep(set)
		errs = append(errs, r.wrong(set, path, err)...)
		for _, o := range set.Objects {
			if !from[o.File.Name] {
				objects = append(objects, o)
			}
		}
		for _, f := range set.Files {
			from[f.Name] = true
		}
	}
	return objects, from, errors.Join(errs...)
}

// topologyOptions are those for one path: of a directory only what is tracked
// counts, whereas a file is meant, be it the answer of a cluster that nobody
// would commit.
func (r *run) topologyOptions(path string) source.Options {
	opts := r.sourceOptions()
	if info, err := os.Stat(absolute(r.Dir, path)); err != nil || !info.IsDir() {
		opts.Tracked, opts.Strict = nil, true
	}
	return opts
}

// wrong is everything that is wrong with what a topology path leads to.
func (r *run) wrong(set *source.Set, path string, err error) []error {
	if err != nil {
		return []error{fmt.Errorf("topology: %w", err)}
	}
	var errs []error
	for _, p := range set.Problems {
		errs = append(errs, fmt.Errorf("reading topology: %s:%d: %s: %s", r.display(p.Span.File), p.Span.Line, p.Kind, p.Detail))
	}
	if len(errs) == 0 && !slices.ContainsFunc(set.Objects, topology.Declares) {
		errs = append(errs, fmt.Errorf("reading topology: no node is declared in %s: expected v1 Nodes or a NodeTopology, %s", path, found(set)))
	}
	return errs
}

// found names the first thing that stands where a topology was expected.
func found(set *source.Set) string {
	switch {
	case len(set.Objects) > 0:
		o := set.Objects[0]
		return "found " + o.Kind + " (" + cmp.Or(o.APIVersion, "no apiVersion") + ")"
	case len(set.Untracked) > 0 && len(set.Files) == 0:
		return "found untracked files only"
	case len(set.Skipped) > 0:
		return "found " + article(set.Skipped[0].Reason)
	}
	return "found no document"
}

// article puts a or an before a noun.
func article(noun string) string {
	if strings.Contains("aeiouAEIOU", noun[:1]) {
		return "an " + noun
	}
	return "a " + noun
}

func in(cluster, note string) string {
	if cluster == "" {
		return note
	}
	return "cluster " + cluster + ": " + note
}

func (r *run) fileNames(objects []*source.Object) []string {
	var names []string
	for _, o := range objects {
		file, _ := r.namedAt(o, o.NameSpan())
		names = append(names, file)
	}
	return names
}

// namedAt is a place in an object as messages name it: what was rendered is where that was
// written.
func (r *run) namedAt(o *source.Object, s diag.Span) (file string, at diag.Span) {
	if r.results[o.File.Name] == nil {
		return o.File.Display, s
	}
	s.File = o.File.Name
	at = r.inSources(s)
	return r.display(at.File), at
}
