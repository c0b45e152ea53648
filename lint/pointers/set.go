package pointers

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/source"
)

// Tree gives generators access to the repository's files. Names are sorted and relative to the
// repository root. Hidden directories are omitted.
type Tree interface {
	Directories() []string
	Files() []string
	// Read returns the first document of a file, or nil if the file has none.
	Read(name string) *source.Node
}

// element holds the parameters of one generated Application.
type element struct {
	params *params
	line   int
}

// set returns a pointer for each Application that an ApplicationSet generates.
func (r *Reader) set(o *source.Object, whole Pointer) []*Pointer {
	spec := o.Root.Get("spec")
	goTemplate := truth(spec.Get("goTemplate"))
	var all []*Pointer
	leaveOpen := func(why Reason, line int) {
		p := whole
		p.Why = why
		if line > 0 {
			p.Line, p.Column = line, 1
		}
		all = append(all, &p)
	}
	if spec.Get("templatePatch").Text() != "" {
		leaveOpen(Reason{What: WhyTemplate, Detail: "templatePatch"}, 0)
		return all
	}
	generators := spec.Get("generators").Items()
	if len(generators) == 0 {
		leaveOpen(Reason{What: WhyMalformed, Detail: "an ApplicationSet without generators"}, 0)
	}
	for _, g := range generators {
		elements, why := (&generation{Reader: r, goTemplate: goTemplate}).generate(g, 0)
		if why.Some() {
			leaveOpen(why, int(g.Line))
		}
		for _, e := range elements {
			if r.applications++; r.applications > limits.Applications {
				leaveOpen(Reason{What: WhyTooMany, Detail: fmt.Sprintf("ApplicationSets stand for more than %d Applications: name them in a list, or split the run", limits.Applications), Refused: true}, int(g.Line))
				return all
			}
			p := whole
			if e.line > 0 {
				p.Line, p.Column = e.line, 1
			}
			v, template := &view{fill: e.params.fill, made: &r.written}, spec.Get("template")
			if name := v.text(template.At("metadata", "name")); name != "" && !v.open {
				p.Name = name
			}
			r.application(v, template.Get("spec"), &p)
			for i := range p.Sources {
				if s := &p.Sources[i]; s.Why.What == WhyVariable {
					s.Why = Reason{What: WhyTemplate, Detail: "a source of the template"}
				}
			}
			if r.made > limits.Templated {
				leaveOpen(tooMuchText(), int(g.Line))
				return all
			}
			all = append(all, &p)
		}
	}
	return all
}

// Cluster is a cluster that Argo CD manages.
type Cluster struct {
	Name, Server        string
	Labels, Annotations map[string]string
	// Knows reports whether ApplicationSets in a file know the cluster. If it is nil, all do.
	Knows func(file string) bool
}

// generation reads the generators of one ApplicationSet.
type generation struct {
	*Reader
	goTemplate bool
	// first holds the parameters of one element of the first generator in a matrix. It is nil
	// outside the second generator.
	first *params
	open  bool // set once text refers to a parameter that is not known
}

// text returns the text of a scalar in a generator.
func (x *generation) text(n *source.Node) string {
	if x.first == nil {
		return written(n)
	}
	text, ok := x.first.fill(written(n))
	x.open = x.open || !ok
	return text
}

// written returns the text of a scalar of any type.
func written(n *source.Node) string {
	if n == nil || n.Kind != source.Scalar {
		return ""
	}
	return n.Value
}

