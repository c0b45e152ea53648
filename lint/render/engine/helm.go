package engine

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/kustomize/kyaml/yaml/merge2"

	"github.com/schedlint/schedlint/lint/chart/chartutil"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

// release is a chart that a kustomization renders (kustomize: HelmChartInflationGenerator).
type release struct {
	k *kustomization
	// file and node are the position of the release. If the position is unknown, node is nil. The
	// field from is the entry of the generators field that contains the release, or nil.
	file string
	node *yaml.Node
	from *entry
	// field describes the release in messages. at is the position of a release outside the
	// kustomizations, or nil.
	field string
	at    *render.Place
	spec  types.HelmChart
	home  string
	// inherits is set if neither the release nor its kustomization sets a namespace. The release
	// then inherits the namespace of the enclosing kustomization.
	inherits bool
	printed  *printedChart
	cost     sum
}

const (
	helmCharts    = "helmCharts"
	legacyCharts  = "helmChartInflationGenerator"
	helmGenerator = "HelmChartInflationGenerator"
)

// legacyKeys maps keys of helmCharts to those of the older helmChartInflationGenerator.
var legacyKeys = map[string]string{"name": "chartName", "valuesFile": "values", "valuesInline": "valuesLocal"}

// releases returns the releases in a kustomization, in kustomize's rendering order.
func (k *kustomization) releases() []*release {
	legacy, globals := types.SplitHelmParameters(deprecatedCharts(&k.spec))
	if k.spec.HelmGlobals != nil {
		globals = *k.spec.HelmGlobals
	}
	var all []*release
	add := func(field string, charts []types.HelmChart) {
		list := fieldFold(k.root(), field)
		for i, spec := range charts {
			r := &release{k: k, file: k.name, field: field, spec: spec, home: globals.ChartHome}
			if list != nil && list.Kind == yaml.SequenceNode && i < len(list.Content) {
				r.node = target(list.Content[i])
			}
			all = append(all, r)
		}
	}
	add(helmCharts, k.spec.HelmCharts)
	add(legacyCharts, legacy)
	return all
}

// problem returns a problem at the given field of the release, or at the release itself if the
// field is missing.
func (r *release) problem(key string, err error) *render.Problem {
	at := r.node
	for _, key := range []string{key, legacyKeys[key]} {
		if n := fieldFold(r.node, key); key != "" && n != nil {
			at = n
			break
		}
	}
	if n := fieldFold(fieldFold(r.k.root(), "helmGlobals"), key); key == "chartHome" && n != nil && at == r.node {
		at = n
	}
	switch {
	case at != nil:
	case r.from != nil:
		at = r.from.node
	default:
		at = r.k.key(r.field)
	}
	what := r.field
	if r.spec.Name != "" {
		what += " (chart " + shown(r.spec.Name) + ")"
	}
	p := r.k.problem(at, fmt.Errorf("%s: %w", what, err))
	switch {
	case r.at != nil:
		p.File, p.Line, p.Column, p.Detail = r.at.File, r.at.Line, r.at.Column, oneLine(err.Error())
	case r.node != nil:
		p.File = r.file
	}
	return p
}

// check returns a problem if schedlint does not support the release, or if kustomize would reject
// the release before it looks for the chart.
func (r *release) check() *render.Problem {
	s := &r.spec
	switch {
	case s.Name == "":
		return r.problem("", errors.New("expected the name of a chart, found none"))
	case strings.HasPrefix(s.Name, "-"):
		return r.problem("name", errors.New("the name of a chart must not begin with -"))
	case strings.HasPrefix(s.ReleaseName, "-"):
		return r.problem("releaseName", errors.New("releaseName must not begin with -"))
	case s.NameTemplate != "":
		return r.problem("nameTemplate", refusal("nameTemplate is not supported: set releaseName"))
	case !slices.Contains([]string{"", "override", "merge", "replace"}, s.ValuesMerge):
		return r.problem("valuesMerge", fmt.Errorf("valuesMerge: expected override, merge or replace, found %q", s.ValuesMerge))
	case isAbsolute(r.home) || isAbsolute(s.Name):
		return r.problem("chartHome", refusal("chartHome "+shown(r.home)+" is an absolute path: use a path relative to the kustomization, inside the repository"))
	}
	return nil
}

