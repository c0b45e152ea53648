package lint

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"path"
	"slices"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/contexts"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/fragments"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/neighbours"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/versions"
	"github.com/schedlint/schedlint/lint/workload"
)

// part holds the objects and topology files of one cluster.
type part struct {
	name     string
	objects  []*source.Object
	topology []string
	storage  storage.Declared
	// kubernetes is the version of a configured cluster, if it has its own.
	kubernetes string
	// render is the render's name if the part consists of a single render, or "" otherwise.
	render string
	// entry is the name of an entry pointer if the part holds everything that this pointer deploys,
	// or "" otherwise. Each render that the pointer deploys is also a separate part.
	entry   string
	renders int
	// several reports whether the part has more than one unit.
	several bool
	// maybeDeployed holds objects from other parts that might be deployed together with this part.
	maybeDeployed []*source.Object
}

// key returns a string that identifies the part.
func (p *part) key() string {
	switch {
	case p.name == "" && p.render != "":
		return "\x00" + p.render
	case p.entry != "":
		return "\x00\x00" + p.entry
	}
	return p.name
}

// clusters divides the deployed objects into clusters, divides each cluster into contexts, and
// loads the contexts.
type clusters struct {
	opts       *Options
	table      workload.Table
	files      *locate.Files
	renders    *locate.Renders
	topologies *topologies
	budget     *budget
	summary    *summary
	// altered holds objects that kustomizations may change in any field. loose holds the objects in
	// files that no render uses. loose is empty unless there are renders or several units.
	altered, loose []*source.Object
	unit           func(file string) string
	// kustomized has the directories of kustomizations, whose files need not be deployed as written.
	kustomized map[string]bool
	// around is an index for finding the objects that a selector may match. It is built on first
	// use.
	around *neighbours.Index
	// renderReader is shared by all renders, because most renders can be deployed with the same
	// other objects. It is created on first use.
	renderReader *workload.Reader
	// releases finds the values that Helm releases pass to charts that are not available locally.
	releases *releases
}

// apart reports whether two objects that are in no render or configured cluster may belong to different
// clusters.
func (d *clusters) apart(a, b *source.Object) bool {
	x, y := path.Dir(a.File.Name), path.Dir(b.File.Name)
	return x != y && (d.unit(a.File.Name) != d.unit(b.File.Name) || d.kustomized[x] || d.kustomized[y])
}

// parts splits the objects into parts according to the configuration. Objects in no configured
// cluster form one part, which uses the configuration's top-level topology. A topology on the
// command line replaces all configured topologies.
func (d *clusters) parts(m *manifests) []part {
	d.altered, d.unit, d.kustomized = m.altered, unitsOf(d.files), map[string]bool{}
	for _, s := range m.set.Skipped {
		if s.Reason == source.SkipKustomization {
			d.kustomized[path.Dir(s.File)] = true
		}
	}
	deployable := slices.Concat(m.set.Objects, m.altered)
	for _, x := range d.renders.All {
		deployable = append(deployable, x.Objects...)
	}
	d.topologies.rules = slices.DeleteFunc(deployable, func(o *source.Object) bool { return o.Kind != "NodeFeatureRule" })
	var parts []part
	rest := part{topology: d.opts.Topology}
	if len(rest.topology) == 0 {
		rest.topology = d.files.Configured(d.files.Config.Topology)
	}
	taken := map[*source.Object]bool{}
	deployed := map[*locate.Rendered]bool{}
	for i := range d.files.Config.Clusters {
		p := d.configuredPart(&d.files.Config.Clusters[i], m.set.Objects, taken, deployed)
		if len(p.topology) == 0 || len(d.opts.Topology) > 0 {
			p.topology = rest.topology
		}
		if len(p.objects) > 0 {
			parts = append(parts, p)
		}
	}
	entries := map[string]*part{}
	for _, x := range d.renders.All {
		if deployed[x] {
			continue
		}
		parts = append(parts, part{render: x.Name, objects: x.Objects, topology: rest.topology})
		for _, entry := range x.Entries {
			if entries[entry] == nil {
				entries[entry] = &part{entry: entry, topology: rest.topology}
			}
			entries[entry].renders++
			entries[entry].objects = append(entries[entry].objects, x.Objects...)
		}
	}
	for _, entry := range sorting.Keys(entries) {
		if p := entries[entry]; p.renders > 1 {
			parts = append(parts, *p)
		}
	}
	rest.objects = slices.DeleteFunc(slices.Clone(m.set.Objects), func(o *source.Object) bool { return taken[o] })
	for _, o := range rest.objects {
		rest.several = rest.several || d.unit(o.File.Name) != d.unit(rest.objects[0].File.Name)
	}
	if len(d.renders.All) > 0 || rest.several {
		d.loose = m.set.Objects
	}
	if len(rest.objects) > 0 || len(parts) == 0 {
		parts = append(parts, rest)
	}
	return parts
}

