package pointers

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/limits"
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
		elements, why := r.generate(g, goTemplate)
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
				leaveOpen(Reason{What: WhyTooMany, Detail: fmt.Sprintf("templates of ApplicationSets make more than %d MiB of text", limits.Templated>>20), Refused: true}, int(g.Line))
				return all
			}
			all = append(all, &p)
		}
	}
	return all
}

// generate returns one generator's elements. If they are unknown, it returns the reason.
func (r *Reader) generate(g *source.Node, goTemplate bool) ([]element, Reason) {
	for key, body := range g.Fields() {
		switch {
		case key.Value == "selector" || !body.Get("template").IsNull():
			return nil, Reason{What: WhyTemplate, Detail: "a generator with a selector or a template of its own"}
		case key.Value == "list" && body.Get("elementsYaml").IsNull():
			var all []element
			for _, item := range body.Get("elements").Items() {
				p := r.params(goTemplate)
				p.add("", item, 0)
				all = append(all, element{p, int(item.Line)})
			}
			return all, Reason{}
		case key.Value == "git":
			return r.git(body, goTemplate)
		}
	}
	for key := range g.Fields() {
		return nil, Reason{What: WhyGenerator, Detail: key.Value}
	}
	return nil, Reason{What: WhyMalformed, Detail: "a generator without a kind"}
}

func (r *Reader) params(goTemplate bool) *params {
	return &params{texts: map[string]string{}, lists: map[string][]string{}, goTemplate: goTemplate, made: &r.made}
}

// mostLevels is the maximum nesting depth of parameters.
const mostLevels = 10

// add adds the scalars in a tree as parameters.
func (p *params) add(prefix string, n *source.Node, level int) {
	for key, value := range n.Fields() {
		name := prefix + key.Value
		switch {
		case value.Kind == source.Scalar && !value.IsNull():
			p.texts[name] = value.Value
		case value.Kind == source.Map && level < mostLevels:
			p.add(name+".", value, level+1)
		}
	}
}

// git returns an element for each matching directory or file in the repository.
func (r *Reader) git(g *source.Node, goTemplate bool) ([]element, Reason) {
	url := g.Get("repoURL").Text()
	if ours := r.Repositories.Ours(Repository{URL: url}); !ours.Is() {
		return nil, Reason{What: WhyElsewhere, Detail: Masked(url)}
	}
	prefix := g.Get("pathParamPrefix").Text()
	directories, files := g.Get("directories"), g.Get("files")
	var names []string
	var why Reason
	switch {
	case directories.Len() > 0:
		names, why = r.matching(r.Tree.Directories(), directories, path.Match)
	case files.Len() > 0:
		names, why = r.matching(r.Tree.Files(), files, doublestar.Match)
	default:
		why = Reason{What: WhyMalformed, Detail: "a git generator without directories and files"}
	}
	var all []element
	for _, name := range names {
		p := r.params(goTemplate)
		dir := name
		if directories.Len() == 0 {
			dir = path.Dir(name)
			p.add("", r.Tree.Read(name), 0)
			p.texts["path.filename"] = path.Base(name)
		}
		p.pathParams(prefix, dir)
		more := map[string]string{} // the values may contain parameters that are already known
		for key, value := range g.Get("values").Fields() {
			if text, ok := p.fill(value.Value); ok {
				more["values."+key.Value] = text
			}
		}
		maps.Copy(p.texts, more)
		all = append(all, element{params: p})
	}
	return all, why
}

// matching returns the names that match at least one pattern in the list and no exclusion.
func (r *Reader) matching(names []string, list *source.Node, match func(pattern, name string) (bool, error)) (all []string, why Reason) {
	for _, name := range names {
		taken := false
		for _, item := range list.Items() {
			if r.matches++; r.matches > limits.Matches {
				return nil, Reason{What: WhyTooMany, Detail: "the globs of git generators are held against too many names: use fewer globs", Refused: true}
			}
			ok, err := match(item.Get("path").Text(), name)
			if err != nil {
				return nil, Reason{What: WhyMalformed, Detail: "the glob " + item.Get("path").Text()}
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
	action    = regexp.MustCompile(`\{\{(.*?)\}\}`)
	fastName  = regexp.MustCompile(`^([\w.-]+(?:\[\d+\])?)$`)
	goName    = regexp.MustCompile(`^\.([\w.]+)$`)
	goIndex   = regexp.MustCompile(`^index \.([\w.]+) (\d+)$`)
	fastIndex = regexp.MustCompile(`^([\w.-]+)\[(\d+)\]$`)
)

// fill replaces parameters in text with their values. ok is false if the text contains any other
// template action or an unset parameter. Argo CD then fails or keeps the text unchanged.
func (p *params) fill(text string) (string, bool) {
	ok := true
	if *p.made += len(text); *p.made > limits.Templated {
		return "", false
	}
	filled := action.ReplaceAllStringFunc(text, func(all string) string {
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
	if m := index.FindStringSubmatch(name); m != nil {
		i, err := strconv.Atoi(m[2])
		list := p.lists[m[1]]
		if err != nil || i >= len(list) {
			return "", false
		}
		return list[i], true
	}
	m := plain.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	value, known := p.texts[m[1]]
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
	normalized := notInNames.ReplaceAllString(strings.ToLower(base), "-") // argo-cd: SanitizeName
	p.texts[prefix+"path.basenameNormalized"] = strings.Trim(normalized[:min(len(normalized), 253)], "-.")
	if p.goTemplate {
		p.lists[prefix+"path.segments"] = segments
	} else {
		p.lists[prefix+"path"] = segments
	}
}

var notInNames = regexp.MustCompile(`[^-a-z0-9.]+`)
