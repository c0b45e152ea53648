package gitops

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

const chartFile = "Chart.yaml"

// origin is the source of a pointer: the result of a deployment, or else a file.
type origin struct {
	parent *Deployment
	places *places // nil for a file
}

// remote returns the root for a chart of another repository, which a local directory or archive
// replaces.
func (f *follower) remote(p *pointers.Pointer, s *pointers.Source, from origin) (render.Root, pointers.Reason) {
	address := s.Address()
	to, ok := f.vendored(address, s.Chart.Version)
	if !ok {
		return render.Root{}, pointers.Reason{What: pointers.WhyChart, Detail: fmt.Sprintf("%s: vendor it and name it under remotes", pointers.Masked(address))}
	}
	switch e := f.entry(to); {
	case e.Outside:
		return render.Root{}, pointers.Reason{What: pointers.WhyOutside, Detail: fmt.Sprintf("%s, which stands for %s", to, address), Refused: true}
	case e.Info != nil && e.Info.IsDir():
		return f.chart(p, s, from, render.Root{Dir: e.Name, Chart: &render.Chart{Version: s.Chart.Version}})
	case e.Info != nil && e.Info.Mode().IsRegular():
		return f.chart(p, s, from, render.Root{Dir: path.Dir(e.Name), Chart: &render.Chart{Version: s.Chart.Version, Archive: e.Name}})
	}
	return render.Root{}, pointers.Reason{What: pointers.WhyMissing, Detail: fmt.Sprintf("%s, which stands for %s", to, address)}
}

// vendored returns the local replacement of a chart: the one for its version, or else the one for
// all versions.
func (f *follower) vendored(address, version string) (name string, ok bool) {
	address = remoteKey(address)
	for _, key := range []string{address + "@" + version, address + ":" + version, address} {
		if name, ok = f.remotes[key]; ok && (version != "" || key == address) {
			return name, true
		}
	}
	return "", false
}

// remoteKey returns an address without the parts that make no difference.
func remoteKey(url string) string { return strings.TrimRight(strings.TrimPrefix(url, "oci://"), "/") }

// chart completes the root of a chart with the settings of a pointer.
func (f *follower) chart(p *pointers.Pointer, s *pointers.Source, from origin, r render.Root) (render.Root, pointers.Reason) {
	c := s.Chart
	if r.Chart.Version == "*" {
		r.Chart.Version = ""
	}
	for _, name := range []string{".argocd-source.yaml", ".argocd-source-" + p.Name + ".yaml"} {
		if p.Kind != pointers.FluxHelmRelease && f.holds(r.Dir, name) {
			return render.Root{}, pointers.Reason{What: pointers.WhyValues, Detail: path.Join(r.Dir, name) + " overrides the Application"}
		}
	}
	r.Confinement = f.opts.Confinement
	r.Chart.Name, r.Chart.Namespace, r.Chart.KubeVersion, r.Chart.APIVersions = c.Release, c.Namespace, c.KubeVersion, c.APIVersions
	r.Overlay = &render.Overlay{File: p.File, Line: p.Line, Fields: s.Fields, Patches: s.Patches, Namespace: cmp.Or(s.Namespace, c.Namespace)}
	if p.Kind != pointers.FluxHelmRelease {
		r.Overlay.Fields, r.Overlay.Patches = nil, nil
	}
	layers := &layers{follower: f, pointer: p, source: s, from: from, root: &r}
	for _, add := range []func() pointers.Reason{layers.files, layers.objects, layers.own, layers.parameters} {
		if why := add(); why.Some() {
			return render.Root{}, why
		}
	}
	return r, pointers.Reason{}
}

// layers collects the values of a chart. Later ones take precedence.
type layers struct {
	*follower
	pointer *pointers.Pointer
	source  *pointers.Source
	from    origin
	root    *render.Root
}

func unknownValues(format string, args ...any) pointers.Reason {
	return pointers.Reason{What: pointers.WhyValues, Detail: fmt.Sprintf(format, args...)}
}

// add adds values. Each line with a place counts 64 bytes more.
func (l *layers) add(v render.Values) pointers.Reason {
	if l.values += len(v.Text) + 64*len(v.Places); l.values > limits.ReleaseValues {
		return pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("the values of releases have more than %d MiB", limits.ReleaseValues>>20), Refused: true}
	}
	l.root.Chart.Values = append(l.root.Chart.Values, v)
	return pointers.Reason{}
}