// configuredPart returns the part for a configured cluster. It adds the part's objects to the map
// "taken" and its renders to the map "deployed".
func (d *clusters) configuredPart(c *config.Cluster, objects []*source.Object, taken map[*source.Object]bool, deployed map[*locate.Rendered]bool) part {
	p := part{name: c.Name, topology: d.files.Configured(c.Topology), storage: c.Storage, kubernetes: c.Kubernetes}
	for _, o := range objects {
		if c.Has(d.files.FromConfig(o.File.Name)) {
			p.objects = append(p.objects, o)
			taken[o] = true
		}
	}
	for _, x := range d.renders.All {
		if c.Deploys(x.Chosen) {
			p.objects = append(p.objects, x.Objects...)
			deployed[x] = true
		}
	}
	// Releases that deploy to the part's cluster and are not already declared in the part.
	var known map[diag.Object]bool
	for _, o := range objects {
		if !d.releases.goesTo(c, o) {
			continue
		}
		if known == nil {
			known = map[diag.Object]bool{}
			for _, other := range p.objects {
				known[other.ID()] = true
			}
		}
		if !known[o.ID()] {
			known[o.ID()], taken[o] = true, true
			p.objects = append(p.objects, o)
		}
	}
	return p
}

// cluster is a part that has been divided into contexts.
type cluster struct {
	part
	contexts.Division
	reader *workload.Reader
	// whole holds all declarations of the part. It is used for counting, because an object in
	// several contexts counts only once.
	whole *workload.Set
	// topologies caches nodes. Its keys are the NodeTopology documents that declare the nodes. Most
	// contexts have the same nodes. answered holds the answers that contexts with identical nodes
	// share.
	topologies map[string]*topology.Topology
	answered   map[*topology.Topology]*derive.Answered
	// judged holds the findings of units that were checked separately.
	judged map[unitKey][]accept.Finding
	seed   maphash.Seed
	// proved holds the answers about workloads, or nil if they are not counted.
	proved map[*source.Object]proved
	// effects holds errors, notes and an object count from reading the cluster, until they are
	// added to the run.
	effects effects
}