// generate returns one generator's elements. If they are unknown, it returns the reason. The
// argument "depth" is the number of generators around it.
func (x *generation) generate(g *source.Node, depth int) (all []element, why Reason) {
	kind, body := "", (*source.Node)(nil)
	kinds := 0
	for key, n := range g.Fields() {
		if key.Value != "selector" {
			kind, body = key.Value, n
			kinds++
		}
	}
	nested := kind == "matrix" || kind == "merge"
	switch {
	case kinds == 0:
		return nil, Reason{What: WhyMalformed, Detail: "a generator without a kind"}
	case kinds > 1:
		return nil, Reason{What: WhyTemplate, Detail: "several kinds in one generator"}
	case !body.Get("template").IsNull():
		return nil, Reason{What: WhyTemplate, Detail: "a generator with a template of its own"}
	case kind == "list" && !body.Get("elementsYaml").IsNull():
		return nil, Reason{What: WhyTemplate, Detail: "elementsYaml"}
	case kind == "clusters" && len(x.Clusters) > 0 && truth(body.Get("flatList")):
		return nil, Reason{What: WhyTemplate, Detail: "a clusters generator with flatList"}
	case nested && (depth > 1 || kind == "matrix" && x.first != nil):
		return nil, Reason{What: WhyTemplate, Detail: kind + " within other generators"}
	case kind == "list":
		for _, item := range body.Get("elements").Items() {
			p := x.params()
			p.add("", item, 0, x.text)
			all = append(all, element{p, int(item.Line)})
		}
	case kind == "git":
		all, why = x.git(body)
	case kind == "clusters" && len(x.Clusters) > 0:
		all, why = x.clusters(body)
	case kind == "matrix":
		all, why = x.matrix(body, depth+1)
	case kind == "merge":
		all, why = x.merge(body, depth+1)
	default:
		return nil, Reason{What: WhyGenerator, Detail: kind}
	}
	if !why.Some() && !g.Get("selector").IsNull() {
		all, why = selected(x, all, g.Get("selector"), written, func(e *element, key string) (string, bool) {
			x.matches += len(e.params.texts)
			return e.params.flat(key)
		})
	}
	switch {
	case why.Some():
	case x.made > limits.Templated:
		why = tooMuchText()
	case x.open:
		why = Reason{What: WhyTemplate, Detail: "a generator refers to a parameter that is not known"}
	default:
		return all, Reason{}
	}
	return nil, why
}

// matrix combines each element of the first generator with each element of the second one, which
// may use parameters of the first (argo-cd: applicationset/generators/matrix.go).
func (x *generation) matrix(body *source.Node, depth int) (all []element, why Reason) {
	generators := body.Get("generators").Items()
	if len(generators) != 2 {
		return nil, Reason{What: WhyMalformed, Detail: fmt.Sprintf("matrix has %d generators, expected 2", len(generators))}
	}
	firsts, why := x.generate(generators[0], depth)
	for _, first := range firsts {
		second := &generation{Reader: x.Reader, goTemplate: x.goTemplate, first: first.params}
		var more []element
		if more, why = second.generate(generators[1], depth); why.Some() {
			break
		}
		for _, e := range more {
			for name, text := range first.params.texts {
				if other, ok := e.params.texts[name]; ok && other != text && !x.goTemplate {
					return nil, Reason{What: WhyMalformed, Detail: "the generators of matrix give different values for one parameter"}
				}
			}
			e.params.take(first.params)
			e.line = cmp.Or(e.line, first.line)
		}
		if all = append(all, more...); len(all) > limits.Applications || x.made > limits.Templated {
			break
		}
	}
	return all, why
}

// merge overrides parameters of the first generator with those of the others. Elements with the
// same values of mergeKeys belong together. Others than those of the first generator are dropped
// (argo-cd: applicationset/generators/merge.go).
func (x *generation) merge(body *source.Node, depth int) (all []element, why Reason) {
	keys, generators := body.Get("mergeKeys").Items(), body.Get("generators").Items()
	if len(keys) == 0 || len(generators) < 2 {
		return nil, Reason{What: WhyMalformed, Detail: fmt.Sprintf("merge has %d mergeKeys and %d generators, expected at least 1 and 2", len(keys), len(generators))}
	}
	bases := map[string]int{}
	for i, g := range generators {
		more, why := x.generate(g, depth)
		if why.Some() {
			return nil, why
		}
		seen := map[string]bool{}
		for _, e := range more {
			if x.matches += len(keys); x.matches > limits.Matches {
				return nil, tooManyMatches()
			}
			id := ""
			for _, key := range keys {
				value, ok := e.params.texts[e.params.key(key.Text())]
				if !ok && !x.goTemplate {
					value, ok = e.params.flat(key.Text()) // a part of a path
				}
				id += fmt.Sprintf("%t %q ", ok, value)
			}
			if seen[id] {
				return nil, Reason{What: WhyMalformed, Detail: "elements of one generator of merge have the same values of mergeKeys"}
			}
			seen[id] = true
			if i == 0 {
				bases[id] = len(all)
				all = append(all, e)
			} else if at, ok := bases[id]; ok {
				all[at].params.take(e.params)
				all[at].line = cmp.Or(e.line, all[at].line)
			}
		}
	}
	return all, Reason{}
}

