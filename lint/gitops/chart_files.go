package gitops

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

const valuesFile = "values.yaml"

// files adds the values files that a pointer names.
func (l *layers) files() pointers.Reason {
	c := l.source.Chart
	if c.Replace {
		return l.replaced()
	}
	if len(c.Files)+len(c.Parameters) > limits.References {
		return pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("the release has more than %d values files and parameters", limits.References), Refused: true}
	}
	var all []string
	explicit := map[string]bool{} // named without a glob; their own entry sets their position, so globs skip them
	for _, written := range c.Files {
		if name, why := l.named(written); !why.Some() && !strings.ContainsAny(name, "*?[") {
			explicit[name] = true
		}
	}
	for _, written := range c.Files {
		name, why := l.named(written)
		if why.Some() {
			return why
		}
		names := []string{name}
		if strings.ContainsAny(name, "*?[") {
			if l.looks += len(l.tree.under(".")); l.looks > limits.Ignored {
				return pointers.Reason{What: pointers.WhyTooMany, Detail: "the globs of values files are held against too many names: use fewer globs", Refused: true}
			}
			if names = pointers.Matching(l.tree.under("."), name); len(names) == 0 && !c.Missing {
				return pointers.Reason{What: pointers.WhyMissing, Detail: "values files " + written}
			}
			names = slices.DeleteFunc(names, func(name string) bool { return explicit[name] })
		}
		all = append(all, names...)
	}
	seen := map[string]bool{}
	for _, name := range all {
		if seen[name] {
			continue
		}
		seen[name] = true
		if why := l.file(name, c.Missing); why.Some() {
			return why
		}
	}
	return pointers.Reason{}
}

// file adds a values file.
func (l *layers) file(name string, optional bool) pointers.Reason {
	e := l.lookup.Entry(name)
	if e.Outside {
		return pointers.Reason{What: pointers.WhyOutside, Detail: "values file " + name, Refused: true}
	}
	out := e.Info != nil && !l.source.Chart.Remote && l.artifactOf(l.source).without(name)
	switch {
	case (e.Info == nil || out) && !optional:
		return pointers.Reason{What: pointers.WhyMissing, Detail: "values file " + name}
	case out:
		return pointers.Reason{}
	}
	if e.Info != nil {
		name = e.Name
	}
	if len(l.root.Chart.Values) >= limits.References {
		return pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("the release has more than %d values files", limits.References), Refused: true}
	}
	return l.add(render.Values{File: name, Optional: optional})
}

// replaced adds the files that replace the values of the chart itself, as in Flux. Their names are
// relative to the root of the repository or, for a chart from elsewhere, to the chart.
func (l *layers) replaced() pointers.Reason {
	c := l.source.Chart
	own := path.Join(l.root.Dir, valuesFile)
	for i, written := range c.Files {
		root := l.opts.Base
		if c.Remote {
			root = l.root.Dir
		}
		name := path.Join(root, strings.TrimLeft(written, "/"))
		switch {
		case !inside(root, name):
			return pointers.Reason{What: pointers.WhyOutside, Detail: written, Refused: true}
		case l.root.Chart.Archive != "" && (i > 0 || name != own):
			return unknownValues("values file %s is in the archive of the chart", written)
		case l.root.Chart.Archive != "":
			return pointers.Reason{}
		}
		if why := l.file(name, c.Missing); why.Some() {
			return why
		}
	}
	if len(l.root.Chart.Values) == 0 {
		l.root.Chart.Values = []render.Values{{Text: []byte{}}}
	}
	l.root.Chart.Defaults = len(l.root.Chart.Values)
	return pointers.Reason{}
}

// inside reports whether a name is below a directory.
func inside(dir, name string) bool {
	dir = path.Clean(dir)
	return (dir == "." || strings.HasPrefix(name, dir+"/")) && worktree.Local(name) && !strings.ContainsAny(name, "\x00\\")
}

// named resolves the name of a values file like Argo CD: relative to the chart, to the root of the
// repository if it begins with a slash, or to another source of the Application if it begins with $
// and the name of that source.
func (l *layers) named(written string) (string, pointers.Reason) {
	outside := pointers.Reason{What: pointers.WhyOutside, Detail: written, Refused: true}
	if scheme, _, ok := strings.Cut(written, "://"); ok && !strings.Contains(scheme, "/") {
		return "", unknownValues("values file %s is not in the repository", pointers.Masked(written))
	}
	if ref, rest, ok := strings.Cut(written, "/"); ok && strings.HasPrefix(ref, "$") {
		if why := l.referred(ref[1:]); why.Some() {
			return "", why
		}
		name := path.Join(l.opts.Base, rest)
		if !inside(l.opts.Base, name) {
			return "", outside
		}
		return name, pointers.Reason{}
	}
	root, from := path.Clean(l.opts.Base), l.root.Dir
	if l.source.Chart.Remote {
		root = l.root.Dir
	}
	if l.root.Chart.Archive != "" {
		return "", unknownValues("values file %s is in the archive of the chart", written)
	}
	if strings.HasPrefix(written, "/") {
		from = root
	}
	name := path.Join(from, written)
	if !inside(root, name) {
		return "", outside
	}
	return name, pointers.Reason{}
}

