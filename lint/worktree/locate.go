package worktree

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many links outside of work trees are followed, as many as Linux
// follows.
const maxLinks = 40

// Root is the next directory from dir upwards that is the root of a work tree.
func Root(dir string) (root string, ok bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if isRoot(at) {
			return at, true
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

func isRoot(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// Locate says which work tree a path leads into, and the name from its root. It is
// that of the working directory if the path is below its root, or else the first
// one on the way, links outside of work trees followed.
func Locate(path string) (root, name string, ok bool) {
	here, err := os.Getwd()
	if err != nil {
		return "", "", false
	}
	abs := path
	if !filepath.IsAbs(abs) {
		abs = filepath.Join(here, abs)
	}
	abs = filepath.Clean(abs)
	if root, ok = Root(here); ok {
		if name, ok = Below(root, abs); ok {
			return root, name, true
		}
	}
	return follow(abs)
}

// Inside reports whether a path is a directory or leads below it.
func Inside(dir, path string) bool {
	_, ok := Below(dir, path)
	return ok
}

// Below returns the name of a path from a directory; ok is false if the path leads out of it.
func Below(dir, path string) (name string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return rel, true
}

// Local reports whether a name with forward slashes, taken from some directory, is that of the
// directory or of what lies below it. Like Below it only looks at the name: links may lead elsewhere.
func Local(name string) bool { return filepath.IsLocal(filepath.FromSlash(name)) }

// follow walks a path from the top until it comes to the root of a work tree. A
// name that is not there, or that the system makes up for an open file, leads into
// none.
func follow(abs string) (root, name string, ok bool) {
	top := filepath.VolumeName(abs) + string(filepath.Separator)
	at, rest := top, parts(abs)
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		switch {
		case rest[0] == "..": // of the target of a link; at has no links
			at, rest = filepath.Dir(at), rest[1:]
			continue
		case isRoot(at):
			return at, filepath.Join(rest...), filepath.IsLocal(filepath.Join(rest...))
		}
		info, err := os.Lstat(next)
		if err != nil {
			return "", "", false
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at, rest = next, rest[1:]
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks || strings.HasPrefix(next, "/proc/") {
			return "", "", false
		}
		if filepath.IsAbs(target) {
			at = top
		}
		rest = slices.Concat(parts(target), rest[1:])
	}
	return "", "", false
}

// parts are the components of a path, but for the volume, as they are: a path
// with links must not be cleaned.
func parts(path string) []string {
	path = strings.TrimPrefix(path, filepath.VolumeName(path))
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(s string) bool { return s == "" || s == "." })
}
