package engine

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

// plan holds the entire input of a build and its cost. It is complete before kustomize runs.
type plan struct {
	root   render.Root
	tree   *tree
	most   limits.Cost
	kusts  map[string]*kustomization // by directory
	uses   map[string]use            // by file
	parsed map[string]*parsed        // by file
	cut    map[string][]byte         // contents without schemas, by file
	sums   map[visit]sum
	stack  []string
	hints  []*render.Problem // problems in files that may explain a kustomize error
	edits  map[string][]edit // by kustomization
	work   int               // cost of substituting variables so far
	grown  map[string]int    // bytes that replacements write, by pathKey
	// printed holds the outputs of charts by file name. charted counts the charts.
	printed map[string]*printedChart
	charted int
	used    used
	// schema is set if a kustomization has an OpenAPI schema. Kustomize keeps such a schema for the
	// lifetime of the process.
	schema bool
}

// visit is one inclusion of a directory. Paths in plugins of the directory are relative to base.
type visit struct {
	dir    string
	plugin bool
	base   string
	// namespace is the namespace of the enclosing kustomization. Charts in the directory inherit
	// it.
	namespace string
}

func newPlan(r render.Root, t *tree) *plan {
	if r.Chart != nil && r.Chart.Archive != "" {
		r.Dir = path.Dir(r.Chart.Archive)
	}
	return &plan{
		root: r, tree: t, most: r.Left,
		kusts: map[string]*kustomization{}, uses: map[string]use{}, parsed: map[string]*parsed{}, cut: map[string][]byte{},
		sums: map[visit]sum{}, edits: map[string][]edit{}, grown: map[string]int{}, printed: map[string]*printedChart{}, used: used{},
	}
}

// make completes the plan, starting at the root, and returns the cost of the build.
func (p *plan) make() (sum, *render.Problem) {
	f := p.tree.read(p.root.Dir)
	switch {
	case f.err != nil:
		return sum{}, p.atRoot(fmt.Errorf("%s %w", shown(p.root.Dir), f.err))
	case !f.dir:
		return sum{}, p.atRoot(fmt.Errorf("%s is not a directory", shown(p.root.Dir)))
	}
	total, problem := p.visit(visit{dir: f.name}, nil)
	for _, k := range p.sorted() { // it must be rewritten, but is also read as data
		if edits := p.edits[k.name]; problem == nil && len(edits) > 0 && p.uses[k.name]&asData != 0 {
			problem = edits[0].entry.problem(refusal(edits[0].entry.label() + " is remote, and a generator reads this kustomization as data"))
		}
	}
	if problem == nil && len(p.cut) > 0 && (p.root.Whole || p.seesSchemas()) {
		for name := range p.cut { // kustomize may use a schema, so keep all of them
			delete(p.cut, name)
			if doc, err := parse(p.tree.real[name].text); err == nil {
				p.parsed[name] = doc
			}
		}
		total = total.plus(sum{cost: limits.Cost{Bytes: total.schemas, Nodes: total.schemaNodes}})
	}
	longest := 0 // length of the longest value of a kustomize variable
	for _, k := range p.kusts {
		for _, v := range deprecatedVars(&k.spec) {
			longest = max(longest, p.sizeAt(v.ObjRef.Kind, v.FieldRef.FieldPath))
		}
	}
	total = total.plus(sum{cost: limits.Cost{Bytes: limits.Product(total.references, longest)}})
	if over := total.beyond(p.most); over != "" && problem == nil {
		problem = p.atRoot(refusal(over))
	}
	if f := p.pointerFile(); f != nil {
		total.cost.Bytes = limits.Sum(total.cost.Bytes, len(f.text))
	}
	return total, problem
}

// atRoot returns a problem at the root, for an error without a known entry.
func (p *plan) atRoot(err error) *render.Problem {
	k := &kustomization{name: path.Join(p.root.Dir, "kustomization.yaml")}
	if known := p.kusts[path.Clean(p.root.Dir)]; known != nil {
		k = known
	}
	return p.pointed(k.problem(nil, err))
}

// blame returns a problem at the entry that led to an error.
func (p *plan) blame(from *entry, err error) *render.Problem {
	if from == nil {
		return p.atRoot(err)
	}
	return from.problem(fmt.Errorf("%s: %w", from.label(), err))
}