// inCluster is the address of the cluster in which Argo CD runs.
const inCluster = "https://kubernetes.default.svc"

// clusters returns an element for each cluster of the configuration that the selector matches.
// Without a selector, Argo CD adds its own cluster if it is not among them (argo-cd:
// applicationset/generators/cluster.go).
func (x *generation) clusters(g *source.Node) (all []element, why Reason) {
	clusters, selector := slices.DeleteFunc(slices.Clone(x.Clusters), func(c Cluster) bool {
		return c.Knows != nil && !slices.ContainsFunc(x.Files, c.Knows)
	}), g.Get("selector")
	if selector.Get("matchLabels").Len()+selector.Get("matchExpressions").Len() == 0 && !slices.ContainsFunc(clusters, func(c Cluster) bool { return c.Server == inCluster }) {
		clusters = append(clusters, Cluster{Name: "in-cluster", Server: inCluster})
	}
	clusters, why = selected(x, clusters, selector, x.text, func(c *Cluster, key string) (string, bool) {
		value, ok := c.Labels[key]
		if key == secretType {
			return "cluster", true
		}
		return value, ok
	})
	for _, c := range clusters {
		p := x.params()
		p.set("name", c.Name)
		p.set("nameNormalized", sanitized(c.Name))
		p.set("server", c.Server)
		p.set("project", "")
		p.set("metadata.labels."+p.key(secretType), "cluster")
		for key, value := range c.Labels {
			p.set("metadata.labels."+p.key(key), value)
		}
		for key, value := range c.Annotations {
			p.set("metadata.annotations."+p.key(key), value)
		}
		x.values(g, p)
		all = append(all, element{params: p})
	}
	return all, why
}

// secretType is the label of the Secrets in which Argo CD stores clusters.
const secretType = "argocd.argoproj.io/secret-type"

// values adds the parameters under "values", which may refer to parameters that are already known.
func (x *generation) values(g *source.Node, p *params) {
	more := map[string]string{}
	for key, value := range g.Get("values").Fields() {
		text := value.Text()
		if x.first != nil {
			if filled, ok := x.first.fill(text); ok {
				text = filled
			}
		}
		if text, ok := p.fill(text); ok {
			more["values."+p.key(key.Value)] = text
		}
	}
	maps.Copy(p.texts, more)
}

func (x *generation) params() *params {
	return &params{texts: map[string]string{}, lists: map[string][]string{}, goTemplate: x.goTemplate, made: &x.made}
}

// mostLevels is the maximum nesting depth of parameters.
const mostLevels = 10

// add adds the scalars in a tree as parameters. The argument "text" returns the text of a scalar.
func (p *params) add(prefix string, n *source.Node, level int, text func(*source.Node) string) {
	one := func(name string, value *source.Node) {
		switch {
		case value.IsNull():
		case value.Kind == source.Scalar:
			p.set(name, text(value))
		case level < mostLevels:
			p.add(name+".", value, level+1, text)
		}
	}
	for key, value := range n.Fields() {
		one(prefix+p.key(text(key)), value)
	}
	if n != nil && n.Kind == source.Sequence {
		for i, item := range n.Items() {
			one(prefix+strconv.Itoa(i), item)
		}
	}
}

func (p *params) set(name, value string) {
	p.texts[name] = value
	*p.made += len(name) + len(value)
}

// key returns a key as it occurs in the names of parameters. In a Go template, a key with dots is
// not a path.
func (p *params) key(key string) string {
	if p.goTemplate {
		return strings.ReplaceAll(key, ".", "\x00")
	}
	return key
}

