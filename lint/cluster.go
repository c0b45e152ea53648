package lint

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/contexts"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/build"
	"github.com/schedlint/schedlint/lint/neighbours"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// part is the objects of one cluster, and its topology files.
type part struct {
	name     string
	objects  []*source.Object
	topology []string
	// render is the name of the only render that it is; "" if it is none, or several.
	render string
	// entry is, of all that one entry pointer deploys, its name. The renders in it are parts
	// of their own as well, which say what is known of each alone.
	entry   string
	renders int
	// several is set if it has several units.
	several bool
	// elsewhere are objects outside of it of which nobody knows whether they are
	// deployed with it.
	elsewhere []*source.Object
}

// key is what tells parts apart.
func (p *part) key() string {
	switch {
	case p.name == "" && p.render != "":
		return "\x00" + p.render
	case p.entry != "":
		return "\x00\x00" + p.entry
	}
	return p.name
}

// clusters divides what is deployed into clusters and these into contexts, and reads them.
type clusters struct {
	opts       *Options
	table      workload.Table
	files      *files
	renders    *renders
	topologies *topologies
	budget     *budget
	summary    *summary
	failures   *failures
	// altered are objects of which kustomizations may change anything, loose those of the
	// files that no render uses, if there are renders.
	altered, loose []*source.Object
	// unit returns the unit of a file.
	unit func(file string) string
	// around is everything by what selectors find, once needed.
	around *neighbours.Index
	// renderReader reads for all renders, once needed: most have the same around them.
	renderReader *workload.Reader
	// releases are what charts that are not at hand are given.
	releases *releases
}

// parts splits the objects as the configuration says; what belongs to no cluster
// is judged together, against the topology of the whole. A topology on the
// command line takes the place of all in the configuration.
func (d *clusters) parts(m *manifests) []part {
	d.altered, d.unit = m.altered, unitsOf(d.files)
	var parts []part
	rest := part{topology: d.opts.Topology}
	if len(rest.topology) == 0 {
		rest.topology = d.files.configured(d.files.config.Topology)
	}
	taken := map[*source.Object]bool{}
	deployed := map[*rendered]bool{}
	for i := range d.files.config.Clusters {
		p := d.named(&d.files.config.Clusters[i], m.set.Objects, taken, deployed)
		if len(p.topology) == 0 || len(d.opts.Topology) > 0 {
			p.topology = rest.topology
		}
		if len(p.objects) > 0 {
			parts = append(parts, p)
		}
	}
	entries := map[string]*part{}
	for _, x := range d.renders.all {
		if deployed[x] {
			continue
		}
		parts = append(parts, part{render: x.Name, objects: x.objects, topology: rest.topology})
		for _, entry := range x.Entries {
			if entries[entry] == nil {
				entries[entry] = &part{entry: entry, topology: rest.topology}
			}
			entries[entry].renders++
			entries[entry].objects = append(entries[entry].objects, x.objects...)
		}
	}
	for _, entry := range slices.Sorted(maps.Keys(entries)) {
		if p := entries[entry]; p.renders > 1 {
			parts = append(parts, *p)
		}
	}
	rest.objects = slices.DeleteFunc(slices.Clone(m.set.Objects), func(o *source.Object) bool { return taken[o] })
	for _, o := range rest.objects {
		rest.several = rest.several || d.unit(o.File.Name) != d.unit(rest.objects[0].File.Name)
	}
	if len(d.renders.all) > 0 || rest.several {
		d.loose = m.set.Objects
	}
	if len(rest.objects) > 0 || len(parts) == 0 {
		parts = append(parts, rest)
	}
	return parts
}

// named is a cluster that the configuration names. It notes which objects are taken and
// which renders are deployed.
func (d *clusters) named(c *config.Cluster, objects []*source.Object, taken map[*source.Object]bool, deployed map[*rendered]bool) part {
	p := part{name: c.Name, topology: d.files.configured(c.Topology)}
	for _, o := range objects {
		if c.Has(d.files.fromConfig(o.File.Name)) {
			p.objects = append(p.objects, o)
			taken[o] = true
		}
	}
	for _, x := range d.renders.all {
		if c.Deploys(x.Chosen) {
			p.objects = append(p.objects, x.objects...)
			deployed[x] = true
		}
	}
	d.releases.join(c, &p, objects, taken)
	return p
}

// cluster is one part with what it is divided into.
type cluster struct {
	part
	contexts.Division
	reader *workload.Reader
	// whole is all that is declared, for what is counted once.
	whole *workload.Set
	// topologies are those of the contexts, by the documents of the tree that
	// declare them: most contexts have the same. Answered is what contexts with the
	// same nodes need not be asked again.
	topologies map[string]*topology.Topology
	answered   map[*topology.Topology]*build.Answered
	// judged are the units that were judged by themselves, with what was found in them.
	judged map[unitKey][]accept.Finding
	seed   maphash.Seed
}