// visit follows one directory. It returns the cost of the directory and of everything that it
// includes.
func (p *plan) visit(v visit, from *entry) (sum, *render.Problem) {
	if problem := p.nested(v.dir, from); problem != nil {
		return sum{}, problem
	}
	if known, ok := p.sums[v]; ok {
		return known, nil
	}
	k, problem := p.kustomization(v.dir, from)
	if problem != nil {
		return sum{}, problem
	}
	component := k.spec.Kind == "Component"
	switch s := &k.spec; {
	case from == nil:
	case component && from.use != asComponent:
		return sum{}, from.problem(fmt.Errorf("%s is a Component: list it under components", from.label()))
	case !component && from.use == asComponent:
		return sum{}, from.problem(fmt.Errorf("%s is not a Component: list it under resources", from.label()))
	case v.plugin && transforms(k)+len(s.Components)+len(s.Generators)+len(s.ConfigMapGenerator)+len(s.SecretGenerator) > untouched:
		// Kustomize must load exactly the plugins that were checked here.
		return sum{}, from.problem(refusal(from.label() + ": generated or patched plugins are not supported: write them out"))
	}
	p.stack = append(p.stack, v.dir)
	defer func() { p.stack = p.stack[:len(p.stack)-1] }()
	total, problem := p.inflate(k, v.namespace)
	if problem != nil {
		return sum{}, problem
	}
	made := len(k.spec.ConfigMapGenerator) + len(k.spec.SecretGenerator)
	total.cost = total.cost.Plus(limits.Cost{Objects: made, Bytes: len(k.text), Entries: made + len(k.spec.Patches), Nodes: k.doc.nodes})
	// Each patch of selected objects makes kustomize build a new list of all objects.
	n := deprecatedTransforms(&k.spec) + len(k.spec.Transformers)
	for _, p := range k.spec.Patches {
		if p.Target != nil {
			n++
		}
	}
	total.heavy = n
	for _, e := range k.entries {
		more, problem := p.follow(e, v)
		if problem != nil {
			return sum{}, problem
		}
		if total = total.plus(more); e.use == asComponent {
			total.heavy = limits.Sum(total.heavy, more.heavy)
		}
		if over := total.beyond(p.most); over != "" {
			return sum{}, p.blame(e, refusal(over))
		}
	}
	total.cost.Steps = limits.Sum(total.cost.Steps, steps(total.cost.Objects, transforms(k), total.heavy))
	total = total.plus(p.written(k, total.cost.Objects))
	if over := total.beyond(p.most); over != "" {
		return sum{}, k.problem(nil, refusal(over))
	}
	p.sums[v] = total
	return total, nil
}

// nested rejects a directory that includes itself or that one of its subdirectories includes.
// Kustomize rejects both cases as well.
func (p *plan) nested(dir string, from *entry) *render.Problem {
	for _, above := range p.stack {
		if above == dir {
			return p.blame(from, fmt.Errorf("cycle: %s includes itself", shown(dir)))
		}
		if dir == "." || strings.HasPrefix(above, dir+"/") {
			return p.blame(from, fmt.Errorf("cycle: %s contains %s, which includes it", shown(dir), shown(above)))
		}
	}
	if len(p.stack) >= limits.Kustomizations {
		return p.blame(from, refusal(fmt.Sprintf("kustomizations are nested more than %d levels deep", limits.Kustomizations)))
	}
	return nil
}

// kustomization returns the kustomization of a directory. It reads each kustomization once.
func (p *plan) kustomization(dir string, from *entry) (*kustomization, *render.Problem) {
	if k := p.kusts[dir]; k != nil {
		return k, nil
	}
	overlay := p.root.Overlay // only the root has an overlay
	if len(p.stack) > 0 {
		overlay = nil
	}
	k, err := (*kustomization)(nil), errNone
	var problem *render.Problem
	if overlay != nil && p.root.Chart != nil {
		k, problem = p.chartOverlaid(dir)
	} else {
		if overlay == nil || !overlay.Plain {
			k, err = p.tree.loadKustomization(dir)
		}
		if errors.Is(err, errNone) && overlay != nil && (overlay.Generated || overlay.Plain) {
			k, err = p.generated(dir), nil
		}
		if err != nil {
			return nil, p.blame(from, err)
		}
		if problem = k.read(); problem == nil && overlay != nil {
			problem = p.overlay(k)
		}
	}
	if problem != nil {
		return nil, problem
	}
	p.kusts[dir] = k
	p.uses[k.name] |= asKustomization
	p.schema = p.schema || len(k.spec.OpenAPI) > 0
	return k, nil
}

