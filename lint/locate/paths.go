package locate

import (
	"fmt"
	"path/filepath"
)

// FileLine formats a line of a file as text output prints it.
func FileLine(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// Absolute joins a relative path to dir.
func Absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Resolved resolves the symbolic links of a path, or only cleans it if it cannot be resolved.
func Resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// Relative returns name relative to dir; both are names from the root.
func Relative(dir, name string) string {
	rel, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(name))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}
