package vendor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/revision"
	"github.com/schedlint/schedlint/lint/roots"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/vendored"
	"github.com/schedlint/schedlint/lint/worktree"
)

// git runs the user's git.
type git struct {
	store *revision.Store // nil until first used
	local bool
	refs  map[string]listed // by address
}

// listed is the result of listing the refs of a repository.
type listed struct {
	refs []revision.Ref
	err  error
}

func (g *git) open() (err error) {
	if g.store == nil {
		g.refs = map[string]listed{}
		g.store, err = revision.NewStore(g.local)
	}
	return err
}

func (g *git) close() {
	if g.store != nil {
		g.store.Remove()
	}
}

// resolve returns the commit that a checked source asks for, with its name there.
func (g *git) resolve(w *pointers.Wanted) (revision.Ref, error) {
	if revision.IsCommit(w.Ref) {
		return revision.Ref{Name: w.Ref, Commit: w.Ref}, nil
	}
	if err := g.open(); err != nil {
		return revision.Ref{}, err
	}
	l := lazy.Cached(g.refs, w.URL, func() (l listed) {
		l.refs, l.err = g.store.Refs(w.URL)
		return l
	})
	if l.err != nil {
		return revision.Ref{}, said(w, l.err)
	}
	ref, err := revision.Find(l.refs, w.Ref)
	if w.Semver || err != nil && w.Below { // Argo CD also takes a range
		if in, why := semver.NewConstraint(w.Ref); why == nil {
			ref, err = highest(l.refs, in)
		} else if w.Semver {
			err = why
		}
	}
	if err != nil {
		return ref, fmt.Errorf("revision %q: %w", w.Ref, err)
	}
	return ref, nil
}

// highest returns the tag with the highest version in a range.
func highest(refs []revision.Ref, in *semver.Constraints) (best revision.Ref, err error) {
	var top *semver.Version
	for _, r := range refs {
		tag, ok := strings.CutPrefix(r.Name, "refs/tags/")
		if v, err := semver.NewVersion(tag); ok && err == nil && in.Check(v) && (top == nil || v.GreaterThan(top)) && refForm().MatchString(tag) {
			top, best = v, r
		}
	}
	if top == nil {
		return best, errors.New("no tag is in the range")
	}
	return best, nil
}

// said returns an error in the words of git.
func said(w *pointers.Wanted, err error) error {
	advice := ""
	if denied().MatchString(err.Error()) {
		advice = "; if a login is missing: git needs credentials for " + host(w.URL)
	}
	return fmt.Errorf("git: %s%s", clipped(err.Error()), advice)
}

var license = lazy.Regexp(`^(?i:licen[cs]e|notice|copying)(?:[.-][A-Za-z0-9]+)*$`)

// files fetches a commit and returns the files to copy: those in the directories, those that
// kustomizations there refer to, and licenses.
func (g *git) files(w *pointers.Wanted, ref revision.Ref, dirs []string) ([]vendored.File, error) {
	if err := g.open(); err != nil {
		return nil, err
	}
	err := g.store.Fetch(w.URL, ref.Name, ref.Commit)
	if err != nil && ref.Name == ref.Commit { // some servers only send what has a name
		if refs, listed := g.store.Refs(w.URL); listed == nil {
			if i := slices.IndexFunc(refs, func(r revision.Ref) bool { return r.Commit == ref.Commit }); i >= 0 {
				err = g.store.Fetch(w.URL, refs[i].Name, ref.Commit)
			}
		}
	}
	if err != nil {
		return nil, said(w, err)
	}
	tree, err := revision.Unpack(g.store.Dir, ref.Commit, func(string) bool { return true })
	if err != nil {
		return nil, said(w, err)
	}
	defer tree.Remove()
	return read(tree.Dir, dirs)
}

// read returns the files of an unpacked commit to copy. The tree is hostile.
func read(root string, dirs []string) (all []vendored.File, err error) {
	names, err := needed(root, dirs)
	if err != nil {
		return nil, err
	}
	lookup, left := worktree.NewLookup(root), int64(thirdparty.MaxFiles)
	for _, name := range names {
		e := lookup.Entry(name) // a link becomes a copy of its target
		if e.Outside || e.Info == nil || !e.Info.Mode().IsRegular() {
			return nil, fmt.Errorf("%q: expected a file, or a link to one in the repository", name)
		}
		text, err := worktree.ReadFile(lookup.Root(), filepath.FromSlash(e.Name), min(thirdparty.MaxFile, left))
		if err == nil {
			err = vendored.CheckName(name)
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		left -= int64(len(text))
		all = append(all, vendored.File{Name: name, Text: text})
	}
	return all, nil
}

// noDirectories are directories that a commit does not have.
type noDirectories []string

func (dirs noDirectories) Error() string {
	return fmt.Sprintf("the repository has no directory %s at this revision", strings.Join(dirs, ", "))
}

// needed returns the names of the files to copy, in sorted order.
func needed(root string, dirs []string) ([]string, error) {
	open, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	var all, paths []string
	var absent noDirectories
	for _, dir := range dirs {
		info, err := fs.Lstat(open.FS(), dir)
		if err != nil || !info.IsDir() {
			absent = append(absent, dir)
			continue
		}
		paths = append(paths, filepath.Join(root, filepath.FromSlash(dir)))
		err = fs.WalkDir(open.FS(), dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				all = append(all, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(absent) > 0 {
		return nil, absent
	}
	found, err := roots.Find(roots.Options{Root: root, Dir: root, Paths: paths, OnlyKustomizations: true})
	if err != nil {
		return nil, err
	}
	for _, k := range found.Kustomizations {
		all = append(append(all, k.File), k.Files...)
	}
	top, err := fs.ReadDir(open.FS(), ".")
	for _, e := range top {
		if !e.IsDir() && license().MatchString(e.Name()) {
			all = append(all, e.Name())
		}
	}
	slices.Sort(all)
	return slices.Compact(all), err
}