// follow resolves an entry and returns the cost of its file or directory.
func (p *plan) follow(e *entry, v visit) (sum, *render.Problem) {
	remote, problem := p.remote(e)
	if problem != nil {
		return sum{}, problem
	}
	if !remote && e.use&(asPlugin|asPatch) != 0 {
		if doc := inline(e.value); doc != nil {
			total := sum{cost: limits.Cost{Entries: 1, Nodes: doc.nodes}}
			if e.use != asPlugin {
				return total, nil
			}
			if more, ok, problem := p.generator(e, doc, ""); ok || problem != nil {
				return total.plus(more), problem
			}
			return total, p.plugins(doc, e, "", e.k.dir)
		}
	}
	if filepath.IsAbs(e.name) || strings.HasPrefix(e.name, "/") {
		return sum{}, e.problem(refusal(e.label() + " is an absolute path: use a path relative to the kustomization, inside the repository"))
	}
	name := joined(e)
	f := p.tree.read(name)
	if f.err != nil {
		return sum{}, e.problem(fmt.Errorf("%s: %s %w", e.label(), shown(name), f.err))
	}
	switch {
	case !f.dir:
		return p.file(e, f, v)
	case e.use == asResource, e.use == asComponent:
		return p.visit(visit{f.name, v.plugin, v.base, cmp.Or(e.k.spec.Namespace, v.namespace)}, e)
	case e.use == asPlugin:
		return p.visit(visit{dir: f.name, plugin: true, base: e.k.dir}, e)
	}
	return sum{}, e.problem(fmt.Errorf("%s: %s is a directory, expected a file", e.label(), shown(f.name)))
}

// joined returns the file name of an entry relative to the confinement directory.
func joined(e *entry) string { return path.Join(e.k.dir, filepath.ToSlash(e.name)) }

func (p *plan) file(e *entry, f *file, v visit) (sum, *render.Problem) {
	switch {
	case e.use == asComponent:
		return sum{}, e.problem(fmt.Errorf("%s: %s is a file, expected the directory of a Component", e.label(), shown(f.name)))
	case p.root.RootOnly && e.k.dir != "." && !strings.HasPrefix(f.name, e.k.dir+"/"):
		return sum{}, e.problem(fmt.Errorf("%s: %s is outside %s, and load-restrictor is root-only", e.label(), shown(f.name), shown(e.k.dir)))
	}
	p.uses[f.name] |= e.use
	total := sum{cost: limits.Cost{Bytes: len(f.text), Entries: 1}, references: bytes.Count(f.text, []byte("$("))}
	if e.field == "openapi" {
		if _, err := parse(f.text); err != nil {
			return sum{}, e.problem(fmt.Errorf("%s: %s %w", e.label(), shown(f.name), err))
		}
		var doc any
		if yaml.Unmarshal(f.text, &doc) == nil && endless(doc) {
			return sum{}, e.problem(fmt.Errorf("%s: %w", e.label(), refusal("a definition is a reference to itself, and kustomize would follow it without an end")))
		}
	}
	if e.use&(asResource|asPatch|asJSONPatch|asPlugin) == 0 {
		return total, nil
	}
	doc, err := p.parse(f)
	if err != nil {
		return sum{}, e.problem(fmt.Errorf("%s: %s %w", e.label(), shown(f.name), err))
	}
	if doc.err != nil {
		line, said := lineSaid(doc.err) // reported only if kustomize fails
		p.hints = append(p.hints, e.problem(fmt.Errorf("%s: %s:%d: invalid YAML: %s", e.label(), shown(f.name), line, strings.TrimPrefix(said, "yaml: "))))
	}
	total.cost.Nodes = doc.nodes
	if cut, ok := p.cut[f.name]; ok && e.use == asResource {
		total.schemas, total.schemaNodes = len(f.text)-len(cut), signs(f.text)
		total.cost.Bytes = len(cut) + total.schemas/limits.PassedOver
	}
	if more, ok, problem := p.generator(e, doc, f.name); ok || problem != nil {
		return total.plus(more), problem
	}
	switch {
	case e.use == asPlugin:
		return total, p.plugins(doc, e, f.name, e.k.dir)
	case e.use == asResource && v.plugin:
		return total, p.plugins(doc, e, f.name, v.base)
	case e.use == asResource:
		total.cost.Objects = doc.objects
	}
	return total, nil
}

func (p *plan) parse(f *file) (*parsed, error) {
	if doc := p.parsed[f.name]; doc != nil {
		return doc, nil
	}
	if cut, keys := withoutSchemas(f.text); cut != nil {
		if doc, err := parse(cut); err == nil && doc.err == nil && onlyKeys(doc.docs, keys) {
			p.parsed[f.name], p.cut[f.name] = doc, cut
			return doc, nil
		}
	}
	doc, err := parse(f.text)
	if err == nil {
		p.parsed[f.name] = doc
	}
	return doc, err
}

// textOf returns the contents of a resource file as kustomize will read them.
func (p *plan) textOf(name string) []byte {
	if cut, ok := p.cut[name]; ok {
		return cut
	}
	return p.tree.real[name].text
}

// inline returns the document in a string if it is a mapping. Kustomize treats such a string as an
// inline patch or plugin, and any other string as a path.
func inline(value string) *parsed {
	if !strings.Contains(value, ":") {
		return nil
	}
	doc, err := parse([]byte(value))
	if err != nil || doc.err != nil || !slices.ContainsFunc(doc.docs, isMapping) {
		return nil
	}
	return doc
}

