package lint

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/build"
	"github.com/schedlint/schedlint/lint/source"
)

// ignorePrefix starts the keys of annotations that suppress a rule.
const ignorePrefix = "ignore.schedlint.dev/"

// suppressions are all that take part; inline are the numbers of those that are
// about one object, by where it begins, and entries those of the configuration.
type suppressions struct {
	all     []accept.Suppression
	inline  map[diag.Span][]int
	entries []int
}

// gather collects the suppressions of the manifests and of the configuration,
// before the trees are let go.
func (r *run) gather() {
	r.suppressions.inline = map[diag.Span][]int{}
	objects := slices.Concat(r.set.Objects, r.altered) // those too that are not judged, or their comments were others'
	byFile := byFile(objects)
	for _, o := range objects {
		r.annotations(o)
	}
	for _, x := range r.rendered {
		for _, o := range x.objects {
			r.annotations(o)
		}
	}
	for _, f := range r.set.Files {
		r.comments(f, byFile[f.Name])
		r.scanned = append(r.scanned, f.Name)
	}
	if n := len(r.suppressions.all); r.NoInline && n > 0 {
		r.suppressions = suppressions{inline: map[diag.Span][]int{}}
		r.report.Summary.Notes = append(r.report.Summary.Notes, fmt.Sprintf("%d suppressions in manifests are ignored (--no-inline-suppressions)", n))
	}
	name := r.configName()
	for i := range r.Config.Suppress {
		entry := &r.Config.Suppress[i]
		at := entry.Place
		at.File = name
		s := suppression(diag.ByConfiguration, entry.Rule, strings.TrimSpace(entry.Reason), entry.Until, entry.Target(), at)
		s.Meets = func(f *accept.Finding) bool { return entry.Means(f.Object, f.Labels) }
		s.Open = !r.readsAll()
		r.suppressions.entries = append(r.suppressions.entries, len(r.suppressions.all))
		r.suppressions.all = append(r.suppressions.all, s)
	}
}

func suppression(by, rule, reason, until, target string, at diag.Span) accept.Suppression {
	return accept.Suppression{Suppression: diag.Suppression{
		Acceptance: diag.Acceptance{By: by, Reason: reason, Until: until, Location: at}, Rule: rule, Target: target,
	}}
}

// annotations takes in those of one object.
func (r *run) annotations(o *source.Object) {
	home := homeOf(o)
	for k, v := range o.Root.At("metadata", "annotations").Fields() {
		rule, ok := strings.CutPrefix(k.Value, ignorePrefix)
		if !ok {
			continue
		}
		reason, until := accept.Reason(v.Value)
		at := r.inSources(o.File.FieldSpan(k, v))
		s := suppression(diag.ByAnnotation, rule, reason, until, r.nameAt(o, at), at)
		s.Home = home
		s.Meets = func(f *accept.Finding) bool { return f.Home == home }
		r.about(s)
	}
}

// comments takes in those of one file; objects are those of the file.
func (r *run) comments(f *source.File, objects []*source.Object) {
	var last, end int // the line above which several comments may be, and the end of its item
	for _, d := range f.Directives() {
		reason, until := accept.Reason(d.Text)
		s := suppression(diag.ByComment, d.Rule, reason, until, "", d.Span)
		if o := around(objects, d.Line, math.MaxInt); o != nil {
			s.Home, s.Target = homeOf(o), nameOf(o)
		} else {
			s.Target = "what stands in " + f.Name // or one here would pass for one elsewhere
		}
		if d.Line != last {
			last, end = d.Line, itemEnd(f, d.Line)
		}
		end := end
		s.Meets = func(found *accept.Finding) bool {
			at := found.Location
			return at.File == d.Span.File && (at.Line == d.Line || found.Moved && d.Line < at.Line && at.Line <= end)
		}
		r.about(s)
	}
}

// itemEnd is the last line of the item of a list that begins on a line; 0 if none
// does. A tool that renders manifests sorts their fields, so that what is about an
// item as a whole may have come from any of its lines.
func itemEnd(f *source.File, line int) int {
	text := f.Line(line)
	indent := len(text) - len(strings.TrimLeft(text, " "))
	if line == 0 || !strings.HasPrefix(text[indent:], "- ") {
		return 0
	}
	end := line
	for n := line + 1; n <= f.LineCount(); n++ {
		rest := f.Line(n)
		trimmed := strings.TrimLeft(rest, " ")
		switch {
		case trimmed == "" || trimmed[0] == '#':
		case len(rest)-len(trimmed) <= indent:
			return end
		default:
			end = n
		}
	}
	return end
}

// sources takes in the comments of files that rendered manifests came from.
func (r *run) sources() {
	if r.NoInline {
		return
	}
	seen := map[string]bool{}
	for _, name := range r.scanned {
		seen[name] = true
	}
	for i := range r.found {
		name := r.found[i].Location.File
		if f := r.files[name]; r.found[i].Moved && f != nil && !seen[name] {
			seen[name] = true
			r.comments(f, nil)
		}
	}
}