// divide divides a part into contexts. A configured cluster is a single context. It returns an
// error if a configured cluster declares an object in two different ways.
func (d *clusters) divide(p part) *cluster {
	c := &cluster{part: p, reader: d.renderReader, topologies: map[string]*topology.Topology{}, answered: map[*topology.Topology]*derive.Answered{},
		judged: map[unitKey][]accept.Finding{}, seed: maphash.MakeSeed()}
	if p.render == "" || c.reader == nil {
		c.reader = workload.NewReader(d.table)
		c.reader.Storage = p.storage.Over(d.files.Config.Storage)
		c.reader.Kinds = d.files.Config.Kinds
		if len(d.opts.Foreign) > 0 {
			c.reader.Foreign = func(o *source.Object) bool { return d.opts.Foreign[o.ID()] }
		}
		c.reader.AllPriorities = d.files.Config.ClosesPriorities()
		c.reader.PodNodeSelector = slices.Contains(d.files.Config.Admission, config.PodNodeSelector)
		c.reader.Kubernetes, _ = versions.Parse(cmp.Or(p.kubernetes, d.files.Config.Kubernetes)) // the configuration was checked
		if p.render+p.entry+p.name == "" {
			c.reader.Apart = d.apart
		}
		if c.reader.Values = d.releases.of(p.name); p.render != "" {
			d.renderReader = c.reader
		}
	}
	// A configured cluster lists all its objects. In any other part, a file may be the output of a
	// local chart that was not rendered. Objects from other parts may be deployed with it.
	if len(d.renders.All) > 0 && p.name == "" {
		c.maybeDeployed = d.neighbours().Of(p.objects)
	}
	var outputs func(*source.File) []contexts.Output
	if p.name+p.render+p.entry == "" {
		outputs = locate.OutputsOf(d.files, p.objects)
	}
	// A Service only matters to the scores of nodes, and a volume that is declared in two ways is
	// unknown, so they make no directories alternatives.
	declares := func(o *source.Object) bool { return o.Kind != "Service" && !workload.Stores(o) && d.table.Declares(o) }
	c.Division = contexts.Split(p.objects, declares, outputs)
	if p.name != "" {
		for _, group := range c.Differing {
			first := group[0]
			other := max(0, slices.IndexFunc(group, func(o *source.Object) bool { return !source.Equal(o.Root, first.Root) }))
			c.effects.fail(fmt.Errorf("cluster %s declares %s differently in %s and in %s: a cluster has one declaration of an object",
				p.name, locate.NameOf(first), d.renders.At(first), d.renders.At(group[other])))
		}
		c.Whole(p.objects)
	}
	c.effects.objects += len(c.maybeDeployed)
	if c.Len() == 1 && len(d.renders.All) == 0 && !p.several {
		c.reader.Once()
	}
	c.whole = c.reader.Load(p.objects, slices.Concat(c.maybeDeployed, d.altered))
	if p.entry != "" { // its renders are already counted
		return c
	}
	if len(c.whole.Workloads) > 0 || len(d.renders.All) == 0 { // files that no render uses may not be deployed
		d.summary.Contexts += c.Len()
	}
	d.summary.count(c)
	d.releases.count(c.whole)
	return c
}

// neighbours returns an index that finds objects by selector. It covers all objects, both inside
// and outside renders.
func (d *clusters) neighbours() *neighbours.Index {
	if d.around == nil {
		all := [][]*source.Object{d.loose}
		all = append(all, lists.Of(d.renders.All, func(x *locate.Rendered) []*source.Object { return x.Objects })...)
		d.around = neighbours.New(d.table, all...)
	}
	return d.around
}

// scene is a context of a cluster, loaded together with its nodes.
type scene struct {
	contexts.Context
	cluster *cluster
	set     *workload.Set
	nodes   *topology.Topology
	model   *model.Model
	// atCount is the model for the declared number of nodes, once it has been needed. placed holds
	// the decisions that have been made, by model.
	atCount *model.Model
	placed  map[*model.Model]*certificate.Decision
	// thorough is set if decisions are about each workload in a large context, too.
	thorough bool
	// countDoc is the document about the declared number of nodes, if one was made.
	countDoc *diag.Placement
}

// scene loads a context.
func (d *clusters) scene(c *cluster, x contexts.Context) *scene {
	s := &scene{Context: x, cluster: c, set: c.whole, placed: map[*model.Model]*certificate.Decision{}}
	if c.Len() > 1 {
		idle := func(o *source.Object) bool { return !d.table.Matters(o) }
		alternatives := slices.DeleteFunc(x.Elsewhere(), idle)
		elsewhere := append(slices.Clip(alternatives), c.maybeDeployed...)
		c.effects.objects += len(x.Objects) + len(elsewhere)
		s.set = c.reader.Load(x.Objects, slices.Concat(elsewhere, d.altered))
		s.set.Alternatives = make(map[*source.Object]bool, len(alternatives))
		for _, o := range alternatives {
			s.set.Alternatives[o] = true
		}
	}
	s.nodes = d.nodes(c, s.set.Topologies)
	return d.modelled(s)
}

// modelled adds the model of a scene. The nodes are known only after the objects are read, so claims
// are bound to the volumes of the cluster here.
func (d *clusters) modelled(s *scene) *scene {
	declared := s.nodes.Storage
	declared.Cloud = s.nodes.InCloud()
	s.cluster.effects.objects += s.cluster.reader.Bind(s.set, s.nodes.Stored, declared)
	s.model = sched.New(s.set, s.nodes)
	s.model.Scale(d.opts.Steps, d.budget.share())
	return s
}