func isMapping(n *yaml.Node) bool { return n != nil && n.Kind == yaml.MappingNode }

// sorted returns the kustomizations sorted by directory.
func (p *plan) sorted() []*kustomization {
	return slices.SortedFunc(maps.Values(p.kusts), func(a, b *kustomization) int { return strings.Compare(a.name, b.name) })
}

// functionKeys lists the annotations that make kustomize run a container or a command.
var functionKeys = []string{"config.kubernetes.io/function", "config.k8s.io/function"}

// pathKeys lists the fields of builtin plugins that contain file names. dataKeys lists the fields
// among them whose files are not parsed as YAML. Kustomize ignores the case of these fields.
var (
	pathKeys = []string{"path", "paths", "files", "envs", "env"}
	dataKeys = []string{"files", "envs", "env"}
)

// plugins rejects generators, transformers and validators that are not built into kustomize. It
// also rejects URLs in built-in plugins. name is the file of the plugins, or "" if they are inline.
// Paths in the plugins are relative to base.
func (p *plan) plugins(doc *parsed, e *entry, name, base string) *render.Problem {
	for _, root := range doc.docs {
		if !isMapping(root) {
			continue
		}
		objects := []*yaml.Node{root}
		if items := field(root, "items"); items != nil && items.Kind == yaml.SequenceNode {
			objects = append(objects[:0], items.Content...)
		}
		for _, o := range objects {
			at, err := p.plugin(target(o), base)
			if err == nil && text(field(o, "kind")) == helmGenerator {
				at, err = target(o), refusal("a chart is rendered only if an entry of generators names its file: use helmCharts")
			}
			if err != nil {
				return pluginProblem(e, name, at, err)
			}
		}
	}
	return nil
}

func pluginProblem(e *entry, name string, at *yaml.Node, err error) *render.Problem {
	problem := e.problem(fmt.Errorf("%s: %w", e.label(), err))
	if name != "" && at != nil {
		problem.File, problem.Line, problem.Column = name, at.Line, at.Column
	}
	return problem
}

// plugin checks one plugin object.
func (p *plan) plugin(o *yaml.Node, base string) (*yaml.Node, error) {
	if !isMapping(o) {
		return o, refusal("a plugin must be an object")
	}
	kind := text(field(o, "kind"))
	notes := field(field(o, "metadata"), "annotations")
	for _, key := range functionKeys {
		if n := field(notes, key); n != nil {
			return n, refusal(fmt.Sprintf("%s runs a function (annotation %s); functions are not executed", shown(kind), key))
		}
	}
	if key := merged(o, 0); key != nil {
		return key, refusal("YAML merge keys in plugins are not supported: write the fields out")
	}
	switch {
	case text(field(o, "apiVersion")) != "builtin" || !slices.Contains(krusty.GetBuiltinPluginNames(), kind):
		return o, refusal(shown(kind) + " is not built into kustomize; exec and Go plugins are not executed")
	case kind == helmGenerator:
		return nil, nil
	}
	return p.pluginPaths(o, base, "", 0)
}

// merged returns a YAML merge key at any depth, or nil.
func merged(n *yaml.Node, depth int) *yaml.Node {
	if n == nil || depth > limits.Kustomizations {
		return n
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && child.Value == "<<" {
			return child
		}
		if found := merged(child, depth+1); found != nil {
			return found
		}
	}
	return nil
}

// pluginPaths checks the strings below a key for file names. It rejects URLs and records which
// files are data. The expanded size of aliases has already been checked, so pluginPaths terminates.
func (p *plan) pluginPaths(n *yaml.Node, base, key string, depth int) (*yaml.Node, error) {
	n = target(n)
	if n == nil || depth > limits.Kustomizations {
		return n, refusal("the plugin is nested too deeply")
	}
	if n.Kind == yaml.ScalarNode {
		return n, p.pluginPath(n.Value, base, key)
	}
	for i := 0; i < len(n.Content); i++ {
		below := key
		if n.Kind == yaml.MappingNode {
			if k := strings.ToLower(n.Content[i].Value); slices.Contains(pathKeys, k) {
				below = k
			}
			i++
		}
		if at, err := p.pluginPaths(n.Content[i], base, below, depth+1); err != nil {
			return at, err
		}
	}
	return nil, nil
}

func (p *plan) pluginPath(value, base, key string) error {
	if key == "" || strings.Contains(value, "\n") {
		return nil
	}
	name := value
	data := slices.Contains(dataKeys, key)
	if data {
		name = named(asData, value)
	}
	if downloaded(name) || cloned(name) {
		return refusal(shown(masked(value)) + " is remote, and rendering does not use the network: save it in the repository")
	}
	if f := p.tree.read(path.Join(base, name)); data && f.err == nil {
		p.uses[f.name] |= asData
	}
	return nil
}
