package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
)

// batchBytes and batchFiles are how much is read at once before the bounds of the
// run are looked at.
const (
	batchBytes = 64 << 20
	batchFiles = 10_000
)

// readAll reads files in the order of their names, up to the bounds of a run. The
// first one beyond them has a problem that says so; it and those behind it are left.
func readAll(files []found, opts Options) (results []result, left []Skipped) {
	threads, most := workers(files), cmp.Or(opts.run, &limits.Run)
	var sum limits.Cost
	for len(files) > 0 {
		batch := make([]result, batchOf(files))
		forEach(len(batch), threads, func(i int) { batch[i] = files[i].read(opts) })
		for i := range batch {
			r := &batch[i]
			r.sum.Bytes, r.sum.Problems = len(r.file.Text), len(r.problems)
			if len(r.objects) == 0 {
				r.sum.Values = 0 // nothing keeps them
			}
			sum = sum.Plus(r.sum)
			what := sum.Beyond(*most)
			if what == "" {
				if len(results) > 0 {
					r.plain = nil // nobody asks for another than the first
				}
				results = append(results, *r)
				continue
			}
			for j, f := range files[i:] {
				last := result{file: &File{Name: f.name, Display: f.display, refused: true}}
				if j == 0 {
					last.problem(textError{problem: Unreadable, line: 1, detail: beyondRun(what, len(files[i:])-1)})
				}
				results = append(results, last)
				left = append(left, Skipped{Reason: SkipBound, File: f.name})
			}
			return results, left
		}
		files = files[len(batch):]
	}
	return results, nil
}

// batchOf is how many files are read at once.
func batchOf(files []found) (n int) {
	var size int64
	for n < min(len(files), batchFiles) && size < batchBytes {
		size += files[n].size
		n++
	}
	return n
}

// beyondRun tells of the first file that is left because of a bound of the run.
func beyondRun(what string, behind int) string {
	text := "is not read: with it the run has more than " + what
	if behind > 0 {
		text += fmt.Sprintf("; the %d files after it are not read", behind)
	}
	return text + ": lint fewer files at a time"
}

// sortedPaths sorts by name.
func sortedPaths(all []Skipped) []Skipped {
	slices.SortStableFunc(all, func(a, b Skipped) int { return strings.Compare(a.File, b.File) })
	return all
}
