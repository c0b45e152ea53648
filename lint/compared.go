package lint

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/locate"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// presence records what happened to each object of another revision of the files. There are three
// possibilities: the object is still declared, it is present but not checked, or it is gone.
type presence struct {
	files *locate.Files
	// renders holds the names of all renders, including failed ones.
	renders []string
	// declared holds the objects that were read, except patches, test hooks and skipped hooks.
	declared map[diag.Object]bool
	// why holds the reason for each object that was found but not checked. skipped holds the reason
	// for each skipped file, by name.
	why     map[diag.Object]string
	skipped map[string]string
	unread  []source.Skipped
	// suspended holds the names that the renders of suspended pointers would have. What an owner
	// suspends is gone.
	suspended map[string]bool
	// hidden maps each object below an unread path to the reason why the path was not read. It is
	// filled on first use.
	hidden map[diag.Object]string
}

// Reasons why an object is no longer checked.
const (
	whyAltered = "a kustomization changes it"
	whyPatch   = "it is used as a patch"
	whyHook    = "it is a test or skipped hook, so only its fields are checked"
	whyAbsent  = "a kustomization uses its file, and no render contains it"
)

// newLeft records which objects are present. It must run before the parsed trees are released.
func newLeft(m *manifests, of *locate.Renders, table workload.Table) *presence {
	l := &presence{files: of.Files, renders: slices.Concat(of.Names(), of.Failed), declared: map[diag.Object]bool{}, why: map[diag.Object]string{}, skipped: map[string]string{}, unread: m.set.Unread, suspended: map[string]bool{}}
	for _, o := range m.set.Objects {
		switch {
		case !table.Declares(o):
			l.why[o.ID()] = whyPatch
		case o.Hook == source.HookNever:
			l.why[o.ID()] = whyHook
		default:
			l.declared[o.ID()] = true
		}
	}
	l.rendered(of, table)
	for _, o := range m.altered {
		l.why[o.ID()] = whyAltered
	}
	for _, s := range m.set.Skipped {
		l.skipped[s.File] = s.Reason
	}
	for _, p := range m.set.Problems {
		l.skipped[p.Span.File] = "its file cannot be read as a whole"
	}
	return l
}

// rendered records the objects in renders. It also records objects in source files that no render
// contains.
func (l *presence) rendered(of *locate.Renders, table workload.Table) {
	contained := map[*source.Object]bool{}
	for _, x := range of.All {
		for _, o := range x.Objects {
			contained[of.RawObject(o)] = true
			if o.Hook == source.HookNever {
				l.why[o.ID()] = whyHook
			} else if table.Declares(o) {
				l.declared[o.ID()] = true
			}
		}
	}
	for _, o := range of.Raw {
		switch {
		case l.why[o.ID()] == whyHook:
		case contained[o] && table.Declares(o):
			l.declared[o.ID()] = true
		case !contained[o]:
			l.why[o.ID()] = whyAbsent
		}
	}
}

// maxBelow is the maximum number of directory entries below an unread path. Paths with more entries
// are not searched.
const maxBelow = 10_000

// below reads an unread path and returns its objects.
func (l *presence) below(path string) []*source.Object {
	reading := l.files.Reading
	reading.Tracked = nil
	paths := []string{filepath.Join(l.files.Root, filepath.FromSlash(path))}
	if _, over, _ := source.Walk(reading, paths, maxBelow, func(string) bool { return false }); over {
		return nil // too many to search for a missing object
	}
	set, err := source.Load(reading, paths)
	if err != nil {
		return nil
	}
	return set.Objects
}

// unjudged returns the reason why an object is present but not checked. It returns "" if the object
// is checked or gone. The argument file is the file that declared the object in the other revision.
func (l *presence) unjudged(o diag.Object, file string) string {
	switch {
	case o == (diag.Object{}) || l.declared[o]:
		return ""
	case l.why[o] != "":
		return l.why[o]
	case l.skipped[file] != "":
		return "its file is now skipped: " + l.skipped[file]
	}
	if why := l.unreadFor(file); why != "" {
		return "its file is now skipped: " + why
	}
	return l.concealed(o)
}

// whyUnjudged is unjudged for an object that another revision has checked.
func (l *presence) whyUnjudged(j *diag.Judged) string {
	if l.suspended[j.Render] {
		return ""
	}
	return l.unjudged(j.Object, j.Location.File)
}

// unreadFor returns the reason why a path was not read, or "".
func (l *presence) unreadFor(file string) string {
	for _, u := range l.unread {
		if u.File == file || strings.HasSuffix(u.File, "/") && strings.HasPrefix(file, u.File) {
			return u.Reason
		}
	}
	return ""
}

// maxUnread is the maximum number of unread paths to search for missing objects.
const maxUnread = 100

// concealed returns a message if an unread path contains an object, or "" otherwise. The message
// names the path and says why it was not read.
func (l *presence) concealed(o diag.Object) string {
	if l.hidden == nil {
		l.hidden = map[diag.Object]string{}
		for _, u := range l.unread[:min(len(l.unread), maxUnread)] {
			for _, found := range l.below(u.File) {
				l.hidden[found.ID()] = "it is now in " + u.File + ", which is not read: " + u.Reason
			}
		}
	}
	return l.hidden[o]
}

// gone reports whether the object or the render of a finding no longer exists.
func (l *presence) gone(d *diag.Diagnostic) bool {
	if d.Render != "" && !slices.Contains(l.renders, d.Render) {
		return true
	}
	if d.Object == (diag.Object{}) {
		return l.files.ByName[d.Location.File] == nil
	}
	return !l.declared[d.Object] && l.unjudged(d.Object, d.Location.File) == ""
}

// undecided returns a function that takes a finding from another revision. The function reports
// whether it is unknown if the finding still applies. For example, the file may be skipped or have
// an error. The rule may be off, removed or failing. Facts that the rule needs may be incomplete.
// The argument l is nil if no reports are compared.
func (r *run) undecided(l *presence, broken map[string]bool) func(*diag.Diagnostic) bool {
	rules := r.opts.Policy.IDs()
	return func(d *diag.Diagnostic) bool {
		file := d.Location.File
		switch {
		case !slices.Contains(rules, d.Rule) || r.judge.off(d.Rule) || r.judge.tally.HasFailed(d.Rule):
			return true
		case slices.Contains(r.renders.Failed, d.Render):
			return true
		case l != nil && l.suspended[d.Render]:
			return false
		case d.Render == "" && d.Object != (diag.Object{}) && r.renders.Reached[file]: // the file is now judged as deployed
			return true
		case l != nil && (l.unjudged(d.Object, file) != "" || l.unreadFor(file) != "") || r.files.Ignores(file) || broken[file]:
			return true
		}
		return r.decisions.of(d).Undecided(d.Object, r.opts.Policy.Reads(d.Rule))
	}
}