// divide divides a part into contexts. One that the configuration names is one
// context, and what it declares differently in two files is an error.
func (d *clusters) divide(p part) *cluster {
	c := &cluster{part: p, reader: d.readerOf(p), topologies: map[string]*topology.Topology{}, answered: map[*topology.Topology]*build.Answered{},
		judged: map[unitKey][]accept.Finding{}, seed: maphash.MakeSeed()}
	c.elsewhere = d.beyond(p)
	c.Division = contexts.Split(p.objects, d.table.Declares, d.outputs(p))
	if p.name != "" {
		for _, group := range c.Differing {
			d.failures.fail(d.contradicting(p.name, group))
		}
		c.Whole(p.objects)
	}
	d.budget.objects += len(c.elsewhere)
	if c.Len() == 1 && len(d.renders.all) == 0 && !p.several {
		c.reader.Once()
	}
	c.whole = c.reader.Load(p.objects, slices.Concat(c.elsewhere, d.altered))
	if p.entry != "" { // its renders are counted
		return c
	}
	if len(c.whole.Workloads) > 0 || len(d.renders.all) == 0 { // what no render uses need not be deployed at all
		d.summary.Contexts += c.Len()
	}
	d.summary.count(c)
	d.releases.count(c.whole)
	return c
}

// outputs tells which files of a part are outputs of charts: nobody knows of what is
// rendered here, or where the configuration says what a cluster consists of.
func (d *clusters) outputs(p part) func(*source.File) []contexts.Output {
	if p.name != "" || p.render != "" || p.entry != "" {
		return nil
	}
	return outputsOf(d.files, p.objects)
}

// beyond are the objects outside of a part that may be deployed with it, as far as they
// matter to it: nobody knows. Where the configuration says what a cluster consists of
// there are none.
func (d *clusters) beyond(p part) []*source.Object {
	if len(d.renders.all) == 0 || p.name != "" {
		return nil
	}
	return d.neighbours().Of(p.objects)
}

// neighbours are all objects that are in no named cluster, by what selectors find.
func (d *clusters) neighbours() *neighbours.Index {
	if d.around == nil {
		all := [][]*source.Object{d.loose}
		for _, x := range d.renders.all {
			all = append(all, x.objects)
		}
		d.around = neighbours.New(d.table, all...)
	}
	return d.around
}

// readerOf is the reader of a part. Renders have one in common: each is read beside the
// objects of all others.
func (d *clusters) readerOf(p part) *workload.Reader {
	if p.render != "" && d.renderReader != nil {
		return d.renderReader
	}
	reader := workload.NewReader(d.table)
	if reader.Values = d.releases.of(p.name); p.render != "" {
		d.renderReader = reader
	}
	return reader
}

// contradicting is the error of a cluster that declares an object in two ways.
func (d *clusters) contradicting(name string, group []*source.Object) error {
	first := group[0]
	i := slices.IndexFunc(group, func(o *source.Object) bool { return !source.Equal(o.Root, first.Root) })
	return fmt.Errorf("cluster %s declares %s differently in %s and in %s: a cluster has one declaration of an object",
		name, nameOf(first), d.renders.at(first), d.renders.at(group[max(i, 0)]))
}

// judged are the workloads and budgets of a cluster.
func (d *clusters) judged(c *cluster) []diag.Judged {
	var all []diag.Judged
	for _, w := range c.whole.Workloads {
		all = append(all, diag.Judged{Object: w.Object.ID(), Location: d.renders.inSources(w.Object.NameSpan())})
	}
	for _, b := range c.whole.Budgets {
		all = append(all, diag.Judged{Object: b.Object.ID(), Location: d.renders.inSources(b.Object.NameSpan())})
	}
	return all
}

// scene is one context of a cluster, read and with its nodes.
type scene struct {
	contexts.Context
	cluster *cluster
	set     *workload.Set
	nodes   *topology.Topology
	model   *model.Model
}

// scene reads a context.
func (d *clusters) scene(c *cluster, x contexts.Context) *scene {
	s := &scene{Context: x, cluster: c, set: c.whole}
	if c.Len() > 1 {
		idle := func(o *source.Object) bool { return !d.table.Matters(o) }
		alternatives := slices.DeleteFunc(x.Elsewhere(), idle)
		elsewhere := append(slices.Clip(alternatives), c.elsewhere...)
		d.budget.objects += len(x.Objects) + len(elsewhere)
		s.set = c.reader.Load(x.Objects, slices.Concat(elsewhere, d.altered))
		s.set.Alternatives = make(map[*source.Object]bool, len(alternatives))
		for _, o := range alternatives {
			s.set.Alternatives[o] = true
		}
	}
	s.nodes = d.nodes(c, s.set.Topologies)
	s.model = sched.New(s.set, s.nodes)
	s.model.Scale(d.opts.Steps, d.budget.share())
	return s
}

// nodes are those of a context that declares some.
func (d *clusters) nodes(c *cluster, declared []*source.Object) *topology.Topology {
	if c.render+c.entry != "" && len(c.topology) == 0 {
		declared = append(slices.Clip(declared), d.looseNodes()...)
	}
	key := ""
	for _, o := range declared {
		key += fmt.Sprintf("%p ", o)
	}
	if c.topologies[key] == nil {
		c.topologies[key] = d.topologies.of(c.part, declared)
		if c.Len() > 1 {
			c.answered[c.topologies[key]] = build.NewAnswered(&d.budget.advice)
		}
	}
	return c.topologies[key]
}

// looseNodes are the NodeTopology documents of the tree: what is rendered is judged
// against them if no file with nodes is named.
func (d *clusters) looseNodes() (all []*source.Object) {
	for _, o := range d.loose {
		if o.Kind == "NodeTopology" && o.Group() == "schedlint.dev" {
			all = append(all, o)
		}
	}
	return all
}
