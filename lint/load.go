package lint

import (
	"context"
	"maps"

	"github.com/schedlint/schedlint/lint/kustomize"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// manifests are what a run has read. Files that renders use are not among the objects of
// the set.
type manifests struct {
	set *source.Set
	// altered are objects of which kustomizations may change anything.
	altered []*source.Object
	// broken are the files with mistakes, and those that hide objects.
	broken map[string]bool
	// beside are files that renders use and that are in none of the paths.
	beside []*source.File
}

// loader reads the manifests and renders what is to be rendered.
type loader struct {
	ctx      context.Context
	opts     *Options
	table    workload.Table
	files    *files
	renders  *renders
	summary  *summary
	failures *failures
	manifests
	// given are the files that another tool rendered.
	given map[string]bool
	// charts are the directories of charts that were to be rendered.
	charts map[string]bool
	// byFile are the objects of the paths by their files, once needed.
	byFile map[string][]*source.Object
	// asWritten are the objects of files that charts deploy as they stand, by their names.
	asWritten map[string][]*source.Object
}

// load reads the manifests.
func (l *loader) load() *manifests {
	reading := l.files.reading
	reading.Ignore, reading.OwnOnly = l.files.ignores, l.opts.Config.OwnOnly()
	set, err := source.Load(reading, l.opts.Paths)
	l.failures.fail(err)
	l.set = set
	l.files.keep(set)
	l.renderAll()
	l.templates()
	l.kustomized()
	l.passedBy()
	for i := range set.Problems {
		l.broken[set.Problems[i].Span.File] = true
	}
	for _, name := range set.Untracked {
		l.summary.skip(untracked, fileLine(name, 1))
	}
	for _, k := range set.Unread {
		l.summary.skip(k.Reason, k.File)
	}
	maps.Copy(l.summary.placeholders, set.Placeholders)
	l.countDocuments()
	l.hollow()
	return &l.manifests
}

// hollow fails a run that examines nothing. In the working directory, where a command may
// run that is meant for many repositories, documents of other tools are enough.
func (l *loader) hollow() {
	if len(l.set.Problems)+len(l.renders.all)+len(l.renders.failed)+len(l.set.Objects)+len(l.altered) > 0 {
		return
	}
	others := 0
	for _, k := range l.set.Skipped {
		if k.Reason == source.SkipNoObject || k.Reason == source.SkipNoManifest {
			others++
		}
	}
	switch {
	case l.summary.Documents == 0:
		l.failures.fail(ErrNothing)
	case others == l.summary.Documents && !l.files.cover(l.files.dir):
		l.failures.fail(ErrNoObject)
	}
}

// countDocuments says in the summary what was read and what was skipped of it.
func (l *loader) countDocuments() {
	l.summary.Files, l.summary.Documents = len(l.set.Files), l.set.Documents
	for _, k := range l.set.Skipped {
		if k.Reason == source.SkipConfig { // ours, and no document of the user's
			l.summary.Documents--
			continue
		}
		l.summary.skip(k.Reason, fileLine(k.File, k.Line))
		l.broken[k.File] = l.broken[k.File] || hidesObjects[k.Reason]
	}
}

// kustomized leaves out of the objects what kustomizations of the tree change.
func (l *loader) kustomized() {
	known := kustomize.Obscure(l.set, l.table.Declares)
	l.set.Objects, l.altered = known.Objects, known.Whole
	for _, o := range known.Whole {
		l.summary.skip(altered, l.renders.at(o))
	}
	for _, o := range known.Changed {
		l.summary.leaveOpen(changed, l.renders.at(o))
	}
}

// Why objects that kustomizations change are left out, or are known in part.
const (
	altered = "manifest with unknown changes by a kustomization"
	changed = "a kustomization changes fields of it"
)

// hidesObjects are the reasons for which a document that was judged once may be left out
// as a whole now: what was found in it is not fixed by that.
var hidesObjects = map[string]bool{
	source.SkipTemplate: true, source.SkipOtherTemplate: true, source.SkipExcerpt: true, source.SkipNoManifest: true, source.SkipList: true,
	source.SkipLarge: true,
}

// untracked is why a file is left out that Options.Tracked declines.
const untracked = "untracked file"
