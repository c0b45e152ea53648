package gitops

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// resolve returns the root that renders a source, or the reason why the source cannot be rendered.
func (f *follower) resolve(p *pointers.Pointer, s *pointers.Source, from origin) (render.Root, pointers.Reason) {
	if s.Why.Some() {
		return render.Root{}, s.Why
	}
	if s.Chart != nil && s.Chart.Remote {
		return f.remote(p, s, from)
	}
	dir, why := f.directory(s)
	artifact, names := (*render.Artifact)(nil), []string(nil)
	if s.Repository.Kind == pointers.ExternalArtifact {
		c := f.copied(s)
		artifact, names = &c.root, c.names
		if f.looks += len(artifact.Copies.Names); f.looks > limits.Ignored && !why.Some() { // a worker gets them all
			why = tooManyCopies()
		}
		if c.values != nil {
			s.Chart.Files, s.Chart.Replace = c.values, true
		}
	}
	switch {
	case why.Some():
		return render.Root{}, why
	case s.Chart == nil && s.Form == pointers.Detected && f.holds(dir, chartFile):
		s.Chart = &pointers.Chart{Release: p.Name, Namespace: p.Destination.Namespace}
	}
	if why := f.artifactOf(s).check(dir, s.Chart != nil); why.Some() {
		return render.Root{}, why
	}
	if s.Chart != nil {
		return f.chart(p, s, from, render.Root{Dir: dir, Chart: &render.Chart{}, Artifact: artifact})
	}
	counts := map[string]render.Variable{}
	for name, value := range s.Counts {
		counts[name] = render.Variable{Value: value.Text, File: cmp.Or(value.File, p.File), Line: value.Line, Column: value.Column}
	}
	o := &render.Overlay{
		File: p.File, Line: p.Line, Counts: counts, Fields: s.Fields, Patches: s.Patches, Namespace: s.Namespace, Labels: s.Labels,
		Variables: f.vars.of(p, from.parent),
	}
	form := s.Form
	kustomized := slices.ContainsFunc(source.KustomizationFiles(), func(name string) bool {
		if artifact != nil {
			return slices.Contains(names, name)
		}
		return f.holds(dir, name) && !f.artifactOf(s).without(path.Join(dir, name))
	})
	if form == pointers.Detected {
		if form = pointers.Directory; kustomized {
			form = pointers.Kustomized
		}
	}
	switch form {
	case pointers.Generated:
		if !kustomized {
			if artifact == nil {
				names = slices.DeleteFunc(slices.Clone(f.tree.under(dir)), func(name string) bool { return f.artifactOf(s).without(path.Join(dir, name)) })
			}
			o.Generated, o.Resources = true, generated(names)
			o.Plain = true // the directory may have a kustomization that the artifact leaves out
		}
	case pointers.Directory:
		names, jsonnet := f.tree.plain(dir, s.Files)
		if jsonnet {
			return render.Root{}, pointers.Reason{What: pointers.WhyJsonnet, Detail: dir}
		}
		o.Generated, o.Plain, o.Resources = true, true, names
	}
	if f.names += len(o.Resources); f.names > f.most.names {
		return render.Root{}, pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("the directories without a kustomization that pointers name have more than %d files: add a kustomization.yaml", f.most.names), Refused: true}
	}
	if o.Generated && f.tree.over {
		return render.Root{}, pointers.Reason{What: pointers.WhyTooMany, Detail: fmt.Sprintf("the repository has more than %d entries of directories", limits.TreeEntries)}
	}
	r := render.Root{Confinement: f.opts.Confinement, Dir: dir, Artifact: artifact, Remotes: f.opts.Remotes, Overlay: o}
	if f.opts.Library.Holds(dir) && artifact == nil {
		r.Within = f.opts.Library.Folder
	}
	return r, pointers.Reason{}
}