// flat returns the parameter that a generator's selector refers to.
func (p *params) flat(key string) (string, bool) {
	found := ""
	for name := range p.texts {
		if strings.ReplaceAll(name, "\x00", ".") == key && (found == "" || name < found) {
			found = name
		}
	}
	if found != "" {
		return p.texts[found], true
	}
	for name, list := range p.lists {
		for i, value := range list {
			if key == fmt.Sprintf("%s.%d", name, i) && p.goTemplate || key == fmt.Sprintf("%s[%d]", name, i) && !p.goTemplate {
				return value, true
			}
		}
	}
	return "", false
}

// take adds the parameters of another generator. They have precedence.
func (p *params) take(other *params) {
	for name, value := range other.texts {
		p.set(name, value)
	}
	maps.Copy(p.lists, other.lists)
}

// selected returns the items that a label selector matches. The argument "text" returns the text of
// a scalar in the selector, and "label" returns the value of a label.
func selected[T any](x *generation, all []T, selector *source.Node, text func(*source.Node) string, label func(*T, string) (string, bool)) (taken []T, why Reason) {
	for i := range all {
		ok := true
		x.matches += selector.Get("matchLabels").Len()
		for key, value := range selector.Get("matchLabels").Fields() {
			is, has := label(&all[i], text(key))
			ok = ok && has && is == text(value)
		}
		for _, e := range selector.Get("matchExpressions").Items() {
			if x.matches += 1 + e.Get("values").Len(); x.matches > limits.Matches {
				return nil, tooManyMatches()
			}
			is, has := label(&all[i], text(e.Get("key")))
			among := has && slices.ContainsFunc(e.Get("values").Items(), func(n *source.Node) bool { return text(n) == is })
			switch operator := e.Get("operator").Text(); operator {
			case "In":
				ok = ok && among
			case "NotIn":
				ok = ok && !among
			case "Exists":
				ok = ok && has
			case "DoesNotExist":
				ok = ok && !has
			default:
				return nil, Reason{What: WhyMalformed, Detail: "a selector with the operator " + operator}
			}
		}
		if ok {
			taken = append(taken, all[i])
		}
	}
	return taken, Reason{}
}

// git returns an element for each matching directory, or for each object in a matching file.
func (x *generation) git(g *source.Node) (all []element, why Reason) {
	url := x.text(g.Get("repoURL"))
	if ours := x.Repositories.Ours(Repository{URL: url}); !ours.Is() {
		return nil, Reason{What: WhyElsewhere, Detail: Masked(url)}
	}
	prefix := x.text(g.Get("pathParamPrefix"))
	directories, files := g.Get("directories"), g.Get("files")
	var names []string
	switch {
	case directories.Len() > 0:
		names, why = x.matching(x.Tree.Directories(), directories, path.Match)
	case files.Len() > 0:
		names, why = x.matching(x.Tree.Files(), files, doublestar.Match)
	default:
		why = Reason{What: WhyMalformed, Detail: "a git generator without directories and files"}
	}
	for _, name := range names {
		dir, objects := name, []*source.Node{nil}
		if directories.Len() == 0 {
			dir, objects = path.Dir(name), []*source.Node{x.Tree.Read(name)}
			if n := objects[0]; n != nil && n.Kind == source.Sequence {
				objects = n.Items()
			}
		}
		for _, object := range objects {
			p := x.params()
			if directories.Len() == 0 {
				p.add("", object, 0, written)
				p.texts["path.filename"] = path.Base(name)
			}
			p.pathParams(prefix, dir)
			x.values(g, p)
			all = append(all, element{params: p})
		}
	}
	return all, why
}

// matching returns the names that match at least one pattern in the list and no exclusion.
func (x *generation) matching(names []string, list *source.Node, match func(pattern, name string) (bool, error)) (all []string, why Reason) {
	patterns := lists.Of(list.Items(), func(item *source.Node) string { return x.text(item.Get("path")) })
	for _, name := range names {
		taken := false
		for i, item := range list.Items() {
			if x.matches++; x.matches > limits.Matches {
				return nil, tooManyMatches()
			}
			ok, err := match(patterns[i], name)
			if err != nil {
				return nil, Reason{What: WhyMalformed, Detail: "the glob " + patterns[i]}
			}
			if ok && truth(item.Get("exclude")) {
				taken = false
				break
			}
			taken = taken || ok
		}
		if taken {
			all = append(all, name)
		}
	}
	return all, Reason{}
}

