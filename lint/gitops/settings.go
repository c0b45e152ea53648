package gitops

import (
	"bytes"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// settings finds the objects that hold values of variables.
type settings struct {
	follower *follower
	objects  index                 // of the tree, once needed
	results  map[*Deployment]index // of renders, the same
	paths    map[string]int        // see follower.below
}

type reference struct{ kind, name string }

// setting is a ConfigMap or a Secret. Its values have places if they were written there.
type setting struct {
	object *source.Object
	places *places // nil for one that is read as written
}

// of are the variables of a pointer; nil if nothing is substituted.
func (s *settings) of(p *pointers.Pointer, parent *Deployment) *render.Variables {
	if p.Substitution == nil {
		return nil
	}
	v := &render.Variables{Given: map[string]render.Variable{}}
	for _, ref := range p.Substitution.From {
		found, ok := s.find(ref, parent)
		if !ok { // it may give any, and others than those before it
			v.Open = true
			for name := range v.Given {
				v.Unknown = append(v.Unknown, name)
			}
			clear(v.Given)
			continue
		}
		found.into(v, ref.Kind == "Secret")
	}
	for name, value := range p.Substitution.Given {
		give(v, name, value)
	}
	slices.Sort(v.Unknown)
	return v
}

func give(v *render.Variables, name string, value pointers.Value) {
	v.Unknown = slices.DeleteFunc(v.Unknown, func(n string) bool { return n == name })
	if strings.HasPrefix(value.Text, "ENC[") || strings.Contains(value.Text, "${") { // encrypted, or another variable
		v.Unknown = append(v.Unknown, name)
		delete(v.Given, name)
		return
	}
	v.Given[name] = render.Variable{Value: value.Text, File: value.File, Line: value.Line, Column: value.Column}
}

// into adds the values of an object; those of a Secret are not known.
func (s *setting) into(v *render.Variables, secret bool) {
	for _, field := range []string{"data", "stringData"} {
		for key, n := range s.object.Root.Get(field).Fields() {
			value := pointers.ValueOf(s.object.File.Name, n)
			if s.places != nil {
				at, _ := s.places.of(n)
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

// find gives the only object that a reference can mean: one of a render that deploys the
// pointer, else one of the tree.
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

// rendered are those in the result of a deployment.
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

// index finds settings by kind and name.
type index map[reference][]setting

// add takes in the ConfigMaps and Secrets of a file.
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

// written are those in the tree as they are written.
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
