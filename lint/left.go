package lint

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// left tells, of objects that another state of the files had, what has become of
// them here: some are declared, some are there and not judged any more, and some
// are gone.
type left struct {
	// declared are the objects that were read and stand for themselves.
	declared map[diag.Object]bool
	// why says of objects and of files, by name or as a directory that ends in a
	// slash, why they are there and not judged.
	why    map[diag.Object]string
	files  map[string]string
	unread []source.Skipped
	// hidden are the objects below unread, once somebody asks.
	hidden map[diag.Object]string
	read   func(path string) []*source.Object
}

// Why an object is not judged any more.
const (
	whyAltered = "a kustomization changes it"
	whyPatch   = "it is used as a patch"
	whyAbsent  = "a kustomization uses its file, and no render contains it"
)

// remember notes what there is before the trees are let go.
func (r *run) remember() {
	l := &r.left
	l.declared, l.why, l.files, l.unread = map[diag.Object]bool{}, map[diag.Object]string{}, map[string]string{}, r.set.Unread
	for _, o := range r.set.Objects {
		if r.table.Declares(o) {
			l.declared[o.ID()] = true
		} else {
			l.why[o.ID()] = whyPatch
		}
	}
	contained := map[*source.Object]bool{}
	for _, x := range r.rendered {
		for _, o := range x.objects {
			contained[r.rawObject(o)] = true
			if r.table.Declares(o) {
				l.declared[o.ID()] = true
			}
		}
	}
	for _, o := range r.raw {
		switch {
		case contained[o] && r.table.Declares(o):
			l.declared[o.ID()] = true
		case !contained[o]:
			l.why[o.ID()] = whyAbsent
		}
	}
	for _, o := range r.altered {
		l.why[o.ID()] = whyAltered
	}
	for _, s := range r.set.Skipped {
		l.files[s.File] = s.Reason
	}
	for _, p := range r.set.Problems {
		l.files[p.Span.File] = "its file cannot be read as a whole"
	}
	l.read = r.below
}

// below are the objects of a path that is not read.
func (r *run) below(path string) []*source.Object {
	opts := r.sourceOptions()
	opts.Tracked = nil
	set, err := source.Load(opts, []string{filepath.Join(r.Root, filepath.FromSlash(path))})
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
	case l.files[file] != "":
		return "its file is now skipped: " + l.files[file]
	}
	for _, u := range l.unread {
		if u.File == file || strings.HasSuffix(u.File, "/") && strings.HasPrefix(file, u.File) {
			return "its file is now skipped: " + u.Reason
		}
	}
	return l.concealed(o)
}

// maxUnread bounds the paths that are searched for what is not judged any more.
const maxUnread = 100

// concealed says in which path that is not read an object is, or is "".
func (l *left) concealed(o diag.Object) string {
	if l.hidden == nil {
		l.hidden = map[diag.Object]string{}
		for _, u := range l.unread[:min(len(l.unread), maxUnread)] {
			for _, found := range l.read(u.File) {
				l.hidden[found.ID()] = "it is now in " + u.File + ", which is not read: " + u.Reason
			}
		}
	}
	return l.hidden[o]
}

// gone reports whether a finding is about something that is neither declared nor
// to be found any more.
func (r *run) gone(d *diag.Diagnostic) bool {
	if d.Object == (diag.Object{}) {
		return r.files[d.Location.File] == nil
	}
	return !r.left.declared[d.Object] && r.left.unjudged(d.Object, d.Location.File) == ""
}

// Unjudged are the objects that were judged in another state of the files, which are
// there and not judged any more, as what a change silences.
func unjudged(now, before *diag.Report) []diag.Silence {
	if now.Left == nil {
		return nil
	}
	var all []diag.Silence
	for _, j := range before.Judged {
		if why := now.Left(j.Object, j.Location.File); why != "" {
			name := j.Object.Kind + " " + strings.TrimPrefix(j.Object.Namespace+"/"+j.Object.Name, "/")
			all = append(all, diag.Silence{Message: name + " is no longer checked: " + why, Location: j.Location})
		}
	}
	slices.SortFunc(all, func(a, b diag.Silence) int {
		return cmp.Or(a.Location.Compare(b.Location), strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(all)
}

// judgedObjects are the workloads and budgets of a cluster.
func (r *run) judgedObjects(c *cluster) []diag.Judged {
	var all []diag.Judged
	for _, w := range c.whole.Workloads {
		all = append(all, diag.Judged{Object: w.Object.ID(), Location: r.inSources(w.Object.NameSpan())})
	}
	for _, b := range c.whole.Budgets {
		all = append(all, diag.Judged{Object: b.Object.ID(), Location: r.inSources(b.Object.NameSpan())})
	}
	return all
}

// parted splits what is gone with its object from what was fixed.
func parted(d accept.Difference, gone func(*diag.Diagnostic) bool) (fixed, lost []diag.Diagnostic) {
	for i := range d.Fixed {
		if gone != nil && gone(&d.Fixed[i]) {
			lost = append(lost, d.Fixed[i])
		} else {
			fixed = append(fixed, d.Fixed[i])
		}
	}
	return fixed, lost
}