// referred returns the reason why the files of another source are not available.
func (l *layers) referred(ref string) pointers.Reason {
	for i := range l.pointer.Sources {
		s := &l.pointer.Sources[i]
		switch {
		case s.Ref != ref:
		case s.Why.Some() && s.Why.What != pointers.WhyValuesOnly:
			return s.Why
		case l.reader.Repositories.Ours(s.Repository).Is():
			return pointers.Reason{}
		default:
			return pointers.Reason{What: pointers.WhyElsewhere, Detail: pointers.Masked(s.Repository.URL)}
		}
	}
	return unknownValues("there is no source with the ref %s", ref)
}

// objects adds the values in ConfigMaps and Secrets.
func (l *layers) objects() pointers.Reason {
	for _, ref := range l.source.Chart.From {
		if why := l.object(ref); why.Some() {
			return why
		}
	}
	return pointers.Reason{}
}

func (l *layers) object(ref pointers.Reference) pointers.Reason {
	at := ref.Kind + " " + strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")
	if ref.Kind != "ConfigMap" {
		return unknownValues("%s", at)
	}
	found, ok := l.vars.find(ref, l.from.parent)
	if !ok {
		return unknownValues("%s is not in the tree", at)
	}
	value := found.object.Root.At("data", ref.Key)
	switch {
	case value.IsNull() && ref.Optional && found.object.Root.At("binaryData", ref.Key) == nil:
		return pointers.Reason{}
	case value.IsNull() || value.Kind != source.Scalar:
		return unknownValues("%s has no key %s", at, ref.Key)
	}
	t := l.dataOf(found, ref.Key, value)
	if why := l.unknown(t, at); why.Some() {
		return why
	}
	if ref.Target == "" {
		return l.add(l.text(t, t.File))
	}
	// Flux lets the values of the release win or lose at a path, depending on what else is set.
	plain, whole := string(t.Bytes), ref.Literal
	if n := len(plain); !whole && n > 1 && plain[0] == plain[n-1] && (plain[0] == '"' || plain[0] == '\'') {
		plain, whole = strings.Trim(plain, `'"`), true
	}
	text, ok := pointers.Nested(ref.Target, plain, whole)
	if !ok || strings.Contains(ref.Target, "[") {
		return unknownValues("targetPath %s: the path or the value is not simple", ref.Target)
	}
	if own := l.source.Chart.Values; own != nil && own.Sets(ref.Target) {
		return unknownValues("values set targetPath %s as well", ref.Target)
	}
	place := render.Place{}
	if len(t.Lines) > 0 {
		place = l.place(t.File, t.Lines[0])
	}
	return l.add(render.Values{File: t.File, Text: text, Places: []render.Place{place}})
}

// dataOf returns the text of a key with its places: in the ConfigMap, or in the file that a
// kustomization generated it from.
func (l *layers) dataOf(s *setting, key string, value *source.Node) *pointers.Text {
	if s.places == nil {
		return pointers.BlockText(s.object.File, value)
	}
	if at, ok := s.places.of(value); ok {
		t := pointers.BlockText(s.object.File, value)
		t.File, t.Lines = at.File, []*source.Node{{Line: int32(at.Line), Column: int32(at.Column)}}
		return t
	}
	t := &pointers.Text{Bytes: []byte(value.Value), File: l.pointer.File}
	t.Unknown = pointers.BlockText(s.object.File, value).Unknown
	if name, index, ok := s.places.document(int(s.object.Root.Line)); ok {
		if file := l.tree.cached(name); file != nil && index < len(file.Roots()) {
			for _, o := range file.ObjectsOf(file.Roots()[index]) {
				if n := o.Root.At("data", key); n != nil && n.Value == value.Value {
					return pointers.BlockText(file, n)
				}
			}
		}
		t.File = name
		return t
	}
	for _, name := range s.places.out.Data {
		if text, err := worktree.ReadFile(l.opts.Confinement, name, min(limits.PointerFile, limits.PointerText-l.tree.bytes)); err == nil && string(text) == value.Value {
			l.tree.bytes += int64(len(text))
			t.File = name
			file := source.NewFile(name, name, text)
			for i := range file.LineCount() {
				at := file.LineSpan(i + 1)
				t.Lines = append(t.Lines, &source.Node{Line: int32(at.Line), Column: int32(at.Column)})
			}
			break
		}
	}
	return t
}