// nodes returns the nodes of a context, including those that its manifests declare.
func (d *clusters) nodes(c *cluster, declared []*source.Object) *topology.Topology {
	if c.render+c.entry != "" && len(c.topology) == 0 { // without a topology file, the NodeTopology documents of the tree apply
		declared = slices.Clip(declared)
		for _, o := range d.loose {
			if o.Kind == "NodeTopology" && o.Group() == "schedlint.dev" {
				declared = append(declared, o)
			}
		}
	}
	key := ""
	for _, o := range declared {
		key += fmt.Sprintf("%p ", o)
	}
	if c.topologies[key] == nil {
		c.topologies[key] = d.topologies.of(c.part, declared, &c.effects)
		if c.Len() > 1 {
			c.answered[c.topologies[key]] = derive.NewAnswered(&d.budget.advice)
		}
	}
	return c.topologies[key]
}

// releases finds the values that Helm releases pass to charts that are not available locally. For
// such a chart, only the values can be checked.
type releases struct {
	config  *config.Config
	files   *locate.Files
	renders *locate.Renders
	summary *summary
	finder  *fragments.Finder
	told    map[*source.Object]bool
	counted map[given]bool
}

// given identifies a values map by its name and the location of its release.
type given struct {
	name, file string
	line       int
}

// of returns a function that takes a release. The function returns the values that the release
// passes to charts. The argument p is the name of the part that contains the release. The values
// for rendered charts are omitted, because the output of these charts is checked instead. The
// values for another cluster are omitted, because they cannot be checked against the nodes of this
// cluster.
func (r *releases) of(p string) func(*source.Object) *workload.Given {
	return func(o *source.Object) *workload.Given {
		found := r.finder.Of(o)
		if found == nil {
			return nil
		}
		if found.Over != "" && !r.told[o] {
			r.told[o] = true
			r.summary.leaveOpen("values fragments are left out: "+found.Over, r.renders.At(o))
		}
		rendered := map[int]bool{}
		at := r.renders.InSources(o.NameSpan())
		if raw := r.renders.RawObject(o); r.renders.Results[o.File.Name] != nil && raw != nil && raw.Kind == o.Kind {
			at = raw.NameSpan()
		}
		for _, x := range r.renders.All {
			if x.Root.Chart != nil && x.Pointer.File == at.File && x.Pointer.Line == at.Line {
				rendered[x.Source] = true
			}
		}
		given := found.Without(rendered)
		given.Judged = len(rendered) > 0 && !given.Left && len(given.Values) == 0
		if r.isElsewhere(p, o) {
			return &workload.Given{Left: given.Left || len(given.Values) > 0}
		}
		return given
	}
}

// count counts the fragments in a part. A values map that appears in several renders counts once.
func (r *releases) count(set *workload.Set) {
	for _, w := range set.Fragments {
		if w.Within == "" {
			continue
		}
		at := r.renders.InSources(w.Object.NameSpan())
		if key := (given{w.String(), at.File, at.Line}); !r.counted[key] {
			r.counted[key] = true
			r.summary.Fragments++
		}
	}
}

// isElsewhere reports whether a release deploys to a different cluster than the given one.
func (r *releases) isElsewhere(cluster string, o *source.Object) bool {
	elsewhere := false
	for i := range r.config.Clusters {
		switch c := &r.config.Clusters[i]; {
		case !r.goesTo(c, o):
		case c.Name == cluster:
			return false
		default:
			elsewhere = true
		}
	}
	return elsewhere
}

// goesTo reports whether a configured cluster includes the objects that a release deploys.
func (r *releases) goesTo(c *config.Cluster, o *source.Object) bool {
	to := fragments.Destinations(o)
	if len(c.Pointers)+len(c.Destinations) == 0 || to == nil {
		return false
	}
	file := r.files.FromConfig(r.renders.InSources(o.NameSpan()).File)
	return c.Deploys(config.Chosen{Pointers: []string{file}, Destinations: to})
}
