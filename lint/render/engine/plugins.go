package engine

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

// functionKeys lists the annotations that make kustomize run a container or a command.
var functionKeys = []string{"config.kubernetes.io/function", "config.k8s.io/function"}

// pathKeys lists the fields of builtin plugins that name files, and dataKeys those whose files are
// read as bytes. Kustomize accepts them in any case.
var (
	pathKeys = []string{"path", "paths", "files", "envs", "env"}
	dataKeys = []string{"files", "envs", "env"}
)

// plugins rejects generators, transformers and validators that are not built into kustomize, and
// URLs in those that are. name is their file, or "" if they are inline; their paths are relative to
// base.
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

// plugin checks one object.
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

// merged returns a merge key at any depth, or nil.
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

// pluginPaths rejects URLs in the strings below a key that names files, and records which files are
// data. It terminates because aliases were counted before.
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
		return refusal(shown(masked(value)) + " is remote, and rendering does not use the network: vendor it")
	}
	if f := p.tree.read(path.Join(base, name)); data && f.err == nil {
		p.uses[f.name] |= asData
	}
	return nil
}
