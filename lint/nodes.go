package lint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
	"github.com/schedlint/schedlint/lint/worktree"
)

// topologies reads the nodes for each part of a run.
type topologies struct {
	files   *locate.Files
	renders *locate.Renders
	summary *summary
	// rules lists the NodeFeatureRules among all manifests. They give labels to nodes, in whatever part
	// they are.
	rules []*source.Object
	// read caches the nodes of renders and entry pointers by nodesKey. counted holds the
	// nodes in the summary that belong to no configured cluster.
	read    map[string]*declaredNodes
	counted []*topology.Node
	// seen and given are those of the options.
	seen, given SeenNodes
}

// of reads the nodes of a part. It also counts them in the summary and adds errors and notes. On an
// error, it returns no nodes. With an incomplete topology, pods could wrongly seem to stay Pending.
func (t *topologies) of(p part, among []*source.Object, to *effects) *topology.Topology {
	topo, err := t.nodes(p, among)
	if t.seen != nil {
		t.seen[p.key()] = append(t.seen[p.key()], topo)
	}
	if given := t.given.of(p.key()); err == nil && len(given) == 1 && given[0] != nil {
		given[0].Extended.Complete = topo.Extended.Complete
		topo = given[0]
	}
	note := "no topology declared (--topology FILE)"
	if err != nil {
		to.fail(err)
		topo, note = &topology.Topology{}, "the topology could not be read"
	}
	s := t.summary
	if p.name != "" {
		s.addNodes(topo.Nodes, 1)
	} else if len(topo.Nodes) > len(t.counted) { // parts outside named clusters share their nodes
		s.addNodes(t.counted, -1)
		s.addNodes(topo.Nodes, 1)
		t.counted = topo.Nodes
	}
	s.TopologyDeclared = s.TopologyDeclared || !topo.Empty()
	to.notes = append(to.notes, topo.Notes...)
	if topo.Empty() {
		to.notes = append(to.notes, in(p.name, note+": node selectors, taints, resources, host ports and the number of domains were not checked"))
		return topo
	}
	for _, o := range p.objects { // these describe possible nodes that are not read (R-S7)
		declared := func(n *topology.Node) bool { return n.Labels[topology.NodePool] == o.Name }
		if p.entry == "" && o.Group() == "karpenter.sh" && (o.Kind == "NodePool" || o.Kind == "Provisioner") && !slices.ContainsFunc(topo.All(), declared) {
			s.passed.provisioners++
		}
	}
	return topo
}

// nodes reads the topology files of a part and the NodeTopology documents among its manifests.
func (t *topologies) nodes(p part, among []*source.Object) (*topology.Topology, error) {
	key := "" // nodes of other parts than renders and entry pointers are read only once
	if p.render+p.entry != "" {
		key = strings.Join(p.topology, "\x00") + "\x00"
		for _, o := range among {
			key += fmt.Sprintf("%p ", o)
		}
	}
	if known := t.read[key]; known != nil {
		t.passNodes(p, known.from)
		return known.topology, nil
	}
	objects, from, err := t.declared(p)
	if err != nil {
		return nil, err
	}
	stored := lists.Where(objects, workload.Stores)
	others := t.files.NodesOfClusters()
	among, unknown := t.ofTree(among)
	added := map[string]bool{} // files among the manifests
	for _, o := range among {
		if !from[o.File.Name] && !others[o.File.Name] {
			objects = append(objects, o)
			added[o.File.Name] = len(p.topology) > 0
		}
	}
	t.passNodes(p, from)
	topo, err := topology.LoadFrom(objects, t.renders.NamedAt, t.beside)
	if err != nil {
		if len(p.topology) > 0 && len(added) > 0 {
			err = fmt.Errorf("%w (a NodeTopology among the manifests counts together with the node files)", err)
		}
		return nil, fmt.Errorf("reading topology: %w", err)
	}
	topo.Notes = append(topo.Notes, unknown...)
	more := map[string]bool{}
	for _, n := range topo.All() {
		if added[n.Span.File] {
			more[n.Span.File] = true
		}
	}
	for _, file := range sorting.Keys(more) { // they may be those of another cluster
		topo.Notes = append(topo.Notes, t.files.Display(file)+" is among the manifests, and its nodes count together with those of the node files")
	}
	topo.Stored = append(stored, topo.Stored...) // in front, because the first declaration of a class wins
	topo.Extended.Complete = t.files.Config.ClosesResources()
	topo.AddFeatureRules(t.rules)
	if topo.Empty() && len(objects) > 0 {
		read := slices.Concat(p.topology, t.renders.FileNames(among))
		return nil, fmt.Errorf("reading topology: no node is declared in %s", strings.Join(read, ", "))
	}
	if key != "" {
		t.read[key] = &declaredNodes{topo, from}
	}
	return topo, nil
}

