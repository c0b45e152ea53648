package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/worktree"
)

// found is a file to read. problem is the reason why it cannot be read, or empty.
type found struct {
	path          string // path to open, or "" for standard input
	name, display string
	size          int64
	problem       string
}

// walker collects files. It identifies a file by its path with symbolic links resolved, so each
// file is added only once. The order of the arguments does not affect the result.
type walker struct {
	opts  Options
	root  string // root of the repository without symbolic links
	found []found
	links []link
	seen  map[string]bool
	errs  []error
	// untracked lists the names of files that are not part of the input.
	untracked []string
	// passed lists paths that are skipped for any other reason.
	passed []passedPath
	// wanted reports whether to read a file, given its base name.
	wanted func(base string) bool
	// most is the maximum number of directory entries to read. 0 means no limit.
	most, entries int
}

// link is a symbolic link that has not been followed yet. Links are followed last, so a file that
// can also be reached without a link is shown under its own name. bound is a directory that
// contains the link. The link must not lead out of it.
type link struct{ path, shown, bound string }

func newWalker(opts Options) *walker {
	return &walker{opts: opts, root: worktree.Resolved(opts.Root), seen: map[string]bool{}, wanted: isManifest}
}

// argument is a path from the command line, together with the file or directory that it leads to.
type argument struct {
	text, path, real string
	info             fs.FileInfo
}

// collect adds the files that the arguments lead to.
func (w *walker) collect(texts []string) {
	var args []argument
	for _, text := range slices.Compact(slices.Sorted(slices.Values(texts))) {
		if text == "-" {
			args = append(args, argument{text: text})
		} else if a, ok := w.resolve(text); ok {
			args = append(args, a)
		}
	}
	sorting.Stable(args, func(a, b argument) int {
		return cmp.Or(strings.Compare(a.real, b.real), len(a.text)-len(b.text))
	})
	for _, a := range args {
		w.add(a)
	}
	for len(w.links) > 0 {
		next := w.links[0]
		w.links = w.links[1:]
		w.follow(next)
	}
}

func (w *walker) resolve(text string) (a argument, ok bool) {
	a = argument{text: text, path: text}
	if text != "" && !filepath.IsAbs(text) { // an empty path does not mean Dir
		a.path = filepath.Join(w.opts.Dir, text)
	}
	info, err := os.Stat(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		w.errs = append(w.errs, fmt.Errorf("reading %q: no such file or directory", text))
		return a, false
	}
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() { // such as <(kubectl get nodes -o yaml)
		a.real, a.info = filepath.Clean(a.path), info
		if real, err := filepath.EvalSymlinks(a.path); err == nil && w.inside(a) {
			a.real = real // a link inside the repository may lead to a device
		}
		return a, true
	}
	real, linkErr := filepath.EvalSymlinks(a.path)
	if err = errors.Join(err, linkErr); err != nil {
		w.errs = append(w.errs, fmt.Errorf("reading %q: %s", text, reason(err)))
		return a, false
	}
	a.real, a.info = real, info
	return a, true
}

func (w *walker) add(a argument) {
	if a.text == "-" {
		w.found = append(w.found, found{name: StdinName, display: StdinName})
		return
	}
	inside := w.inside(a)
	_, old := w.opts.Tree.Name(filepath.Clean(a.path))
	_, stays := w.opts.Tree.Name(a.real)
	switch {
	case old && !stays, inside && (!worktree.Inside(w.root, a.real) || worktree.OfGit(a.real) && !worktree.OfGit(a.path)):
		w.refuse(filepath.Join(worktree.Resolved(filepath.Dir(a.path)), filepath.Base(a.path)), a.text, leadsOut) // a.path may itself be a link
	case a.info.IsDir():
		bound := w.root
		if old {
			bound = w.opts.Tree.Dir
		} else if !inside {
			bound = a.real
		}
		w.dir(a.real, a.text, bound)
	default:
		w.file(a.real, a.text, a.info)
	}
}

// inside reports whether an argument is in the repository.
func (w *walker) inside(a argument) bool {
	return worktree.Inside(w.opts.Root, filepath.Clean(a.path)) || worktree.Inside(w.root, filepath.Clean(a.path))
}

// dir adds the files below a directory.
func (w *walker) dir(real, display, bound string) {
	if w.seen[real] {
		return
	}
	w.seen[real] = true
	if w.ignored(real) {
		w.unread(SkipIgnored, real, true)
		return
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		w.refuse(real, display, "cannot be listed: "+reason(err))
		return
	}
	for _, e := range entries {
		if w.entries++; w.most > 0 && w.entries > w.most {
			return
		}
		path, shown := filepath.Join(real, e.Name()), below(display, e.Name())
		switch {
		case e.IsDir():
			switch {
			case strings.HasPrefix(e.Name(), "."):
				w.hidden(SkipHidden, path)
			case w.opts.OwnOnly && ofOthers(path):
				w.hidden(SkipOthers, path)
			default:
				w.dir(path, shown, bound)
			}
		case e.Type()&fs.ModeSymlink != 0:
			w.links = append(w.links, link{path, shown, bound})
		case w.wanted(e.Name()):
			info, err := e.Info()
			switch {
			case err != nil:
				w.refuse(path, shown, "cannot be read: "+reason(err))
			case !info.Mode().IsRegular(): // a pipe or a device would block
				w.refuse(path, shown, notRegular)
			default:
				w.file(path, shown, info)
			}
		}
	}
}

