package gitops

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/chart"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

const chartFile = "Chart.yaml"

// origin says where a pointer was read from. parent is the deployment whose result contains the
// pointer. It is nil for a pointer in a file or root. root is the kustomization of a root.
type origin struct {
	parent *Deployment
	places *places // nil for a pointer in a file
	root   string
}

func (o origin) roots() (all []string) {
	if o.root != "" {
		all = append(all, o.root)
	}
	return all
}

// remote returns the root for a remote chart. The renderer reads the local replacement of the
// chart, which is a directory or an archive.
func (f *follower) remote(p *pointers.Pointer, s *pointers.Source, from origin) (render.Root, pointers.Reason) {
	address, c := s.Address(), &render.Chart{Version: s.Chart.Version}
	to, exact, ok := f.vendored(address, cmp.Or(s.Chart.Digest, c.Version))
	if f.opts.Library.Holds(to) {
		w, _ := f.reader.Repositories.Wanted(p, s)
		if !strings.HasPrefix(w.URL, "oci://") { // the path in a registry need not be the name
			c.Chart = s.Chart.Name
		}
		if exact && !chart.IsVersion(c.Version, w.Semver) {
			c.Version = "" // the lock entry pins the copy for this tag, for example latest
		}
	}
	if !ok {
		return render.Root{}, pointers.Reason{What: pointers.WhyChart, Detail: pointers.Masked(address) + ": " + diag.Vendor}
	}
	e, why := f.replacement(to, address, pointers.WhyChart)
	switch {
	case why.Some():
		return render.Root{}, why
	case e.Info.IsDir():
		return f.chart(p, s, from, render.Root{Dir: e.Name, Chart: c})
	}
	c.Archive = e.Name
	return f.chart(p, s, from, render.Root{Dir: path.Dir(e.Name), Chart: c})
}

// replacement returns the file or directory that replaces an address. What is the kind of reason for
// one that must not be used.
func (f *follower) replacement(to, address, what string) (worktree.Entry, pointers.Reason) {
	why, changed := f.opts.Library.Refuse(to)
	switch e := f.entry(to); {
	case why != "":
		return e, pointers.Reason{What: what, Detail: why, Refused: changed}
	case e.Outside:
		return e, pointers.Reason{What: pointers.WhyOutside, Detail: fmt.Sprintf("%s, which stands for %s", to, address), Refused: true}
	case e.Info == nil || !e.Info.IsDir() && !e.Info.Mode().IsRegular():
		return e, pointers.Reason{What: pointers.WhyMissing, Detail: fmt.Sprintf("%s, which stands for %s", to, address)}
	default:
		return e, pointers.Reason{}
	}
}

// vendored returns a chart's local replacement. A replacement for this exact version has precedence
// over a replacement for all versions.
func (f *follower) vendored(address, version string) (name string, exact, ok bool) {
	address = remoteKey(address)
	for _, key := range []string{address + "@" + version, address + ":" + version, address} {
		if name, ok = f.remotes[key]; ok && (version != "" || key == address) {
			return name, key != address, true
		}
	}
	return "", false, false
}

// remoteKey normalizes a chart address, so that equivalent addresses are equal.
func remoteKey(url string) string { return strings.TrimRight(strings.TrimPrefix(url, "oci://"), "/") }

// chart adds a pointer's settings to a chart root.
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
	if r.Confinement = f.opts.Confinement; r.Chart.Archive == "" { // an archive has all its dependencies
		r.Remotes = f.opts.Remotes
	}
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

// layers collects the values for a chart. Later values take precedence.
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

// add adds values. Each entry in Places counts as 64 bytes towards the limit on the size of values.
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

// unknown returns a reason if t contains unknown text. Variables count as unknown only if a Flux
// Kustomization may substitute them.
func (l *layers) unknown(t *pointers.Text, where string) pointers.Reason {
	// A pointer outside the tree may deploy the HelmRelease and substitute its variables.
	substituted := l.from.parent == nil && l.pointer.Kind == pointers.FluxHelmRelease
	if l.from.parent != nil {
		l.from.parent.climb(func(d *Deployment) { substituted = substituted || d.Pointer.Substitution != nil })
	}
	if t.Unknown == "" || t.OnlyVariable() && !substituted {
		return pointers.Reason{}
	}
	return unknownValues("%s has %s", where, t.Unknown)
}

