package source

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Options holds the input of Load. Dir and Root are absolute.
type Options struct {
	// Dir is the working directory, against which relative paths are resolved. Root is the root of
	// the repository, and file names are relative to it.
	Dir, Root string
	// Tree holds files of another revision, which have the names that they have in the repository.
	Tree Tree
	// Ignore reports whether to skip a file or a directory, given its name relative to the root. Nil
	// skips nothing.
	Ignore func(name string) bool
	// OwnOnly skips the directories in which package managers keep third-party files: node_modules,
	// and vendor if it contains modules.txt. Load still reads such a directory if a path or a link
	// leads into it.
	OwnOnly bool
	// Tracked reports whether a file, link or directory belongs to the input. It also returns true
	// for a directory that contains part of the input. The argument is an absolute path. Only its
	// last component may be a symbolic link. Load leaves out untracked files and lists them in
	// Set.Untracked. Nil accepts everything.
	Tracked func(path string) bool
	// Keep reports whether objects of a kind are needed. Nil keeps all objects.
	Keep func(apiVersion, kind string) bool
	// Kindless returns the apiVersion and kind of a document that has no kind but counts as an
	// object. Nil means that there are none.
	Kindless func(root *Node) (apiVersion, kind string)
	// Drop reports whether to leave out the contents of a map or list in the given field. They are
	// still checked.
	Drop func(field string) bool
	// If Strict is set, every document that does not parse is a problem, except for templates and
	// excerpts. Use Strict for files with a known purpose, such as a configuration. Without Strict,
	// only a document that was meant to be a manifest is a problem.
	Strict bool
	// Stdin is read for the path "-".
	Stdin io.Reader
	// Overlay returns replacement text for a file that is not in Tree, given its name relative to the
	// root. Nil replaces nothing.
	Overlay func(name string) (text []byte, ok bool)
	// MaxBytes is the maximum size of a file. 0 means 64 MiB.
	MaxBytes int64

	file, run *limits.Cost // override limits.File and limits.Run
	// memories holds *memory values for reuse. It is nil if only one text is parsed.
	memories *sync.Pool
	// shelf caches documents that are parsed again. It is nil if objects are never folded.
	shelf *shelf
}

// Tree is a directory with the files of a revision. Display returns the name of one of them for
// people. In the zero Tree there is no file.
type Tree struct {
	Dir     string
	Display func(name string) string
}

// Name returns the name of a file in the tree. ok is false if an absolute path is not in it.
func (t *Tree) Name(path string) (name string, ok bool) {
	if t.Dir == "" {
		return "", false
	}
	name, ok = worktree.Below(t.Dir, path)
	return filepath.ToSlash(name), ok
}

// takeAll replaces a nil Keep or Drop with a function that keeps everything.
func (o *Options) takeAll() {
	if o.Keep == nil {
		o.Keep = func(string, string) bool { return true }
	}
	if o.Drop == nil {
		o.Drop = func(string) bool { return false }
	}
}

// foldable returns the document from which an object can be parsed again, or nil. The object must
// be the whole document.
func (o *Options) foldable(of *Object, at extent) *foldable {
	if length := at.end - at.start; o.shelf == nil || length == 0 || length > maxFolded || bytes.HasPrefix(of.File.Text, byteOrderMark) {
		return nil
	}
	return &foldable{file: of.File, extent: at, shelf: o.shelf, of: of, root: of.Root}
}

// Load reads the given files and directories. The path "-" means standard input. The returned error
// joins all errors in the arguments, such as paths that do not exist. Even then, the Set is valid
// and holds everything that could be read.
func Load(opts Options, paths []string) (*Set, error) {
	if opts.MaxBytes == 0 {
		opts.MaxBytes = int64(cmp.Or(opts.file, &limits.File).Bytes)
	}
	opts.takeAll()
	if opts.Tracked == nil {
		opts.Tracked = func(string) bool { return true }
	}
	opts.memories = &sync.Pool{New: func() any { return newMemory() }}
	opts.shelf = newShelf(opts.Keep, opts.Drop)
	w := newWalker(opts)
	w.collect(paths)
	sorting.Stable(w.found, func(a, b found) int { return strings.Compare(a.name, b.name) })
	results, left := readAll(w.found, opts)
	set := join(results)
	set.Untracked = slices.Sorted(slices.Values(w.untracked))
	set.Unread = append(w.unreadPaths(), left...)
	sorting.Stable(set.Unread, func(a, b Skipped) int { return strings.Compare(a.File, b.File) })
	return set, errors.Join(w.errs...)
}

// smallTree is the total input size, in bytes, up to which a single worker reads all files. In a
// short run, parallel workers would save little time and use more CPU time.
const smallTree = 16 << 20

// forEach calls f for every index below n, using several workers. If f stores each result at its
// index, timing does not affect the order of the output. A panic in f is passed on to the caller.
func forEach(n, workers int, f func(i int)) {
	var next int
	var mu sync.Mutex
	var wg sync.WaitGroup
	var panicked any
	for range min(n, workers) {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					mu.Lock()
					defer mu.Unlock()
					panicked = p
				}
			}()
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	wg.Wait()
	if panicked != nil {
		panic(panicked)
	}
}

