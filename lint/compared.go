package lint

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// left tells, of objects that another state of the files had, what has become of
// them here: some are declared, some are there and not judged any more, and some
// are gone.
type left struct {
	files *files
	// renders are the names of those that succeeded or failed.
	renders []string
	// declared are the objects that were read and stand for themselves.
	declared map[diag.Object]bool
	// why says of objects and of files, by name or as a directory that ends in a
	// slash, why they are there and not judged.
	why     map[diag.Object]string
	skipped map[string]string
	unread  []source.Skipped
	// hidden are the objects below unread, once somebody asks.
	hidden map[diag.Object]string
}

// Why an object is not judged any more.
const (
	whyAltered = "a kustomization changes it"
	whyPatch   = "it is used as a patch"
	whyHook    = "it is a test or skipped hook, so only its fields are checked"
	whyAbsent  = "a kustomization uses its file, and no render contains it"
)

// newLeft notes what there is before the trees are let go.
func newLeft(m *manifests, of *renders, table workload.Table) *left {
	l := &left{files: of.files, renders: slices.Concat(of.names(), of.failed), declared: map[diag.Object]bool{}, why: map[diag.Object]string{}, skipped: map[string]string{}, unread: m.set.Unread}
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

// rendered notes what renders contain, and what of their sources they do not.
func (l *left) rendered(of *renders, table workload.Table) {
	contained := map[*source.Object]bool{}
	for _, x := range of.all {
		for _, o := range x.objects {
			contained[of.rawObject(o)] = true
			if o.Hook == source.HookNever {
				l.why[o.ID()] = whyHook
			} else if table.Declares(o) {
				l.declared[o.ID()] = true
			}
		}
	}
	for _, o := range of.raw {
		switch {
		case l.why[o.ID()] == whyHook:
		case contained[o] && table.Declares(o):
			l.declared[o.ID()] = true
		case !contained[o]:
			l.why[o.ID()] = whyAbsent
		}
	}
}

// maxBelow bounds the entries of directories below a path that is not read.
const maxBelow = 10_000

// below are the objects of a path that is not read.
func (l *left) below(path string) []*source.Object {
	reading := l.files.reading
	reading.Tracked = nil
	paths := []string{filepath.Join(l.files.root, filepath.FromSlash(path))}
	if _, over, _ := source.Walk(reading, paths, maxBelow, func(string) bool { return false }); over {
		return nil // too many to look for one that is gone
	}
	set, err := source.Load(reading, paths)
	if err != nil {
		return nil
	}
	return set.Objects
}

// unjudged says why an object of another state, which was judged there in a file, is
// not judged here although it is there; "" if it is judged, or gone.
func (l *left) unjudged(o diag.Object, file string) string {
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

// unreadFor returns the reason why a path is not read, or "".
func (l *left) unreadFor(file string) string {
	for _, u := range l.unread {
		if u.File == file || strings.HasSuffix(u.File, "/") && strings.HasPrefix(file, u.File) {
			return u.Reason
		}
	}
	return ""
}

// maxUnread bounds the paths that are searched for what is not judged any more.
const maxUnread = 100

// concealed says in which path that is not read an object is, or is "".
func (l *left) concealed(o diag.Object) string {
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

// gone reports whether a finding is about something that is neither declared nor
// to be found any more, or about a render that there is no more.
func (l *left) gone(d *diag.Diagnostic) bool {
	if d.Render != "" && !slices.Contains(l.renders, d.Render) {
		return true
	}
	if d.Object == (diag.Object{}) {
		return l.files.byName[d.Location.File] == nil
	}
	return !l.declared[d.Object] && l.unjudged(d.Object, d.Location.File) == ""
}

// unjudged are the objects that were judged in another state of the files, which are
// there and not judged any more, as what a change silences.
func unjudged(now, before *diag.Report) []diag.Silence {
	if now.WhyUnjudged == nil {
		return nil
	}
	var all []diag.Silence
	for _, j := range before.Judged {
		if why := now.WhyUnjudged(j.Object, j.Location.File); why != "" {
			name := diag.ObjectName(j.Object.Kind, j.Object.Namespace, j.Object.Name)
			all = append(all, diag.Silence{Message: name + " is no longer checked: " + why, Location: j.Location})
		}
	}
	slices.SortFunc(all, func(a, b diag.Silence) int {
		return cmp.Or(a.Location.Compare(b.Location), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}

// undecided answers for findings on another state of the files whether it is unknown if
// there is one like it here: a file is left out or has a mistake, a rule is off or gone, or what
// the rule looks at is not known of the object. L is nil if no other state was asked about.
func (r *run) undecided(l *left, broken map[string]bool) func(*diag.Diagnostic) bool {
	rules := r.opts.Policy.IDs()
	return func(d *diag.Diagnostic) bool {
		file := d.Location.File
		switch {
		case !slices.Contains(rules, d.Rule) || r.judge.off(d.Rule) || r.judge.tally.HasFailed(d.Rule):
			return true
		case slices.Contains(r.renders.failed, d.Render):
			return true
		case d.Render == "" && d.Object != (diag.Object{}) && r.renders.reached[file]: // it is judged as it is deployed now
			return true
		case l != nil && (l.unjudged(d.Object, file) != "" || l.unreadFor(file) != "") || r.files.ignores(file) || broken[file]:
			return true
		}
		return r.decisions.of(d).Open(d.Object, r.opts.Policy.Reads(d.Rule))
	}
}

// splitGone splits what is gone with its object from what was fixed.
func splitGone(d accept.Difference, gone func(*diag.Diagnostic) bool) (fixed, lost []diag.Diagnostic) {
	for i := range d.Fixed {
		if gone != nil && gone(&d.Fixed[i]) {
			lost = append(lost, d.Fixed[i])
		} else {
			fixed = append(fixed, d.Fixed[i])
		}
	}
	return fixed, lost
}
