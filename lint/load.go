package lint

import (
	"context"
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/schedlint/schedlint/lint/locate"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/kustomize"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// manifests holds the input that a run has read. The field "set" does not contain objects from
// files that a render uses.
type manifests struct {
	set *source.Set
	// altered holds objects in which kustomizations may change any field, and changed those in which
	// they may change some.
	altered, changed []*source.Object
	// broken holds the names of files with errors. It also holds the names of files whose skipped
	// documents may contain objects.
	broken map[string]bool
	// accepting holds the indices of the entries in Config.Unrendered that match something.
	accepting map[int]bool
	// beside holds files that renders use but that are outside the paths to lint.
	beside []*source.File
}

// loader reads the manifests and builds the renders.
type loader struct {
	ctx      context.Context
	opts     *Options
	table    workload.Table
	files    *locate.Files
	renders  *locate.Renders
	summary  *summary
	failures *failures
	manifests
	// given holds the names of files that were rendered by another tool.
	given map[string]bool
	// charts holds the directories of charts with a requested render.
	charts map[string]bool
	// byFile maps each file name in the paths to the objects in the file. It is computed on first
	// use.
	byFile map[string][]*source.Object
	// asWritten holds the objects of the files that charts deploy unchanged, by file name.
	asWritten map[string][]*source.Object
}

func (l *loader) load() *manifests {
	reading := l.files.Reading
	reading.Ignore, reading.OwnOnly = l.files.Ignores, l.opts.Config.OwnOnly()
	set, err := source.Load(reading, l.opts.Paths)
	l.failures.fail(err)
	l.set = set
	l.files.Keep(set)
	l.renderAll()
	l.removeTemplates()
	known := kustomize.Obscure(set, l.table.Declares)
	set.Objects, l.altered, l.changed = known.Objects, known.Whole, known.Changed
	l.addRaw(reading)
	for _, o := range known.Whole {
		l.summary.skip(altered, l.renders.At(o))
	}
	for _, o := range known.Changed {
		l.summary.leaveOpen(changed, l.renders.At(o))
	}
	l.countPassedBy()
	for i := range set.Problems {
		l.broken[set.Problems[i].Span.File] = true
	}
	for _, name := range set.Untracked {
		l.summary.skip(untracked, locate.FileLine(name, 1))
	}
	for _, k := range set.Unread {
		if !l.files.Copied(path.Clean(k.File)) {
			l.summary.skip(k.Reason, k.File)
		}
	}
	maps.Copy(l.summary.placeholders, set.Placeholders)
	l.summary.Files, l.summary.Documents = len(set.Files), set.Documents
	for _, k := range set.Skipped {
		if k.Reason == source.SkipConfig { // schedlint's own file, not a user document
			l.summary.Documents--
			continue
		}
		l.summary.skip(k.Reason, locate.FileLine(k.File, k.Line))
		l.broken[k.File] = l.broken[k.File] || hidesObjects[k.Reason]
	}
	// It is an error if there was nothing to check. The same command may run in many repositories. If the paths
	// cover the whole working directory, a single document is therefore enough, even without a Kubernetes object.
	if len(l.set.Problems)+len(l.renders.All)+len(l.renders.Failed)+len(l.set.Objects)+len(l.altered) == 0 {
		others := 0
		for _, k := range l.set.Skipped {
			if k.Reason == source.SkipNoObject || k.Reason == source.SkipNoManifest {
				others++
			}
		}
		switch {
		case l.summary.Documents == 0:
			l.failures.fail(ErrNothing)
		case others == l.summary.Documents && !l.files.Cover(l.files.Dir):
			l.failures.fail(ErrNoObject)
		}
	}
	return &l.manifests
}

// addRaw adds the objects of Options.Raw as they are written.
func (l *loader) addRaw(reading source.Options) {
	var paths []string
	for _, name := range l.opts.Raw {
		if !l.files.Ignores(name) {
			paths = append(paths, filepath.Join(l.opts.Root, filepath.FromSlash(name)))
		}
	}
	if len(paths) == 0 {
		return
	}
	raw, _ := source.Load(reading, paths) // a file that cannot be read has no objects
	l.files.Keep(raw)
	l.set.Objects = slices.DeleteFunc(slices.Clone(l.set.Objects), func(o *source.Object) bool { return slices.Contains(l.opts.Raw, o.File.Name) })
	l.set.Objects = append(l.set.Objects, raw.Objects...)
}

// raw returns the files with objects that are checked exactly as they are written.
func (m *manifests) raw(table workload.Table) []string {
	all, changed := map[string]bool{}, map[*source.Object]bool{}
	for _, o := range m.changed {
		changed[o] = true
	}
	for _, o := range m.set.Objects {
		if table.Declares(o) && !changed[o] {
			all[o.File.Name] = true
		}
	}
	return sorting.Keys(all)
}

// acting returns the objects that act on others (workload.Acts).
func (r *run) acting(m *manifests) (all []diag.Object) {
	add := func(list []*source.Object) {
		for _, o := range list {
			if workload.Acts(o) {
				all = append(all, o.ID())
			}
		}
	}
	add(m.set.Objects)
	for _, x := range r.renders.All {
		add(x.Objects)
	}
	return all
}

// deciding returns the files that may decide what is rendered or checked.
func (r *run) deciding() []string {
	all := map[string]bool{}
	for name := range r.files.ByName {
		if base := path.Base(name); slices.Contains(source.KustomizationFiles(), base) {
			all[name] = true
		}
	}
	for i := range r.opts.Renders {
		x := &r.opts.Renders[i]
		if all[x.Pointer.File] = true; x.Root.Chart != nil {
			x.SetPrefix(r.opts.Root)
			all[x.FromRoot(path.Join(x.Root.Dir, "Chart.yaml"))] = true
		}
	}
	for _, u := range r.opts.Unfollowed {
		all[u.File] = true
	}
	delete(all, "")
	return sorting.Keys(all)
}

// Reasons for not checking an object that a kustomization changes. The first one applies if the
// object is omitted. The second one applies if only part of the object is known.
const (
	altered = "manifest with unknown changes by a kustomization"
	changed = "a kustomization changes fields of it"
)

// hidesObjects lists reasons for skipping a whole document. Such a document may contain objects. In
// a comparison, earlier findings in a skipped document do not count as fixed.
var hidesObjects = map[string]bool{
	source.SkipTemplate: true, source.SkipOtherTemplate: true, source.SkipExcerpt: true, source.SkipNoManifest: true, source.SkipList: true,
	source.SkipLarge: true,
}

// untracked is the reason for skipping a file that Options.Tracked rejects.
const untracked = "untracked file"