func isAbsolute(name string) bool { return strings.HasPrefix(name, "/") || filepath.IsAbs(name) }

// inflate renders the charts of a kustomization. The argument inherited is the namespace of the
// kustomization that includes this one.
func (p *plan) inflate(k *kustomization, inherited string) (sum, *render.Problem) {
	if !k.inflated {
		k.inflated, k.charts = true, k.releases()
	}
	total := sum{}
	for _, r := range k.charts {
		if r.from != nil {
			continue // rendered with its entry
		}
		more, problem := p.inflated(r, cmp.Or(k.spec.Namespace, inherited))
		if problem != nil {
			return sum{}, problem
		}
		if total = total.plus(more); total.beyond(p.most) != "" {
			return sum{}, r.problem("name", refusal(total.beyond(p.most)))
		}
	}
	return total, nil
}

// inflated renders the chart of one release.
func (p *plan) inflated(r *release, inherited string) (sum, *render.Problem) {
	namespace := cmp.Or(r.spec.Namespace, inherited)
	if r.printed != nil {
		if r.inherits && namespace != r.printed.namespace {
			return sum{}, r.problem("name", refusal(fmt.Sprintf("two kustomizations of the build include it in the namespaces %s and %s: set namespace here",
				shown(cmp.Or(r.printed.namespace, "default")), shown(cmp.Or(namespace, "default")))))
		}
		return r.cost, nil
	}
	if problem := r.check(); problem != nil {
		return sum{}, problem
	}
	if p.charted = limits.Sum(p.charted, 1); p.charted > p.most.Entries {
		return sum{}, r.problem("name", refusal(fmt.Sprintf("the build exceeds the limit of %d kustomization entries", p.most.Entries)))
	}
	at, problem := p.locate(r)
	if problem != nil {
		return sum{}, problem
	}
	values, problem := p.valuesOf(r, at)
	if problem != nil {
		return sum{}, problem
	}
	s := &r.spec
	name := s.ReleaseName
	if name == "" && chartutil.IsReleaseName(s.Name) { // helm template --generate-name appends a number
		name = s.Name
	}
	r.inherits = s.Namespace == "" && r.from == nil && r.k.spec.Namespace == ""
	return p.print(r, render.Root{
		Confinement: p.root.Confinement, Dir: at.dir, Remotes: p.root.Remotes, Texts: p.root.Texts, Left: p.most,
		Chart: &render.Chart{
			Archive: at.archive, Version: at.version, Name: name, Namespace: namespace, Values: values,
			KubeVersion: s.KubeVersion, APIVersions: s.ApiVersions,
			CRDs: s.IncludeCRDs, NoHooks: s.SkipHooks, NoTests: s.SkipTests,
		},
	})
}

// chartPlace is the location of a chart, which is a directory or an archive. version is the
// required version if kustomize would download the chart.
type chartPlace struct{ dir, archive, version string }