// directory returns the directory that a source names.
func (f *follower) directory(s *pointers.Source) (string, pointers.Reason) {
	if s.Repository.Kind == pointers.ExternalArtifact {
		c := f.copied(s)
		return c.dir, c.why
	}
	home, why := f.home(s)
	if why.Some() {
		return "", why
	}
	copied := home != path.Clean(f.opts.Base)
	switch e := f.entry(path.Join(home, s.Path)); {
	case e.Outside || copied && e.Info != nil && e.Name != home && !inside(home, e.Name):
		return "", pointers.Reason{What: pointers.WhyOutside, Detail: s.Path + " leads out of it by a symbolic link, or belongs to git", Refused: true}
	case e.Info != nil && e.Info.IsDir():
		return e.Name, pointers.Reason{}
	case copied:
		return "", pointers.Reason{What: pointers.WhyMissing, Detail: fmt.Sprintf("%s in %s: %s", s.Path, home, diag.Vendor)}
	case f.reader.Repositories.Ours(s.Repository) == pointers.Presumed:
		return "", pointers.Reason{What: pointers.WhyElsewhere, Detail: strings.TrimPrefix(named(s)+", as ", ", as ") + s.Path + " is no directory here"}
	}
	return "", pointers.Reason{What: pointers.WhyMissing, Detail: s.Path}
}

// home returns the directory with the files of a source's repository. This is the repository or, for
// another repository, its copy.
func (f *follower) home(s *pointers.Source) (string, pointers.Reason) {
	whose := f.reader.Repositories.Ours(s.Repository)
	w, known := f.reader.Repositories.Wanted(&pointers.Pointer{}, s)
	if whose != pointers.Certain && known {
		for _, ref := range []string{strings.TrimPrefix(strings.TrimPrefix(w.Name, w.URL), "@"), ""} {
			if to, ok := f.gits[gitKey(w.URL, ref)]; ok {
				e, why := f.replacement(to, w.URL, pointers.WhyElsewhere)
				return e.Name, why
			}
		}
	}
	if whose.Is() {
		return path.Clean(f.opts.Base), pointers.Reason{}
	}
	return "", pointers.Reason{What: pointers.WhyElsewhere, Detail: named(s) + ": " + diag.Vendor}
}

// gitKey makes equivalent addresses of a git repository equal.
func gitKey(url, ref string) string { return pointers.Canonical(url) + "@" + ref }

// named returns the address or the name of a source's repository.
func named(s *pointers.Source) string {
	return cmp.Or(pointers.Masked(s.Repository.URL), s.Repository.Name)
}

// wanted returns what a source takes from another repository, or nil.
func (f *follower) wanted(p *pointers.Pointer, s *pointers.Source) *pointers.Wanted {
	if s.Chart == nil || !s.Chart.Remote {
		whose := f.reader.Repositories.Ours(s.Repository)
		e := f.entry(path.Join(f.opts.Base, s.Path))
		if whose == pointers.Certain || whose == pointers.Presumed && e.Info != nil && s.Why.What != pointers.WhySource {
			return nil
		}
	}
	w, ok := f.reader.Repositories.Wanted(p, s)
	if !ok {
		return nil
	}
	return &w
}

// entry looks up a name among the files and directories that belong to the input.
func (f *follower) entry(name string) worktree.Entry { return f.lookup.Tracked(name, f.opts.Tracked) }

func (f *follower) holds(dir, name string) bool {
	e := f.entry(path.Join(dir, name))
	return e.Info != nil && e.Info.Mode().IsRegular()
}

// settings finds the ConfigMaps and Secrets that contain variable values.
type settings struct {
	follower *follower
	objects  index                 // objects in the tree; nil until first used
	results  map[*Deployment]index // objects in renders; nil until first used
	paths    map[string]int        // see follower.below
}

type reference struct{ kind, name string }

// setting is a ConfigMap or a Secret.
type setting struct {
	object *source.Object
	places *places // positions in a render's sources; nil for an object written in the tree
}