// Reasons why a path cannot be read.
const (
	notRegular  = "is not a regular file"
	leadsOut    = "is a symbolic link that leads out of the repository"
	leadsAstray = "is a symbolic link that leads nowhere or in a circle"
)

// follow follows a symbolic link found in a directory. It does not follow a link that leads out of
// the link's bound or to a directory that contains the link.
func (w *walker) follow(l link) {
	if strings.HasPrefix(filepath.Base(l.path), ".") {
		if w.opts.Tracked(l.path) {
			w.linkUnread(SkipLink, l.path)
		}
		return
	}
	if w.ignored(l.path) {
		w.linkUnread(SkipIgnored, l.path)
		return
	}
	if !w.opts.Tracked(l.path) {
		if w.wanted(filepath.Base(l.path)) {
			w.leave(l.path)
		} else {
			w.linkUnread(SkipLink, l.path)
		}
		return
	}
	real, err := filepath.EvalSymlinks(l.path)
	if err != nil {
		if w.wanted(filepath.Base(l.path)) || !errors.Is(err, fs.ErrNotExist) {
			w.refuse(l.path, l.shown, leadsAstray)
		}
		return
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		w.refuse(l.path, l.shown, "cannot be read: "+reason(err))
	case !info.IsDir() && !w.wanted(filepath.Base(l.path)):
	case info.IsDir() && worktree.OfGit(real) && !worktree.OfGit(l.path): // git directories contain no manifests
		w.linkUnread(SkipLink, l.path)
	case !worktree.Inside(l.bound, real) || worktree.OfGit(real) && !worktree.OfGit(l.path):
		w.refuse(l.path, l.shown, leadsOut)
	case info.IsDir() && w.opts.OwnOnly && ofOthers(l.path):
		w.linkUnread(SkipOthers, l.path)
	case info.IsDir(): // a directory that contains the link is already in w.seen
		w.dir(real, l.shown, l.bound)
	case !info.Mode().IsRegular():
		w.refuse(l.path, l.shown, notRegular)
	default:
		w.file(real, l.shown, info)
	}
}

func (w *walker) file(real, display string, info fs.FileInfo) {
	if w.seen[real] {
		return
	}
	w.seen[real] = true
	if w.ignored(real) {
		w.unread(SkipIgnored, real, false)
		return
	}
	if !w.opts.Tracked(real) {
		w.leave(real)
		return
	}
	name := w.name(real)
	if _, old := w.opts.Tree.Name(real); old {
		display = w.opts.Tree.Display(name)
	}
	w.found = append(w.found, found{path: real, name: name, display: filepath.ToSlash(display), size: info.Size()})
}

func (w *walker) refuse(path, display, why string) {
	if !w.opts.Tracked(path) {
		w.leave(path)
		return
	}
	w.found = append(w.found, found{path: path, name: w.name(path), display: filepath.ToSlash(display), problem: why})
}

// leave records a file that is not part of the input.
func (w *walker) leave(path string) { w.untracked = append(w.untracked, w.name(path)) }

// name returns a path relative to the root, with forward slashes.
func (w *walker) name(path string) string {
	if name, ok := w.opts.Tree.Name(path); ok {
		return name
	}
	rel, err := filepath.Rel(w.root, path)
	if err != nil {
		rel = filepath.Base(path)
	}
	return filepath.ToSlash(rel)
}

func (w *walker) ignored(path string) bool {
	return w.opts.Ignore != nil && w.opts.Ignore(w.name(path))
}