// locate finds the chart of a release in the repository. The chart may be a directory, as kustomize
// requires, or an archive. Kustomize would unpack the archive into the same files.
func (p *plan) locate(r *release) (chartPlace, *render.Problem) {
	s := &r.spec
	home := path.Join(r.k.dir, filepath.ToSlash(cmp.Or(r.home, types.HelmDefaultHome)))
	versioned := s.Name + "-" + s.Version
	under := home
	if s.Version != "" && s.Repo != "" {
		under = path.Join(home, versioned)
	}
	dir := path.Join(under, s.Name)
	f := p.tree.read(dir)
	var refused refusal
	switch {
	case f.err == nil && f.dir:
		return chartPlace{dir: f.name}, nil
	case errors.As(f.err, &refused):
		return chartPlace{}, r.problem("name", fmt.Errorf("%s %w", shown(dir), f.err))
	}
	for _, key := range remoteKeys(s.Repo, s.Name, s.Version) {
		to, ok := p.root.Remotes[key]
		if !ok {
			continue
		}
		p.used.add(to, r.problem("name", errors.New("is here")))
		switch f := p.tree.read(to); {
		case f.err != nil:
			return chartPlace{}, r.problem("name", fmt.Errorf("remotes: %s %w", shown(to), f.err))
		case f.dir:
			return chartPlace{dir: f.name, version: s.Version}, nil
		default:
			return chartPlace{path.Dir(f.name), f.name, s.Version}, nil
		}
	}
	for _, name := range []string{path.Join(under, versioned+".tgz"), path.Join(home, versioned+".tgz"), dir + ".tgz"} {
		if f := p.tree.read(name); f.err == nil && !f.dir {
			return chartPlace{path.Dir(f.name), f.name, s.Version}, nil
		} else if errors.As(f.err, &refused) {
			return chartPlace{}, r.problem("name", fmt.Errorf("%s %w", shown(name), f.err))
		}
	}
	if s.Repo == "" {
		return chartPlace{}, r.problem("name", fmt.Errorf("there is no chart in %s, and repo is not set", shown(dir)))
	}
	return chartPlace{}, r.problem("name", refusal(shown(dir)+" does not exist, and rendering does not use the network: "+diag.Vendor))
}

// remoteKeys returns the keys under which Root.Remotes may list a chart, from most to least
// specific.
func remoteKeys(repository, name string, versions ...string) (all []string) {
	if repository == "" {
		return nil
	}
	key := strings.TrimSuffix(repository, "/") + "/" + name
	for _, version := range versions {
		if version != "" {
			all = append(all, key+"@"+version, key+":"+version)
		}
	}
	return append(all, key)
}

// generator renders the charts in a generators entry. ok is false if the entry has no charts. name
// is the file of the entry, or "" if it is inline.
func (p *plan) generator(e *entry, doc *parsed, name string) (total sum, ok bool, problem *render.Problem) {
	if e.field != "generators" {
		return sum{}, false, nil
	}
	if e.charts == nil {
		if e.charts, problem = p.generatorCharts(e, doc, name); problem != nil || len(e.charts) == 0 {
			return sum{}, false, problem
		}
		e.k.charts = append(e.k.charts, e.charts...)
	}
	for _, r := range e.charts {
		more, problem := p.inflated(r, "")
		if problem != nil {
			return sum{}, true, problem
		}
		total = total.plus(more)
	}
	return total, true, nil
}

// generatorCharts returns the charts of a generators entry. An entry with charts must not contain
// anything else.
func (p *plan) generatorCharts(e *entry, doc *parsed, name string) ([]*release, *render.Problem) {
	var all []*release
	others := 0
	for _, root := range doc.docs {
		if !isMapping(root) {
			continue
		}
		if text(field(root, "kind")) != helmGenerator {
			others++
			continue
		}
		if at, err := p.plugin(root, e.k.dir); err != nil {
			return nil, pluginProblem(e, name, at, err)
		}
		var said map[string]any
		var spec struct {
			types.HelmGlobals
			types.HelmChart
		}
		err := root.Decode(&said)
		if err == nil {
			var text []byte
			if text, err = json.Marshal(said); err == nil {
				err = json.Unmarshal(text, &spec)
			}
		}
		if err != nil {
			return nil, pluginProblem(e, name, root, fmt.Errorf("the plugin cannot be read: %w", err))
		}
		r := &release{k: e.k, from: e, file: e.k.name, field: helmGenerator, spec: spec.HelmChart, home: spec.ChartHome}
		if name != "" {
			r.file, r.node = name, root
		}
		all = append(all, r)
	}
	if len(all) > 0 && others > 0 {
		return nil, e.problem(refusal(e.label() + ": charts and other plugins in one entry are not supported: write an entry for each"))
	}
	return all, nil
}