func tooMuchText() Reason {
	return Reason{What: WhyTooMany, Detail: fmt.Sprintf("ApplicationSets make more than %d MiB of text", limits.Templated>>20), Refused: true}
}

func tooManyMatches() Reason {
	return Reason{What: WhyTooMany, Detail: "the globs and selectors of generators are held against too many names: use fewer", Refused: true}
}

// params holds one generated Application's parameters by dotted name, for example cluster, path,
// path.basename, path.segments and values.region.
type params struct {
	texts map[string]string
	lists map[string][]string
	// goTemplate is set if the template is a Go template. In other templates, {{name}} refers to a
	// parameter.
	goTemplate bool
	// made counts the bytes of template output that the run has produced so far.
	made *int
}

var (
	action    = lazy.Regexp(`\{\{(.*?)\}\}`)
	fastName  = lazy.Regexp(`^([\w.-]+(?:\[\d+\])?)$`)
	goName    = lazy.Regexp(`^\.([\w.]+)$`)
	goIndex   = lazy.Regexp(`^index \.([\w.]+) (\d+)$`)
	goKey     = lazy.Regexp(`^index \.([\w.]+) "([^"\\]+)"$`)
	fastIndex = lazy.Regexp(`^([\w.-]+)\[(\d+)\]$`)
)

// fill replaces parameters in text with their values. ok is false if the text contains any other
// template action or an unset parameter. Argo CD then fails or keeps the text unchanged.
func (p *params) fill(text string) (string, bool) {
	ok := true
	if *p.made += len(text); *p.made > limits.Templated {
		return "", false
	}
	if !strings.Contains(text, "{{") {
		return text, !strings.Contains(text, "${")
	}
	filled := action().ReplaceAllStringFunc(text, func(all string) string {
		inner := all[2 : len(all)-2]
		if p.goTemplate {
			inner = strings.TrimSuffix(strings.TrimPrefix(inner, "-"), "-")
		}
		value, known := p.value(strings.TrimSpace(inner))
		if *p.made += len(value); !known || *p.made > limits.Templated {
			ok = false
			return ""
		}
		return value
	})
	if !ok {
		return text, false
	}
	return filled, !strings.Contains(filled, "{{") && !strings.Contains(filled, "${")
}

func (p *params) value(name string) (string, bool) {
	index, plain := fastIndex, fastName
	if p.goTemplate {
		index, plain = goIndex, goName
	}
	if m := index().FindStringSubmatch(name); m != nil {
		i, err := strconv.Atoi(m[2])
		list := p.lists[m[1]]
		if err != nil || i >= len(list) {
			return "", false
		}
		return list[i], true
	}
	if m := goKey().FindStringSubmatch(name); m != nil && p.goTemplate {
		name = "." + m[1] + "." + p.key(m[2])
	} else if !plain().MatchString(name) {
		return "", false
	}
	if p.goTemplate {
		name = name[1:]
	}
	value, known := p.texts[name]
	return value, known
}

// pathParams adds the parameters that describe a directory (argo-cd:
// applicationset/generators/git.go). In a Go template, path.path is the whole path. In other
// templates, path is the whole path.
func (p *params) pathParams(prefix, dir string) {
	if prefix != "" {
		prefix += "."
	}
	segments := strings.Split(dir, "/")
	base := segments[len(segments)-1]
	whole := prefix + "path"
	if p.goTemplate {
		whole += ".path"
	}
	p.texts[whole] = dir
	p.texts[prefix+"path.basename"] = base
	p.texts[prefix+"path.basenameNormalized"] = sanitized(base)
	if p.goTemplate {
		p.lists[prefix+"path.segments"] = segments
	} else {
		p.lists[prefix+"path"] = segments
	}
}

// sanitized turns text into the name of an object (argo-cd: SanitizeName).
func sanitized(text string) string {
	text = notInNames().ReplaceAllString(strings.ToLower(text), "-")
	return strings.Trim(text[:min(len(text), 253)], "-.")
}

var notInNames = lazy.Regexp(`[^-a-z0-9.]+`)
