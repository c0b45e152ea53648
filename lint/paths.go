package lint

import (
	"fmt"
	"path/filepath"
)

// fileLine is a line of a file, as text output prints it.
func fileLine(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// absolute is a path that counts from a directory.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// resolved is a path without symbolic links, if it leads anywhere.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// relative is a name as seen from a directory; both are names from the root.
func relative(dir, name string) string {
	rel, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(name))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}
