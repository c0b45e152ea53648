package lint

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/contexts"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/build"
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
	// elsewhere are objects outside of it of which nobody knows whether they are
	// deployed with it.
	elsewhere []*source.Object
}

// key is what tells parts apart.
func (p *part) key() string {
	if p.name == "" && p.render != "" {
		return "\x00" + p.render
	}
	return p.name
}

// parts splits the objects as the configuration says; what belongs to no cluster
// is judged together, against the topology of the whole. A topology on the
// command line takes the place of all in the configuration.
func (r *run) parts() []part {
	var parts []part
	rest := part{topology: r.Topology, objects: r.set.Objects}
	if len(rest.topology) == 0 {
		rest.topology = r.relative(r.Config.Topology)
	}
	taken := map[*source.Object]bool{}
	deployed := map[*rendered]bool{}
	for _, c := range r.Config.Clusters {
		p := part{name: c.Name, topology: r.relative(c.Topology)}
		for _, o := range r.set.Objects {
			if c.Has(r.fromConfig(o.File.Name)) {
				p.objects = append(p.objects, o)
				taken[o] = true
			}
		}
		for _, x := range r.rendered {
			if c.Deploys(x.Chosen) {
				p.objects = append(p.objects, x.objects...)
				deployed[x] = true
			}
		}
		if len(p.topology) == 0 || len(r.Topology) > 0 {
			p.topology = rest.topology
		}
		if len(p.objects) > 0 {
			parts = append(parts, p)
		}
	}
	rest.objects = slices.DeleteFunc(slices.Clone(rest.objects), func(o *source.Object) bool { return taken[o] })
	for _, x := range r.rendered {
		if deployed[x] {
			continue
		}
		parts = append(parts, part{render: x.Name, objects: x.objects, topology: rest.topology})
	}
	if len(rest.objects) > 0 || len(parts) == 0 {
		parts = append(parts, rest)
	}
	return parts
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
}

// divide divides a part into contexts. One that the configuration names is one
// context, and what it declares differently in two files is an error.
func (r *run) divide(p part) *cluster {
	c := &cluster{part: p, reader: r.readerOf(p), topologies: map[string]*topology.Topology{}, answered: map[*topology.Topology]*build.Answered{}}
	c.elsewhere = r.beyond(p)
	c.Division = contexts.Split(p.objects, r.table.Declares)
	if p.name != "" {
		for _, group := range c.Differing {
			r.fail(r.contradicting(p.name, group))
		}
		c.Whole(p.objects)
	}
	r.objects += len(c.elsewhere)
	c.whole = c.reader.Load(p.objects, slices.Concat(c.elsewhere, r.altered))
	if len(c.whole.Workloads) > 0 || len(r.rendered) == 0 { // what no render uses need not be deployed at all
		r.report.Summary.Contexts += c.Len()
	}
	r.count(c)
	if r.Compared {
		r.report.Judged = append(r.report.Judged, r.judgedObjects(c)...)
	}
	return c
}

// readerOf is the reader of a part. Renders have one in common: each is read beside the
// objects of all others.
func (r *run) readerOf(p part) *workload.Reader {
	if p.render == "" {
		return workload.NewReader(r.table)
	}
	if r.renderReader == nil {
		r.renderReader = workload.NewReader(r.table)
	}
	return r.renderReader
}

// contradicting is the error of a cluster that declares an object in two ways.
func (r *run) contradicting(name string, group []*source.Object) error {
	first := group[0]
	i := slices.IndexFunc(group, func(o *source.Object) bool { return !source.Equal(o.Root, first.Root) })
	return fmt.Errorf("cluster %s declares %s differently in %s and in %s: a cluster has one declaration of an object",
		name, nameOf(first), r.at(first), r.at(group[max(i, 0)]))
}

// scene is one context of a cluster, read and with its nodes.
type scene struct {
	contexts.Context
	set   *workload.Set
	nodes *topology.Topology
	model *model.Model
}

// scene reads a context.
func (r *run) scene(c *cluster, x contexts.Context) *scene {
	s := &scene{Context: x, set: c.whole}
	if c.Len() > 1 {
		elsewhere := append(slices.Clip(x.Elsewhere()), c.elsewhere...)
		r.objects += len(x.Objects) + len(elsewhere)
		s.set = c.reader.Load(x.Objects, slices.Concat(elsewhere, r.altered))
	}
	key := ""
	declared := s.set.Topologies
	if c.render != "" && len(c.topology) == 0 {
		declared = append(slices.Clip(declared), r.looseNodes()...)
	}
	for _, o := range declared {
		key += fmt.Sprintf("%p ", o)
	}
	if c.topologies[key] == nil {
		c.topologies[key] = r.topology(c.part, declared)
		if c.Len() > 1 {
			c.answered[c.topologies[key]] = build.NewAnswered(&r.advice)
		}
	}
	s.nodes = c.topologies[key]
	s.model = sched.New(s.set, s.nodes)
	s.model.Scale(r.Steps, r.part())
	return s
}

