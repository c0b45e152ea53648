package locate

import (
	"cmp"
	"fmt"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
)

// relocation moves findings about rendered objects to their sources.
type relocation struct {
	files   *Files
	base    string
	mapper  *origin.Mapper
	streams map[string]*source.Stream
	// lost counts the findings whose sources were not found. silent counts how many of these
	// findings are in objects that do not name their sources.
	lost, silent int
	// unsaid is set if the current object does not name its source.
	unsaid bool
}

// Relocate moves findings in rendered input to the sources. The sources are in the directory that
// the render names, or else in sourceRoot. It reads source files only if a finding needs them.
func Relocate(findings []accept.Finding, of *Renders, sourceRoot string) (notes []string, errs []error) {
	bases := map[string]string{}
	for _, x := range of.All {
		bases[x.Name] = x.SourceRoot
	}
	from := map[string]*relocation{}
	for i := range findings {
		d := &findings[i].Diagnostic
		if x := of.Results[d.Location.File]; x != nil {
			of.ToSources(x, &findings[i])
			continue
		}
		base := cmp.Or(bases[d.Render], sourceRoot)
		m, known := from[base]
		if !known {
			var err error
			if m, err = newRelocation(of.Files, base); err != nil {
				errs = append(errs, err)
			}
			from[base] = m
		}
		if m != nil {
			was := d.Location
			m.move(d)
			findings[i].Moved = d.Location != was
		}
	}
	for _, base := range sorting.Keys(from) {
		if m := from[base]; m != nil {
			if m.silent > 0 {
				notes = append(notes, fmt.Sprintf("%d findings are reported in rendered input because it has no origin annotations: add buildMetadata: [originAnnotations] to the kustomization", m.silent))
			}
			switch n := m.lost - m.silent; {
			case n > 0 && base != "":
				notes = append(notes, fmt.Sprintf("findings reported in rendered input because their sources were not found below --source-root %s: %d", base, n))
			case n > 0:
				notes = append(notes, fmt.Sprintf("findings in rendered input that --source-root DIR (the rendered directory) may map to their sources: %d", n))
			}
		}
	}
	return notes, errs
}

// newRelocation prepares to search a directory for the sources of rendered input. It returns nil if
// the directory cannot be used. In that case, it returns an error only if the user named the
// directory.
func newRelocation(f *Files, base string) (*relocation, error) {
	mapper, err := origin.New(origin.Options{Dir: f.Dir, Root: f.Root, Base: base, Tracked: f.Reading.Tracked, Files: f.ByName})
	switch {
	case err == nil:
		return &relocation{files: f, base: base, mapper: mapper, streams: map[string]*source.Stream{}}, nil
	case base != "":
		return nil, fmt.Errorf("--source-root: %w", err)
	}
	return nil, nil
}

// Messages about the position of a finding in rendered input, and about an object that a patch has
// changed.
const (
	asRendered = "as rendered"
	setUnknown = "as rendered; what sets this was not found in the sources"
	patched    = "the object that this changes"
	printedBy  = "printed by this file"
)

// move moves a finding to its source. Fixes keep only their description, because rendered text
// cannot be edited and the source may be shared with other objects.
func (m *relocation) move(d *diag.Diagnostic) {
	m.unsaid = false
	at, rendered, ok := m.locate(d.Location)
	if rendered && !ok {
		m.lost++
		if m.unsaid {
			m.silent++
		}
	}
	for i := range d.Related {
		if to, _, ok := m.locate(d.Related[i].Location); ok && !to.Whole {
			d.Related[i].Location = to.Span
		}
	}
	if !ok {
		return
	}
	if at.FileOnly() && d.Location.File != source.StdinName { // a line in this file is more useful than the first line of a different one
		d.Related = append(d.Related, diag.Related{Message: printedBy, Location: at.Span})
		return
	}
	for i := range d.Fixes {
		d.Fixes[i].Edits = nil
	}
	said := asRendered
	if at.Near {
		said = setUnknown
	}
	if !at.Patched.IsZero() {
		d.Related = append(d.Related, diag.Related{Message: patched, Location: at.Patched})
	}
	d.Related = append(d.Related, diag.Related{Message: said, Location: d.Location})
	d.Location = at.Span
}

// locate finds the source of a span. rendered is set if the span is in rendered input.
func (m *relocation) locate(s diag.Span) (at origin.Place, rendered, ok bool) {
	stream := m.stream(s.File)
	if stream == nil || s.IsZero() {
		return at, false, false
	}
	o, template := stream.At(s)
	if o == nil {
		return at, false, false
	}
	from, rendered := o.Origin()
	if !rendered && template != "" {
		from, rendered = source.Origin{Template: template}, true
	}
	if !rendered && m.base != "" && !m.mapper.Reads(s.File) {
		rendered, m.unsaid = true, true
		if from, ok = m.mapper.Find(o); !ok {
			return at, true, false
		}
	}
	if rendered {
		at, ok = m.mapper.Locate(o, from, s)
	}
	return at, rendered, ok
}

// stream returns the stream of a file that may contain rendered input. It returns nil for any other
// file.
func (m *relocation) stream(name string) *source.Stream {
	s, known := m.streams[name]
	if !known {
		if f := m.files.ByName[name]; f != nil && (m.base != "" || source.MayHaveOrigins(f.Text)) {
			s = source.NewStream(f)
		}
		m.streams[name] = s
	}
	return s
}