// ofTree returns the objects that declare nodes as the files of Options.Tree have them: nodes decide which
// answers are open, so a change must not add its own. The notes name the files that differ.
func (t *topologies) ofTree(among []*source.Object) (all []*source.Object, notes []string) {
	opts := t.files.Reading
	if opts.Tree.Dir == "" {
		return among, nil
	}
	was := map[string][]*source.Object{} // by file
	for _, o := range among {
		name := o.File.Name
		if o.File.Result {
			all = append(all, o)
			continue
		}
		if _, known := was[name]; known {
			continue
		}
		was[name] = nil
		text, err := worktree.ReadFile(opts.Tree.Dir, name, maxBeside)
		if err != nil {
			notes = append(notes, t.files.Display(name)+" is new, and its nodes do not count")
			continue
		}
		for _, old := range source.LoadText(opts, name, text).Objects {
			if old.Kind == o.Kind && old.Group() == o.Group() {
				was[name] = append(was[name], old)
			}
		}
		if !bytes.Equal(text, o.File.Text) {
			notes = append(notes, t.files.Display(name)+" declares nodes, which count as in "+opts.Tree.Display(name)+", not as in the work tree")
		}
		all = append(all, was[name]...)
	}
	return all, notes
}

// maxBeside is the maximum size in bytes of a file that a node file names.
const maxBeside = 8 << 20

// beside reads a file that a node file names, relative to its directory. It reads only regular files inside
// the work tree, or below the directory of a node file that is outside.
func (t *topologies) beside(o *source.Object, name string) *source.File {
	opts := t.files.Reading
	root, at := opts.Root, path.Join(path.Dir(o.File.Name), name)
	if worktree.Check(opts.Tree.Dir, o.File.Name, maxBeside) == nil && opts.Tree.Dir != "" {
		root = opts.Tree.Dir
	}
	if !worktree.Local(o.File.Name) {
		root, at = filepath.Dir(worktree.Absolute(root, filepath.FromSlash(o.File.Name))), name
	}
	if path.IsAbs(name) || !worktree.Local(at) {
		return nil
	}
	text, err := worktree.ReadFile(root, at, maxBeside)
	if err != nil {
		return nil
	}
	opts.Strict = true
	set := source.LoadText(opts, path.Join(path.Dir(o.File.Name), name), text)
	if len(set.Problems) > 0 || len(set.Files) != 1 {
		return nil
	}
	return set.Files[0]
}

// Nodes reads the nodes of the topology files, and returns all objects of the files.
func Nodes(ctx context.Context, o Options) (*topology.Topology, []*source.Object, error) {
	o.whole = true
	t := newRun(ctx, o, nil).clusters.topologies
	objects, _, err := t.declared(part{topology: o.Topology})
	if err != nil {
		return nil, nil, err
	}
	topo, err := topology.LoadFrom(objects, t.renders.NamedAt, t.beside)
	if err == nil && topo.Empty() {
		err = fmt.Errorf("no node is declared in %s", strings.Join(o.Topology, ", "))
	}
	return topo, objects, err
}

// Workloads returns the workloads of manifests.
func Workloads(ctx context.Context, o Options) (all []diag.Object, err error) {
	r := newRun(ctx, o, nil)
	for _, p := range r.clusters.parts(r.load()) {
		c := r.clusters.divide(p)
		r.apply(c)
		for _, w := range c.whole.Workloads {
			all = append(all, w.Object.ID())
		}
	}
	return all, r.failures.err()
}

// declaredNodes is a topology with the files that declare it.
type declaredNodes struct {
	topology *topology.Topology
	from     map[string]bool
}

