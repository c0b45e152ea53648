package source

import (
	"errors"
	"slices"
	"strings"
)

// Input is a file below a path, or a place that cannot be read.
type Input struct {
	// Path is absolute, without symbolic links; Name is from the root.
	Path, Name string
	// Size is in bytes.
	Size int64
	// Problem says why it cannot be read; "" if it can.
	Problem string
}

// Walk lists what is below paths by the rules of Load, for which see Options: the files
// that wanted takes, by their names without directories, each once and sorted by name.
// After most entries of directories it stops, and over is set. The error joins what
// is wrong with the paths themselves.
func Walk(opts Options, paths []string, most int, wanted func(base string) bool) (all []Input, over bool, err error) {
	if opts.Tracked == nil {
		opts.Tracked = func(string) bool { return true }
	}
	w := newWalker(opts)
	w.wanted, w.most = wanted, most
	w.collect(paths)
	slices.SortFunc(w.found, func(a, b found) int { return strings.Compare(a.name, b.name) })
	for _, f := range w.found {
		all = append(all, Input{f.path, f.name, f.size, f.problem})
	}
	return all, w.entries > most, errors.Join(w.errs...)
}