// below joins the names of a directory and an entry. It keeps the style of the directory's name, so
// "./a" stays "./a".
func below(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

func isManifest(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// Input is a file found by Walk, or a path that cannot be read.
type Input struct {
	// Path is absolute, with symbolic links resolved. Name is relative to the root.
	Path, Name string
	// Size is in bytes.
	Size int64
	// Problem is the reason why the path cannot be read, or empty.
	Problem string
}

// Walk lists the files below paths by the same rules as Load (see Options). wanted reports whether
// to list a file, given its base name. Each file is listed once, in the order of names. If there
// are too many directory entries, Walk stops and over is true. The returned error joins all errors
// in the arguments.
func Walk(opts Options, paths []string, most int, wanted func(base string) bool) (all []Input, over bool, err error) {
	if opts.Tracked == nil {
		opts.Tracked = func(string) bool { return true }
	}
	w := newWalker(opts)
	w.wanted, w.most = wanted, most
	w.collect(paths)
	sorting.Stable(w.found, func(a, b found) int { return strings.Compare(a.name, b.name) })
	all = append(all, lists.Of(w.found, func(f found) Input { return Input{f.path, f.name, f.size, f.problem} })...)
	return all, w.entries > most, errors.Join(w.errs...)
}

// KustomizationFiles returns the file names that kustomize recognizes. A directory may contain only
// one file with such a name (kustomize: api/konfig/general.go).
func KustomizationFiles() []string {
	return []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
}

// IsKustomizationFile reports whether base is the file name of a kustomization.
func IsKustomizationFile(base string) bool { return slices.Contains(KustomizationFiles(), base) }

// passedPath is a path that is not read.
type passedPath struct {
	reason, path string
	dir          bool
}

// unread records a path that is not read. dir says whether it is a directory.
func (w *walker) unread(reason, path string, dir bool) {
	w.passed = append(w.passed, passedPath{reason, path, dir})
}

// unreadPaths returns the unread paths to which no other argument or link leads.
func (w *walker) unreadPaths() []Skipped {
	var all []Skipped
	for _, p := range w.passed {
		if p.reason != SkipIgnored && w.seen[worktree.Resolved(p.path)] {
			continue
		}
		name := w.name(p.path)
		if p.dir {
			name += "/"
		}
		all = append(all, Skipped{Reason: p.reason, File: name})
	}
	return all
}

// versionControl lists directories that belong to version control systems and contain no manifests
// to check.
var versionControl = map[string]bool{".git": true, ".hg": true, ".svn": true, ".jj": true, ".bzr": true}

// ofOthers reports whether a directory is used by npm or go mod vendor for third-party files.
func ofOthers(path string) bool {
	switch filepath.Base(path) {
	case "node_modules":
		return true
	case "vendor":
		info, err := os.Stat(filepath.Join(path, "modules.txt"))
		return err == nil && info.Mode().IsRegular()
	}
	return false
}

// hidden records a skipped directory if it may contain manifests. Most hidden directories belong to
// an editor or CI and are not recorded.
func (w *walker) hidden(reason, path string) {
	switch {
	case versionControl[filepath.Base(path)] || !w.opts.Tracked(path):
	case w.ignored(path):
		w.unread(SkipIgnored, path, true)
	case mayHoldManifests(path):
		w.unread(reason, path, true)
	}
}

// linkUnread records a link that is not followed if it leads to a directory or a possible manifest.
func (w *walker) linkUnread(reason, path string) {
	if info, err := os.Stat(path); err == nil && (info.IsDir() || isManifest(path)) {
		w.unread(reason, path, info.IsDir())
	}
}

// Limits for searching a hidden directory.
const (
	maxHiddenNames = 1000
	maxHiddenFiles = 50
	maxHiddenBytes = 4 << 10
)

// versionKey matches apiVersion, a key that every manifest has.
var versionKey = lazy.Regexp(`(?m)^[ \t{]*(?:- +)*["']?apiVersion["']?[ \t]*:`)

// mayHoldManifests reports whether any file below a directory begins like a manifest. If the
// directory is too large to search, it returns true.
func mayHoldManifests(dir string) bool {
	names, files := maxHiddenNames, maxHiddenFiles
	for dirs := []string{dir}; len(dirs) > 0; dirs = dirs[1:] {
		entries, err := firstEntries(dirs[0], names+1)
		if names -= len(entries); names < 0 || err != nil {
			return true
		}
		for _, e := range entries {
			path := filepath.Join(dirs[0], e.Name())
			switch {
			case e.IsDir() && !versionControl[e.Name()]:
				dirs = append(dirs, path)
			case e.Type().IsRegular() && isManifest(e.Name()):
				if files--; files < 0 || beginsLikeManifest(path) {
					return true
				}
			}
		}
	}
	return false
}

// firstEntries returns at most n entries of a directory, in any order.
func firstEntries(dir string, n int) ([]fs.DirEntry, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(n)
	if err == io.EOF {
		err = nil
	}
	return entries, err
}

// beginsLikeManifest reports whether the key apiVersion occurs near the start of a file. If the
// file cannot be read, it returns true.
func beginsLikeManifest(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxHiddenBytes))
	return err != nil || versionKey().Match(head)
}

// isBrokenList reports whether an object is a List without usable items. A custom resource whose
// kind ends in List is an ordinary object if it has a name or a spec.
func isBrokenList(o *Object) bool {
	if !strings.HasSuffix(o.Kind, "List") || o.Kind != "List" && (o.Name != "" || o.Root.Get("spec") != nil) {
		return false
	}
	_, items := o.Root.Field("items")
	return items == nil || items.Kind != Sequence && !items.IsNull() // Go encodes a nil slice as null
}