// join merges results, which must be sorted by file name. It drops the objects in files that a
// kustomization uses as patches.
func join(results []result) *Set {
	s := &Set{Placeholders: map[string][]string{}, Inflated: map[string]bool{}}
	patches, merged := map[string]bool{}, map[string]bool{}
	for _, r := range results {
		for _, p := range r.patches {
			patches[p] = true
		}
		for _, p := range r.merged {
			merged[p] = true
		}
		for _, p := range r.charts {
			s.Inflated[p] = true
		}
	}
	if len(results) > 0 {
		s.plain = results[0].plain
	}
	for _, r := range results {
		s.Files = append(s.Files, r.file)
		for _, p := range r.problems {
			p.LastCounts = p.LastCounts && !merged[r.file.Name]
			s.Problems = append(s.Problems, p)
		}
		s.Skipped = append(s.Skipped, r.skipped...)
		s.Documents += r.documents
		if len(r.placeholders) > 0 {
			s.Placeholders[r.file.Name] = r.placeholders
		}
		if !patches[r.file.Name] {
			s.Objects = append(s.Objects, r.objects...)
			continue
		}
		for _, o := range r.objects {
			s.Skipped = append(s.Skipped, Skipped{Reason: SkipPatch, File: r.file.Name, Line: int(o.Root.Line)})
		}
	}
	return s
}

// LoadText reads text that is not in a file, such as a render. Positions in the text use name as
// the file name.
func LoadText(opts Options, name string, text []byte) *Set {
	opts.takeAll()
	r := result{file: NewFile(name, name, text), printed: true}
	r.parse(opts)
	return join([]result{r})
}

// batchBytes and batchFiles limit how much is read before the limits of the run are checked again.
const (
	batchBytes = 64 << 20
	batchFiles = 10_000
)

// readAll reads files in order, up to the limits of the run. The first file that exceeds a limit is
// reported as a problem. This file and all later files are left out.
func readAll(files []found, opts Options) (results []result, left []Skipped) {
	var size int64
	for _, f := range files {
		size += f.size
	}
	threads := 1
	if size >= smallTree {
		threads = runtime.GOMAXPROCS(0)
	}
	most := cmp.Or(opts.run, &limits.Run)
	var sum limits.Cost
	for len(files) > 0 {
		n, size := 0, int64(0)
		for ; n < min(len(files), batchFiles) && size < batchBytes; n++ {
			size += files[n].size
		}
		batch := make([]result, n)
		forEach(len(batch), threads, func(i int) { batch[i] = files[i].read(opts) })
		for i := range batch {
			r := &batch[i]
			r.sum.Bytes, r.sum.Problems = len(r.file.Text), len(r.problems)
			if len(r.objects) == 0 {
				r.sum.Values = 0 // values are not kept
			}
			sum = sum.Plus(r.sum)
			what := sum.Beyond(*most)
			if what == "" {
				if len(results) > 0 {
					r.plain = nil // only the first file's is needed
				}
				results = append(results, *r)
				continue
			}
			for j, f := range files[i:] {
				last := result{file: &File{Name: f.name, Display: f.display, refused: true}}
				if j == 0 {
					why := "is not read: with it the run has more than " + what
					if behind := len(files[i:]) - 1; behind > 0 {
						why += fmt.Sprintf("; the %d files after it are not read", behind)
					}
					last.problem(textError{problem: Unreadable, line: 1, detail: why + ": lint fewer files at a time"})
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

// mostOf returns the limits for a file with the given text.
func (o *Options) mostOf(text []byte) limits.Cost {
	most := *cmp.Or(o.file, &limits.File)
	most.Values = min(most.Values, max(limits.DenseValues, len(text)/limits.BytesPerValue))
	return most
}

// tooMuch returns the error for a file that exceeds a limit.
func tooMuch(what string, line int) textError {
	return textError{problem: Unreadable, line: max(line, 1), column: 1, detail: "has " + what + ", so it is not checked: split it"}
}

// crowded returns the first line on which the text may exceed the maximum number of values. The
// parser needs hundreds of bytes per value, so it must not receive such a text. crowded counts line
// breaks and structural characters, because every value begins after one of them. The count may be
// too high, because block scalars can contain these characters too.
func crowded(text []byte, values int) (line int, ok bool) {
	if len(text) <= values {
		return 0, false
	}
	n := 0
	for i, c := range text {
		switch c {
		case '\n', '\r', ',', ':', '[', '{':
			n++
		case '-', '?':
			if i+1 == len(text) || bytes.IndexByte(inWords, text[i+1]) < 0 {
				n++
			}
		}
		if n > values {
			return 1 + bytes.Count(text[:i], []byte("\n")), true
		}
	}
	return 0, false
}

// inWords lists the characters that make a preceding dash or question mark part of a word.
var inWords = []byte("-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz")
