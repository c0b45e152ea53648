package lint

import (
	"fmt"
	"path/filepath"
)

// fileLine formats a line of a file as text output prints it.
func fileLine(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// absolute joins a relative path to dir.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// resolved resolves the symbolic links of a path, or only cleans it if it cannot be resolved.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// relative returns name relative to dir; both are names from the root.
func relative(dir, name string) string {
	rel, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(name))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}