// text converts t to values, with the position of each line.
func (l *layers) text(t *pointers.Text, file string) render.Values {
	v := render.Values{File: file, Text: append([]byte{}, t.Bytes...)}
	for _, n := range t.Lines {
		v.Places = append(v.Places, l.place(t.File, n))
	}
	return v
}

// place returns the position at which a line was written. For a line in a render, this is a
// position in the render's sources.
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
	m, ok := l.from.places.at[[2]int{int(n.Line), int(n.Column)}] // the position of a variable with this value
	if !ok || n.Value == "" {
		return render.Place{}
	}
	name := l.from.places.out.Files[m.File]
	if given := l.tree.cached(name); given == nil || !strings.Contains(given.Line(m.At), n.Value) {
		return render.Place{}
	}
	return render.Place{File: name, Line: m.At, Column: m.AtColumn}
}

// parameters adds the parameters that the pointer sets for the chart. Plain values come first, then
// strings, then the contents of files.
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

const valuesFile = "values.yaml"

// files adds the values files that the pointer names.
func (l *layers) files() pointers.Reason {
	c := l.source.Chart
	if c.Replace {
		return l.replaced()
	}
	if len(c.Files)+len(c.Parameters) > limits.References {
		return pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("the release has more than %d values files and parameters", limits.References), Refused: true}
	}
	var all []string
	explicit := map[string]bool{} // files that are named without a glob; globs skip them, because their own entries determine their positions
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

// replaced adds the values files with which Flux replaces the chart's own values. File names are
// relative to the repository root. For a remote chart, they are relative to the chart.
func (l *layers) replaced() pointers.Reason {
	c := l.source.Chart
	own := path.Join(l.root.Dir, valuesFile)
	root, why := l.filesOf(l.source)
	if why.Some() {
		return why
	}
	for i, written := range c.Files {
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

// filesOf returns the directory that the files of a source's chart must not leave.
func (l *layers) filesOf(s *pointers.Source) (string, pointers.Reason) {
	if s.Chart.Remote {
		return l.root.Dir, pointers.Reason{}
	}
	return l.home(s)
}

// inside reports whether a name is below a directory.
func inside(dir, name string) bool {
	dir = path.Clean(dir)
	return (dir == "." || strings.HasPrefix(name, dir+"/")) && worktree.Local(name) && !strings.ContainsAny(name, "\x00\\")
}

// named resolves a values file name as Argo CD does. A name is relative to the chart. With a
// leading slash, it is relative to the repository root. A name of the form $ref/path is relative to
// the Application's source with this ref.
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
	root, why := l.filesOf(l.source)
	from := l.root.Dir
	if why.Some() {
		return "", why
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

// referred returns a reason if another source's files are not available.
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
	switch {
	case ref.Kind == "Secret" && ref.Target != "" && !ref.Optional:
		return l.target(ref, &pointers.Text{Bytes: []byte(chart.UnknownValue), File: l.pointer.File}, true)
	case ref.Kind != "ConfigMap":
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
	return l.target(ref, t, ref.Literal)
}

// target adds a single value at the path that a reference names.
func (l *layers) target(ref pointers.Reference, t *pointers.Text, whole bool) pointers.Reason {
	plain := string(t.Bytes)
	if n := len(plain); !whole && n > 1 && plain[0] == plain[n-1] && (plain[0] == '"' || plain[0] == '\'') {
		plain, whole = strings.Trim(plain, `'"`), true
	}
	text, ok := pointers.Nested(ref.Target, plain, whole)
	if !ok || strings.Contains(ref.Target, "[") {
		return unknownValues("targetPath %s: the path or the value is not simple", ref.Target)
	}
	// If the release sets a value at the same path, other settings determine which of the two
	// values Flux uses.
	if own := l.source.Chart.Values; own != nil && own.Sets(ref.Target) {
		return unknownValues("values set targetPath %s as well", ref.Target)
	}
	if ref.Kind == "Secret" {
		l.root.Chart.Unknown = append(l.root.Chart.Unknown, ref.Target)
	}
	place := render.Place{}
	if len(t.Lines) > 0 {
		place = l.place(t.File, t.Lines[0])
	}
	return l.add(render.Values{File: t.File, Text: text, Places: []render.Place{place}})
}

// dataOf returns the value for a ConfigMap key, with the position of each line. If a kustomization
// generated the ConfigMap from a file, the positions are in that file.
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