// passNodes counts the Node objects that are in the manifests but not part of the topology.
func (t *topologies) passNodes(p part, from map[string]bool) {
	if p.entry != "" {
		return
	}
	for _, o := range p.objects {
		if o.Kind == "Node" && topology.Declares(o) && !from[o.File.Name] {
			t.summary.passed.nodes++
		}
	}
}

// declared reads the topology files of a part and also returns their names. It returns an error if
// a path declares no node. Without the error, a misspelled kind could silently shrink the cluster.
func (t *topologies) declared(p part) (objects []*source.Object, from map[string]bool, err error) {
	var errs []error
	from = map[string]bool{}
	for _, path := range p.topology {
		// In a directory, only tracked files are read. An explicitly named file is always read,
		// because it may be a cluster export that is never committed.
		opts := t.files.Reading
		opts.Kindless = topology.Kindless
		at := worktree.Absolute(t.files.Dir, path)
		if info, err := os.Stat(at); err != nil || !info.IsDir() {
			opts.Tracked, opts.Strict = nil, true
		} else if _, old := opts.Tree.Name(at); old { // git tracks what is in a tree
			opts.Tracked = nil
		}
		set, err := source.Load(opts, []string{path})
		t.files.Keep(set)
		errs = append(errs, t.wrong(set, path, err)...)
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

// wrong returns all errors found at a topology path.
func (t *topologies) wrong(set *source.Set, path string, err error) []error {
	if err != nil {
		return []error{fmt.Errorf("topology: %w", err)}
	}
	var errs []error
	for _, p := range set.Problems {
		errs = append(errs, fmt.Errorf("reading topology: %s:%d: %s: %s", t.files.Display(p.Span.File), p.Span.Line, p.Kind, p.Detail))
	}
	if len(errs) == 0 && !slices.ContainsFunc(set.Objects, topology.DeclaresIfNamed) {
		errs = append(errs, fmt.Errorf("reading topology: no node is declared in %s: expected Nodes, a NodeTopology or a file that docs/nodes.md lists, %s%s", path, found(set), topology.Instead(set.Files)))
	}
	return errs
}

// found describes the first object or document found where a topology was expected.
func found(set *source.Set) string {
	switch {
	case len(set.Objects) > 0:
		o := set.Objects[0]
		return "found " + o.Kind + " (" + cmp.Or(o.APIVersion, "no apiVersion") + ")"
	case len(set.Untracked) > 0 && len(set.Files) == 0:
		return "found untracked files only"
	case len(set.Skipped) > 0:
		article := "a "
		if strings.Contains("aeiouAEIOU", set.Skipped[0].Reason[:1]) {
			article = "an "
		}
		return "found " + article + set.Skipped[0].Reason
	}
	return "found no document"
}

func in(cluster, note string) string {
	if cluster == "" {
		return note
	}
	return "cluster " + cluster + ": " + note
}

// defaultLosses returns the topology keys that Facts always checks. Place checks these keys unless
// the user requests other keys.
func defaultLosses() []string {
	return []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}
}

// lossesToSurvive returns a function that lists topology keys for a workload. The workload must
// survive the loss of any domain of these keys. The list consists of the keys in "always" and the
// keys that the configuration requires.
func lossesToSurvive(c *config.Config, always []string) func(*workload.Workload) []string {
	return func(w *workload.Workload) []string {
		keys := slices.Concat(always, c.Asks(w.Namespace(), w.Labels))
		slices.Sort(keys)
		return slices.Compact(keys)
	}
}

// unknownLosses returns notes on requested keys that no node has. Without these notes, losses for a
// misspelled key would seem harmless.
func unknownLosses(o *Options, topo *topology.Topology) []string {
	if topo.Empty() {
		return nil
	}
	keys := slices.Clone(o.Survive)
	for _, s := range o.Config.Survive {
		for _, word := range s.Keys {
			if key, err := config.TopologyKey(word); err == nil {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	labels := topo.AllNodeLabels()
	var notes []string
	for _, key := range slices.Compact(keys) {
		if slices.ContainsFunc(labels, func(of map[string]string) bool { _, has := of[key]; return has }) {
			continue
		}
		note := fmt.Sprintf("no declared node has the label %s, so its loss is not checked", key)
		if near := config.NearDomain(key); near != "" {
			note += " (did you mean " + near + "?)"
		}
		notes = append(notes, note)
	}
	return notes
}
