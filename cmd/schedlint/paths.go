package main

import (
	"os"
	"path/filepath"
)

// absolute is a path that counts from a directory.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// seen is a path as seen from a directory, if it can be.
func seen(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil {
		return rel
	}
	return path
}

// here is a path as seen from the working directory.
func here(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	return seen(dir, path)
}
