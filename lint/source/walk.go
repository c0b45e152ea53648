package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// found is a file to be read, or a place that cannot be, with the reason.
type found struct {
	path          string // what to open; "" for standard input
	name, display string
	size          int64
	problem       string
}

// walker collects files. Every file is read once however many ways lead to it,
// under the name that it has without symbolic links.
type walker struct {
	opts  Options
	root  string // without symbolic links
	found []found
	seen  map[string]bool
	errs  []error
}

func newWalker(opts Options) *walker {
	return &walker{opts: opts, root: resolved(opts.Root), seen: map[string]bool{}}
}

func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// argument adds one path of the command line.
func (w *walker) argument(arg string) {
	if arg == "-" {
		if !w.seen[arg] {
			w.seen[arg] = true
			w.found = append(w.found, found{name: StdinName, display: StdinName})
		}
		return
	}
	path := arg
	if arg != "" && !filepath.IsAbs(path) { // an empty path is no directory
		path = filepath.Join(w.opts.Dir, path)
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		w.errs = append(w.errs, fmt.Errorf("reading %q: no such file or directory", arg))
		return
	}
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() { // such as <(kubectl get nodes -o yaml)
		w.file(path, arg, info)
		return
	}
	real, linkErr := filepath.EvalSymlinks(path)
	if err = errors.Join(err, linkErr); err != nil {
		w.errs = append(w.errs, fmt.Errorf("reading %q: %s", arg, reason(err)))
		return
	}
	inside := within(w.opts.Root, filepath.Clean(path)) || within(w.root, filepath.Clean(path))
	switch {
	case inside && !within(w.root, real):
		w.refuse(path, arg, "is a symbolic link that leads out of the repository")
	case info.IsDir():
		bound := w.root
		if !inside {
			bound = real
		}
		w.dir(real, arg, bound, nil)
	default:
		w.file(real, arg, info)
	}
}

// dir adds the files below a directory. Bound is the directory that links must
// not leave; above are the directories that lead here, to notice loops.
func (w *walker) dir(real, display, bound string, above []string) {
	if w.ignored(real) || w.seen[real] {
		return
	}
	w.seen[real] = true
	entries, err := os.ReadDir(real)
	if err != nil {
		w.refuse(real, display, "cannot be listed: "+reason(err))
		return
	}
	above = append(slices.Clip(above), real)
	for _, e := range entries {
		path, shown := filepath.Join(real, e.Name()), below(display, e.Name())
		switch {
		case e.IsDir():
			if !strings.HasPrefix(e.Name(), ".") {
				w.dir(path, shown, bound, above)
			}
		case e.Type()&fs.ModeSymlink != 0:
			w.link(path, shown, bound, above)
		case isManifest(e.Name()):
			w.entry(path, shown, e)
		}
	}
}

func (w *walker) entry(path, shown string, e fs.DirEntry) {
	info, err := e.Info()
	switch {
	case err != nil:
		w.refuse(path, shown, "cannot be read: "+reason(err))
	case !info.Mode().IsRegular(): // a pipe or a device would block
		w.refuse(path, shown, "is not a regular file")
	default:
		w.file(path, shown, info)
	}
}

// link follows a symbolic link found in a directory, unless it leads out of
// the bound or back to where we are.
func (w *walker) link(path, shown, bound string, above []string) {
	if strings.HasPrefix(filepath.Base(path), ".") || w.ignored(path) {
		return
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		if isManifest(path) || !errors.Is(err, fs.ErrNotExist) {
			w.refuse(path, shown, "is a symbolic link that leads nowhere or in a circle")
		}
		return
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		w.refuse(path, shown, "cannot be read: "+reason(err))
	case !info.IsDir() && !isManifest(path):
	case !within(bound, real):
		w.refuse(path, shown, "is a symbolic link that leads out of the repository")
	case info.IsDir() && slices.Contains(above, real):
		w.refuse(path, shown, "is a symbolic link to a directory that contains it")
	case info.IsDir():
		w.dir(real, shown, bound, above)
	case !info.Mode().IsRegular():
		w.refuse(path, shown, "is not a regular file")
	default:
		w.file(real, shown, info)
	}
}

func (w *walker) file(real, display string, info fs.FileInfo) {
	if w.seen[real] || w.ignored(real) {
		return
	}
	w.seen[real] = true
	w.found = append(w.found, found{path: real, name: w.name(real), display: filepath.ToSlash(display), size: info.Size()})
}

func (w *walker) refuse(path, display, why string) {
	w.found = append(w.found, found{path: path, name: w.name(path), display: filepath.ToSlash(display), problem: why})
}

// name is the path from the root with forward slashes.
func (w *walker) name(path string) string {
	rel, err := filepath.Rel(w.root, path)
	if err != nil {
		rel = filepath.Base(path)
	}
	return filepath.ToSlash(rel)
}

func (w *walker) ignored(path string) bool {
	return w.opts.Ignore != nil && w.opts.Ignore(w.name(path))
}

// within reports whether path is dir or below it.
func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// below joins a name to a directory and keeps the way the argument was written: "./a" stays "./a".
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