// valuesOf returns the values that kustomize passes to Helm. The values file that kustomize
// generates comes before the additional values files.
func (p *plan) valuesOf(r *release, at chartPlace) ([]render.Values, *render.Problem) {
	first, problem := p.firstValues(r, at)
	if problem != nil {
		return nil, problem
	}
	for _, name := range r.spec.AdditionalValuesFiles {
		f, problem := p.valuesFile(r, "additionalValuesFiles", name)
		if problem != nil {
			return nil, problem
		}
		first = append(first, render.Values{File: f.name})
	}
	return first, nil
}

// firstValues returns the values file of the release or of its chart, merged with the values in
// the kustomization.
func (p *plan) firstValues(r *release, at chartPlace) ([]render.Values, *render.Problem) {
	s := &r.spec
	how := cmp.Or(s.ValuesMerge, "override")
	alone := len(s.ValuesInline) > 0 && how == "replace"
	var f *file
	switch {
	case alone:
	case s.ValuesFile != "":
		var problem *render.Problem
		if f, problem = p.valuesFile(r, "valuesFile", s.ValuesFile); problem != nil {
			return nil, problem
		}
	case at.archive != "":
		if how == "merge" && len(s.ValuesInline) > 0 {
			return nil, r.problem("valuesMerge", refusal("valuesMerge: merge needs the values of the chart, which is packed: unpack "+shown(at.archive)))
		}
		if len(s.ValuesInline) == 0 {
			return nil, nil
		}
		f = &file{text: []byte("{}")} // the chart's own values still apply as defaults
	default:
		name := path.Join(at.dir, "values.yaml")
		if f = p.tree.read(name); f.err != nil || f.dir {
			return nil, r.problem("name", fmt.Errorf("%s %w", shown(name), cmp.Or(f.err, errDirectory)))
		}
		if problem := p.restricted(r, "name", f); problem != nil && at.version == "" {
			return nil, problem
		}
	}
	if len(s.ValuesInline) == 0 {
		return []render.Values{{File: f.name}}, nil
	}
	return p.mergedValues(r, how, f)
}

var errDirectory = errors.New("is a directory")

// valuesFile reads a values file of a release.
func (p *plan) valuesFile(r *release, key, name string) (*file, *render.Problem) {
	if downloaded(name) {
		return nil, r.problem(key, refusal(key+" "+shown(masked(name))+" is remote, and rendering does not use the network: save it in the repository"))
	}
	if isAbsolute(name) {
		return nil, r.problem(key, refusal(key+" "+shown(name)+" is an absolute path: use a path relative to the kustomization, inside the repository"))
	}
	name = path.Join(r.k.dir, filepath.ToSlash(name))
	f := p.tree.read(name)
	if f.err != nil || f.dir {
		return nil, r.problem(key, fmt.Errorf("%s: %s %w", key, shown(name), cmp.Or(f.err, errDirectory)))
	}
	return f, p.restricted(r, key, f)
}

// restricted returns a problem if the load restrictor forbids a file.
func (p *plan) restricted(r *release, key string, f *file) *render.Problem {
	if p.root.RootOnly && r.k.dir != "." && !strings.HasPrefix(f.name, r.k.dir+"/") {
		return r.problem(key, fmt.Errorf("%s is outside %s, and load-restrictor is root-only", shown(f.name), shown(r.k.dir)))
	}
	return nil
}

// mergedValues returns the values in a kustomization merged with those of a file. The file may be
// nil.
func (p *plan) mergedValues(r *release, how string, f *file) ([]render.Values, *render.Problem) {
	sources := []valuesSource{{r.file, cmp.Or(fieldFold(r.node, "valuesInline"), fieldFold(r.node, legacyKeys["valuesInline"]))}}
	under := []byte(nil)
	if f != nil {
		if len(f.text) > limits.ValuesFile {
			return nil, r.problem("valuesFile", refusal(fmt.Sprintf("%s has %d bytes; values files are limited to %d", shown(f.name), len(f.text), limits.ValuesFile)))
		}
		doc, err := parse(f.text)
		if err == nil {
			err = doc.err
		}
		if err != nil {
			return nil, r.problem("valuesFile", fmt.Errorf("%s: %w", shown(f.name), err))
		}
		if len(doc.docs) == 0 {
			return nil, r.problem("valuesFile", fmt.Errorf("%s is empty, and kustomize merges values into a mapping: write {}", shown(f.name)))
		}
		under = f.text
		sources = append(sources, valuesSource{f.name, doc.docs[0]})
		if how == "merge" {
			sources[0], sources[len(sources)-1] = sources[len(sources)-1], sources[0]
		}
	}
	text, err := mergeValues(r.spec.ValuesInline, under, how)
	if err != nil {
		return nil, r.problem("valuesInline", fmt.Errorf("valuesInline cannot be merged: %w", err))
	}
	return []render.Values{{File: r.file, Text: text, Places: placesOf(text, sources)}}, nil
}