// runSteps is how many steps the contexts of a run take together before each is judged
// briefly, with brakedPart of its budget: there may be many of them in few files. It is
// ten times what the dearest repository of the corpus takes, and more than all of them
// as one tree. Of these, adviceSteps are for trials of advice.
const (
	runSteps    = 125_000_000
	adviceSteps = 40_000_000
	brakedPart  = 0.01
)

// brief reports whether the next context is judged briefly.
func (r *run) brief() bool { return float64(r.spent) > runSteps*max(r.Steps, 1) }

// part is the part of its budget that the next context has.
func (r *run) part() float64 {
	if r.brief() {
		return brakedPart
	}
	return 1
}

// input is what the facts of a context are about.
func (r *run) input(s *scene) build.Input {
	return build.Input{Model: s.model, Set: s.set, Complete: r.Policy.Own(), Survive: r.survive, Asked: r.asksFor, Brief: r.brief()}
}

// asksFor reports whether a rule that is on may look at a list of facts.
func (r *run) asksFor(list string) bool {
	return slices.ContainsFunc(r.Policy.IDs(), func(id string) bool {
		return r.Level(id) != diag.LevelOff && r.Policy.MayRead(id, list)
	})
}

// cluster judges one part, context by context.
func (r *run) cluster(p part) {
	c := r.divide(p)
	for x := range c.Contexts() {
		if r.crowded(c) {
			r.passOver(p)
			break
		}
		s := r.scene(c, x)
		input := r.input(s)
		input.Answered = c.answered[s.nodes]
		f := build.Facts(input)
		r.spent += s.model.Run().Spent()
		r.unknowns(s.set, s.model)
		r.givenUp(s.model)
		r.refused(s.model)
		r.looked(f, x.Objects)
		r.decide(p.key(), f.Decisions())
		r.judge(f, c, x.Objects)
		r.note(f.Notes()...)
		for _, note := range unknownLosses(&r.Options, s.nodes) {
			r.note(in(p.name, note))
		}
	}
}

// contextObjects is how many objects the contexts of a run may hold together, those
// included of which nobody knows whether they are there: a few files may make very many
// contexts, each with all that is common to them.
const contextObjects = 1_000_000

// crowded reports whether a cluster has more contexts than are judged.
func (r *run) crowded(c *cluster) bool { return c.Len() > 1 && r.objects > contextObjects }

// manyContexts is the question that is given up where there are too many contexts.
const manyContexts = "what becomes of it in further contexts: there are too many"

// passOver leaves open what becomes of the objects of a part in further contexts.
func (r *run) passOver(p part) {
	r.unanswered(manyContexts, p.objects)
	r.decide(p.key(), build.Unjudged(p.objects))
}

// decide keeps how far objects are settled: as far as every context does that
// holds them.
func (r *run) decide(cluster string, d build.Decisions) {
	if r.decisions[cluster] == nil {
		r.decisions[cluster] = build.Decisions{}
	}
	r.decisions[cluster].Meet(d)
}

// note adds notes to the summary, each once.
func (r *run) note(notes ...string) {
	s := &r.report.Summary
	for _, note := range notes {
		if !slices.Contains(s.Notes, note) {
			s.Notes = append(s.Notes, note)
		}
	}
}

// sameFinding is what makes the findings of two contexts one.
type sameFinding struct {
	rule, message, details, cluster, render string
	level                                   diag.Level
	object                                  diag.Object
	location                                diag.Span
}

func same(d *diag.Diagnostic) sameFinding {
	return sameFinding{d.Rule, d.Message, fmt.Sprintf("%q", d.Details), d.Cluster, d.Render, d.Level, d.Object, d.Location}
}

// judge adds what the policy finds in some facts, which are about objects of a
// cluster, or about no cluster. What an earlier context has found counts once.
func (r *run) judge(f *build.Built, c *cluster, objects []*source.Object) {
	for _, found := range r.findings(f, c, objects, f.Found) {
		if key := same(&found.Diagnostic); !r.seen[key] {
			r.seen[key] = true
			r.found = append(r.found, found)
		}
	}
}