// of returns a pointer's variables, or nil if it does not substitute any.
func (s *settings) of(p *pointers.Pointer, parent *Deployment) *render.Variables {
	if p.Substitution == nil {
		return nil
	}
	v := &render.Variables{Given: map[string]render.Variable{}}
	for _, ref := range p.Substitution.From {
		found, ok := s.find(ref, parent)
		if !ok { // it may set any variable, including those that are already set
			v.Open = true
			for name := range v.Given {
				v.Unknown = append(v.Unknown, name)
			}
			clear(v.Given)
			continue
		}
		secret := ref.Kind == "Secret" // the values of a Secret are unknown
		for _, field := range []string{"data", "stringData"} {
			for key, n := range found.object.Root.Get(field).Fields() {
				value := pointers.ValueOf(found.object.File.Name, n)
				if found.places != nil {
					at, _ := found.places.of(n)
					value.File, value.Line, value.Column = at.File, at.Line, at.Column
				}
				if secret {
					value.Text = "ENC["
				}
				if secret || field == "data" {
					give(v, key.Value, value)
				}
			}
		}
	}
	for name, value := range p.Substitution.Given {
		give(v, name, value)
	}
	slices.Sort(v.Unknown)
	return v
}

func give(v *render.Variables, name string, value pointers.Value) {
	v.Unknown = slices.DeleteFunc(v.Unknown, func(n string) bool { return n == name })
	if strings.HasPrefix(value.Text, "ENC[") || strings.Contains(value.Text, "${") { // encrypted, or refers to another variable
		v.Unknown = append(v.Unknown, name)
		delete(v.Given, name)
		return
	}
	v.Given[name] = render.Variable{Value: value.Text, File: value.File, Line: value.Line, Column: value.Column}
}

// find returns the object that a reference names. It first searches the renders that deploy the
// pointer, then the tree. It returns false if no object matches, or if several objects match and
// their data differ.
func (s *settings) find(ref pointers.Reference, parent *Deployment) (*setting, bool) {
	var all []setting
	if parent != nil {
		parent.climb(func(d *Deployment) { all = append(all, s.rendered(ref, d)...) })
	}
	if len(all) == 0 {
		all = s.written(ref)
	}
	if len(all) == 0 {
		return nil, false
	}
	for _, other := range all[1:] {
		if !source.Equal(other.object.Root.Get("data"), all[0].object.Root.Get("data")) {
			return nil, false
		}
	}
	return &all[0], true
}

// rendered returns the ConfigMaps and Secrets in a deployment's output that a reference may name.
func (s *settings) rendered(ref pointers.Reference, d *Deployment) (all []setting) {
	if d.Output == nil || d.Output.Problem != nil {
		return nil
	}
	if s.results == nil {
		s.results = map[*Deployment]index{}
	}
	known, ok := s.results[d]
	if !ok {
		known = index{}
		if text := d.Output.Text; bytes.Contains(text, []byte("kind: ConfigMap")) || bytes.Contains(text, []byte("kind: Secret")) {
			known.add(source.NewFile(resultName, resultName, text), newPlaces(d.Output))
		}
		s.results[d] = known
	}
	return known.find(ref)
}

// index maps kinds and names to settings.
type index map[reference][]setting

// add adds the ConfigMaps and Secrets in a file.
func (x index) add(file *source.File, places *places) {
	for _, doc := range file.Roots() {
		for _, o := range file.ObjectsOf(doc) {
			if o.Kind == "ConfigMap" || o.Kind == "Secret" {
				key := reference{o.Kind, o.Name}
				x[key] = append(x[key], setting{o, places})
			}
		}
	}
}

func (x index) find(ref pointers.Reference) (all []setting) {
	for _, one := range x[reference{ref.Kind, ref.Name}] {
		if o := one.object; o.Group() == "" && (o.Namespace == "" || ref.Namespace == "" || o.Namespace == ref.Namespace) {
			all = append(all, one)
		}
	}
	return all
}

// written returns the objects in the tree that a reference may name.
func (s *settings) written(ref pointers.Reference) []setting {
	if s.objects == nil {
		s.objects = index{}
		for _, name := range s.follower.opts.Settings {
			if file := s.follower.tree.file(name); file != nil {
				s.objects.add(file, nil)
			}
		}
	}
	return s.objects.find(ref)
}