// own adds the values in the pointer itself.
func (l *layers) own() pointers.Reason {
	t := l.source.Chart.Values
	if t == nil {
		return pointers.Reason{}
	}
	if why := l.unknown(t, l.pointer.File); why.Some() {
		return why
	}
	return l.add(l.text(t, l.pointer.File))
}

// unknown returns a reason if a text is not known. A variable in it is plain text unless a
// Kustomization substitutes it.
func (l *layers) unknown(t *pointers.Text, where string) pointers.Reason {
	// A pointer outside the tree may deploy what is written in a file.
	substituted := l.from.parent == nil && l.pointer.Kind == pointers.FluxHelmRelease
	if l.from.parent != nil {
		l.from.parent.climb(func(d *Deployment) { substituted = substituted || d.Pointer.Substitution != nil })
	}
	if t.Unknown == "" || t.OnlyVariable() && !substituted {
		return pointers.Reason{}
	}
	return unknownValues("%s has %s", where, t.Unknown)
}

// text returns a text with the places of its lines.
func (l *layers) text(t *pointers.Text, file string) render.Values {
	v := render.Values{File: file, Text: append([]byte{}, t.Bytes...)}
	for _, n := range t.Lines {
		v.Places = append(v.Places, l.place(t.File, n))
	}
	return v
}

// place returns the place where a line was written: in a file, or in a source of a result.
func (l *layers) place(file string, n *source.Node) render.Place {
	switch {
	case n == nil:
		return render.Place{}
	case file != resultName:
		return render.Place{File: file, Line: int(n.Line), Column: int(n.Column)}
	case l.from.places == nil:
		return render.Place{}
	}
	if at, ok := l.from.places.of(n); ok {
		return render.Place{File: at.File, Line: at.Line, Column: at.Column}
	}
	m, ok := l.from.places.at[[2]int{int(n.Line), int(n.Column)}] // the place of a variable with this value
	if !ok || n.Value == "" {
		return render.Place{}
	}
	name := l.from.places.out.Files[m.File]
	if given := l.tree.cached(name); given == nil || !strings.Contains(given.Line(m.At), n.Value) {
		return render.Place{}
	}
	return render.Place{File: name, Line: m.At, Column: m.AtColumn}
}

// parameters adds the parameters: single values first, then strings, then files.
func (l *layers) parameters() pointers.Reason {
	for _, pass := range []func(p pointers.Parameter) bool{
		func(p pointers.Parameter) bool { return !p.File && !p.String },
		func(p pointers.Parameter) bool { return !p.File && p.String },
		func(p pointers.Parameter) bool { return p.File },
	} {
		for _, p := range l.source.Chart.Parameters {
			if pass(p) {
				if why := l.parameter(p); why.Some() {
					return why
				}
			}
		}
	}
	return pointers.Reason{}
}

func (l *layers) parameter(p pointers.Parameter) pointers.Reason {
	value, at := p.Value, l.place(p.Where, p.At)
	if p.File {
		name, why := l.named(p.Value)
		if why.Some() {
			return why
		}
		file := l.tree.cached(name)
		if file == nil || file.Recoded {
			return unknownValues("file %s of parameter %s cannot be read", name, p.Name)
		}
		value, at = string(file.Text), render.Place{File: name, Line: 1, Column: 1}
	}
	plain := !strings.Contains(value, `\`) && !strings.HasPrefix(value, "{")
	text, ok := pointers.Nested(p.Name, value, p.String || p.File)
	switch argument := p.Name + "=" + pointers.Escaped(value); {
	case ok && (plain || !p.String):
	case p.File:
		return unknownValues("parameter %s: its name or value is not simple; give it under values", p.Name)
	case p.String:
		l.root.Chart.SetString = append(l.root.Chart.SetString, argument)
		return pointers.Reason{}
	default:
		l.root.Chart.Set = append(l.root.Chart.Set, argument)
		return pointers.Reason{}
	}
	return l.add(render.Values{File: cmp.Or(at.File, l.pointer.File), Text: text, Places: []render.Place{at}})
}