// mergeValues merges values by kustomize's rules, for use as Helm input. A null deletes a value of
// the file, but not a value of the chart.
func mergeValues(inline map[string]any, file []byte, how string) (text []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("kustomize crashed: %v", r)
		}
	}()
	if how == "replace" {
		return json.MarshalIndent(inline, "", " ") // JSON is valid YAML, and MarshalIndent writes one value per line
	}
	under, err := yaml.Parse(string(file))
	if err != nil {
		return nil, err
	}
	over, err := yaml.FromMap(inline)
	if err != nil {
		return nil, err
	}
	if how == "merge" {
		under, over = over, under
	}
	merged, err := merge2.Merge(over, under.Copy(), yaml.MergeOptions{})
	if err != nil {
		return nil, err
	}
	all, err := merged.Map()
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(all, "", " ")
}

// valuesSource is a YAML tree of values and the file it comes from.
type valuesSource struct {
	file string
	root *yaml.Node
}

// placesOf returns the origin of each line of values. The origin is the position of the same value
// at the same path in the first source that contains it.
func placesOf(text []byte, from []valuesSource) []render.Place {
	places := make(valuesPlaces, strings.Count(string(text), "\n")+1)
	if doc, err := parse(text); err == nil && doc.err == nil && len(doc.docs) == 1 {
		places.walk(doc.docs[0], from, 0)
	}
	return places
}

// valuesPlaces holds the origin of each line of values.
type valuesPlaces []render.Place

// walk walks values and their sources in parallel.
func (w valuesPlaces) walk(n *yaml.Node, from []valuesSource, depth int) {
	if n == nil || depth > maxNesting {
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			value := n.Content[i+1]
			var below []valuesSource
			for _, s := range from {
				k, v := entryOf(s.root, key.Value, func(a, b string) bool { return a == b })
				if v == nil {
					continue
				}
				below = append(below, valuesSource{s.file, v})
				if value.Kind != yaml.ScalarNode && v.Kind == value.Kind {
					w.put(key.Line, render.Place{File: s.file, Line: k.Line, Column: k.Column})
				}
			}
			w.scalar(value, below)
			w.walk(value, below, depth+1)
		}
	case yaml.SequenceNode:
		for _, s := range from { // kustomize takes a list from one source
			if list := target(s.root); list != nil && list.Kind == yaml.SequenceNode && len(list.Content) == len(n.Content) {
				for i, item := range n.Content {
					one := []valuesSource{{s.file, target(list.Content[i])}}
					w.scalar(item, one)
					w.walk(item, one, depth+1)
				}
				return
			}
		}
	}
}

// scalar records the origin of a scalar.
func (w valuesPlaces) scalar(n *yaml.Node, from []valuesSource) {
	if n.Kind != yaml.ScalarNode {
		return
	}
	for _, s := range from {
		v := s.root
		if v.Kind != yaml.ScalarNode {
			continue
		}
		if value, ok := scalarOf(v); ok && value.same(n) || !ok && v.Value == n.Value {
			w.put(n.Line, render.Place{File: s.file, Line: v.Line, Column: v.Column})
			return
		}
	}
}

// put records the origin of a line, unless the line has one already.
func (w valuesPlaces) put(line int, at render.Place) {
	if line >= 1 && line <= len(w) && w[line-1].Line == 0 {
		w[line-1] = at
	}
}