// looked notes what is decided about the objects that suppressions are about.
func (r *run) looked(f *build.Built, objects []*source.Object) {
	s := &r.suppressions
	if len(s.all) == 0 {
		return
	}
	for _, o := range objects {
		for _, i := range s.inline[homeOf(o)] {
			r.look(f, o, &s.all[i])
		}
		for _, i := range s.entries {
			if r.Config.Suppress[i-s.entries[0]].Means(o.ID(), labelsOf(o)) && r.table.Relevant(o.APIVersion, o.Kind) {
				r.look(f, o, &s.all[i])
			}
		}
	}
}

func (r *run) look(f *build.Built, o *source.Object, s *accept.Suppression) {
	lists := r.Policy.Reads(s.Rule)
	if r.Level(s.Rule) != diag.LevelOff && f.Decisions().Decided(o.ID(), lists) {
		s.Decided++
	} else {
		s.Open = true
	}
}

// readsAll reports whether the paths lead to everything below the configuration:
// what it accepts may be about manifests that are not read.
func (r *run) readsAll() bool { return r.reads(r.Config.Dir) }

// reads reports whether the paths lead to everything below a directory.
func (r *run) reads(dir string) bool {
	return slices.ContainsFunc(r.Paths, func(path string) bool {
		if path == "-" {
			return false
		}
		rel, err := filepath.Rel(absolute(r.Dir, path), dir)
		return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
	})
}

// accept parts the findings into those that count and those that do not.
func (r *run) accept() {
	r.sources()
	options := r.acceptance()
	all := r.suppressions.all
	r.unsettle()
	kept, accepted, complaints := accept.Suppress(r.found, all, options)
	r.found = nil
	r.judge(build.Complain(complaints), nil, nil)
	kept = append(kept, r.found...)
	r.found = nil
	if b := r.Baseline; b != nil {
		b.File = r.shown(b.Path, b.Path, b.Text)
		if r.Rebase {
			b.Take(diagnostics(kept), r.elsewhere())
		}
	}
	kept, based, healed, complaints := r.Baseline.Apply(kept, r.Today)
	r.judge(build.Complain(complaints), nil, nil)
	r.report.Diagnostics = diagnostics(append(kept, r.found...))
	r.report.Accepted = diagnostics(append(accepted, based...))
	r.report.Summary.Healed = r.healed(healed)
	r.report.Suppressions = r.holding()
}

// unsettle leaves open whether suppressions of rules that failed are of use: what
// they accept may be there.
func (r *run) unsettle() {
	for i := range r.suppressions.all {
		s := &r.suppressions.all[i]
		s.Open = s.Open || r.tally.Lost(s.Rule)
	}
}

// healed counts the entries of the baseline that are known to be of no use any
// more: of a part of the files only those about objects that are there, as the
// others may be in the rest.
func (r *run) healed(keys []diag.Key) int {
	if r.Baseline == nil {
		return 0
	}
	elsewhere, n := r.elsewhere(), 0
	for _, key := range keys {
		if !elsewhere(key) && !r.tally.Lost(key.Rule) {
			n++
		}
	}
	return n
}

// elsewhere tells of a key whether it may be about a manifest that is not read.
func (r *run) elsewhere() func(diag.Key) bool {
	if r.reads(filepath.Dir(absolute(r.Dir, r.Baseline.Path))) {
		return func(diag.Key) bool { return false }
	}
	there := map[diag.Key]bool{}
	for key, all := range r.decisions {
		cluster, render, _ := strings.Cut(key, "\x00")
		for o := range all {
			d := diag.Diagnostic{Cluster: cluster, Render: render, Object: o}
			there[d.Key()] = true
		}
	}
	return func(key diag.Key) bool {
		key.Rule, key.Field, key.Branch = "", "", ""
		return !there[key]
	}
}

func diagnostics(findings []accept.Finding) []diag.Diagnostic {
	var all []diag.Diagnostic
	for _, f := range findings {
		all = append(all, f.Diagnostic)
	}
	return all
}

// configName is how outputs name the configuration file.
func (r *run) configName() string {
	path, text := r.Config.Source()
	if path == "" {
		return ""
	}
	return r.shown(filepath.Join(r.Config.Dir, filepath.Base(path)), path, text)
}

// shown gives the name of a file that is no manifest, so that outputs can show
// what a finding in it points at.
func (r *run) shown(path, display string, text []byte) string {
	path = absolute(r.Dir, path)
	name := path
	if rel, err := filepath.Rel(r.Root, path); err == nil {
		name = rel
	}
	name = filepath.ToSlash(name)
	if r.files[name] == nil {
		r.files[name] = &source.File{Name: name, Display: filepath.ToSlash(display), Text: text}
	}
	return name
}
