package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
)

// Options say what to read and how. Dir and Root are absolute.
type Options struct {
	// Dir is the working directory, to which relative paths belong; Root is the
	// repository root, from which files are named.
	Dir, Root string
	// Ignore declines files and directories by their name from the root; nil
	// declines none.
	Ignore func(name string) bool
	// Tracked says of a file, a link or a directory, by its absolute path without
	// symbolic links above it, whether it or something in it belongs to what is
	// looked at; what does not is left out and counted. Nil takes everything.
	Tracked func(path string) bool
	// Keep says which objects will be looked at; nil keeps all.
	Keep func(apiVersion, kind string) bool
	// Drop names fields whose values, maps and lists, nobody will look into: they
	// are checked like the rest and then left out.
	Drop func(field string) bool
	// Strict makes every text that does not parse a problem, but for templates: for
	// files that are named as what they are, such as a configuration. Else only what
	// was meant to be a manifest is one.
	Strict bool
	// Stdin is read for the path "-".
	Stdin io.Reader
	// Overlay gives the text of a file, by its name from the root, in place of what
	// is there; nil gives none.
	Overlay func(name string) (text []byte, ok bool)
	// MaxBytes bounds one file; 0 means 64 MiB.
	MaxBytes int64

	bounds bounds // in place of the defaults
	// memories holds each *memory that no reader is using; nil if there is but one text.
	memories *sync.Pool
	// shelf holds documents that are read again; nil if none are.
	shelf *shelf
}

// most are the bounds that count.
func (o *Options) most() bounds {
	if o.bounds != (bounds{}) {
		return o.bounds
	}
	return defaultBounds()
}

// lend gives memory that nobody else uses until it is taken back.
func (o *Options) lend() *memory {
	if o.memories == nil {
		return newMemory()
	}
	return o.memories.Get().(*memory)
}

// foldable is where an object can be read again that is a document; nil if it cannot.
func (o *Options) foldable(of *Object, at extent) *foldable {
	if length := at.end - at.start; o.shelf == nil || length == 0 || length > maxFolded || bytes.HasPrefix(of.File.Text, byteOrderMark) {
		return nil
	}
	return &foldable{file: of.File, extent: at, shelf: o.shelf, of: of, root: of.Root}
}

func (o *Options) takeBack(m *memory) {
	if o.memories != nil {
		o.memories.Put(m)
	}
}

// Load reads the paths: files, directories and - for standard input. The error
// joins everything that is wrong with the paths themselves, such as one that
// does not exist; the Set then holds what could be read all the same.
func Load(opts Options, paths []string) (*Set, error) {
	if opts.MaxBytes == 0 {
		opts.MaxBytes = int64(opts.most().file.bytes)
	}
	if opts.Keep == nil {
		opts.Keep = func(string, string) bool { return true }
	}
	if opts.Drop == nil {
		opts.Drop = func(string) bool { return false }
	}
	if opts.Tracked == nil {
		opts.Tracked = func(string) bool { return true }
	}
	opts.memories = &sync.Pool{New: func() any { return newMemory() }}
	opts.shelf = newShelf(opts.Keep, opts.Drop)
	w := newWalker(opts)
	w.collect(paths)
	slices.SortFunc(w.found, func(a, b found) int { return strings.Compare(a.name, b.name) })
	results, left := readAll(w.found, opts)
	set := join(results)
	set.Untracked = slices.Sorted(slices.Values(w.untracked))
	set.Unread = sortedPaths(append(w.unreadPaths(), left...))
	return set, errors.Join(w.errs...)
}

// smallTree is how much text one worker reads alone: threads that share caches
// and a memory bus cost more processor time than a short run gains from them.
const smallTree = 16 << 20

func workers(files []found) int {
	var sum int64
	for _, f := range files {
		sum += f.size
	}
	if sum < smallTree {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

// forEach runs f for every index by some workers; results go to their own
// slots, so the order of the output does not depend on timing. A panic of f is
// the caller's.
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

// result is what one file holds.
type result struct {
	file      *File
	objects   []*Object
	problems  []Problem
	skipped   []Skipped
	patches   []string // files that this kustomization names as patches
	documents int
	plain     *Node // the first document that is no object
	merging   bool  // there may be directives of patches
	sum       tally
}

// read reads and parses one file.
func (f found) read(opts Options) result {
	r := result{file: &File{Name: f.name, Display: f.display}}
	if f.problem != "" {
		return r.unreadable(f.problem)
	}
	text, err := f.text(opts)
	if err != nil {
		return r.unreadable(err.Error())
	}
	r.file.setText(text)
	r.parse(opts)
	return r
}

func (r result) unreadable(why string) result {
	r.problems = append(r.problems, Problem{Kind: Unreadable, Detail: why, Span: diag.Span{File: r.file.Name, Line: 1, Column: 1, EndLine: 1, EndColumn: 1}})
	return r
}

func (f found) text(opts Options) ([]byte, error) {
	if opts.Overlay != nil {
		if text, ok := opts.Overlay(f.name); ok {
			return text, nil
		}
	}
	in := opts.Stdin
	if f.path != "" {
		file, err := os.Open(f.path)
		if err != nil {
			return nil, errors.New("cannot be opened: " + reason(err))
		}
		defer file.Close()
		in = file
	}
	text, err := readText(in, min(f.size, opts.MaxBytes), opts.MaxBytes)
	switch {
	case err != nil:
		return nil, errors.New("cannot be read: " + reason(err))
	case int64(len(text)) > opts.MaxBytes:
		return nil, fmt.Errorf("is larger than %d MiB", opts.MaxBytes>>20)
	}
	return text, nil
}

// readText reads a text of a likely size, and of at most one byte more than the largest.
// A text of that size has no room behind it: all texts are kept to the end of the run.
func readText(in io.Reader, size, most int64) ([]byte, error) {
	text := make([]byte, 0, size+1)
	for in = io.LimitReader(in, most+1); ; {
		n, err := in.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case err == io.EOF:
			return text, nil
		case err != nil:
			return nil, err
		case len(text) == cap(text):
			text = slices.Grow(text, bytes.MinRead)
		}
	}
}

// reason is an error without the path that the caller names anyway.
func reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// parse fills the result from the text of the file.
func (r *result) parse(opts Options) {
	text := r.file.Text
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		r.unparsable(text)
		return
	}
	if r.merging = hasDirectives(text); r.merging {
		opts.Drop = nil // a directive may stand anywhere
	}
	got := read(text, opts)
	r.sum = got.sum
	most := opts.most().file
	for _, e := range got.errs {
		if len(r.problems) < most.problems {
			r.problem(e)
		}
	}
	for _, d := range got.docs {
		if r.document(d, opts); r.file.refused {
			return
		}
	}
	r.sum.suppressions = bytes.Count(text, []byte(directiveMark)) + bytes.Count(text, []byte(annotationMark))
	switch what := r.sum.beyond(opts.most().file.of(text)); {
	case got.over != nil:
		r.refuse(*got.over, opts.Strict)
	case what != "":
		r.refuse(tooMuch(what, 1), opts.Strict)
	}
}

// read reads one text, which is JSON if it can be.
func read(text []byte, opts Options) contents {
	if looksLikeJSON(text) {
		return parseJSON(text, opts.most().file.of(text))
	}
	return parseYAML(text, opts)
}

// documents are those of one text, and what is wrong with it.
func documents(text []byte, opts Options) ([]document, []textError) {
	got := read(text, opts)
	if got.over != nil {
		return nil, append(got.errs, *got.over)
	}
	return got.docs, got.errs
}

// refuse leaves out a file in whole. JSON without a sign of a manifest is somebody's
// data, as a list of records may be, and no mistake.
func (r *result) refuse(why textError, strict bool) {
	if !strict && opensJSON(r.file.Text) && len(r.objects)+len(r.problems) == 0 && !mentionsManifest(r.file.Text) {
		why.skip = SkipLarge
	}
	why.line = min(why.line, r.file.LineCount()) // behind the last separator is no line
	r.file.refused = true
	r.objects, r.patches, r.plain, r.skipped = nil, nil, nil, nil
	r.problem(why)
}

// unparsable reports the first byte that no text has.
func (r *result) unparsable(text []byte) {
	line := 1
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		if c == 0 || c == utf8.RuneError && size == 1 {
			break
		}
		if c == '\n' {
			line++
		}
		text = text[size:]
	}
	r.documents++
	r.problems = append(r.problems, Problem{Kind: Unreadable, Detail: misread(r.file.Text), Span: diag.Span{File: r.file.Name, Line: line, Column: 1, EndLine: line, EndColumn: 1}})
}

func (r *result) problem(e textError) {
	if e.skip != "" {
		r.skip(e.skip, e.line)
		return
	}
	span := diag.Span{File: r.file.Name, Line: e.line, Column: e.column, EndLine: e.line, EndColumn: e.column + 1}
	if e.problem == Unparsable {
		span = r.file.LineSpan(e.line)
	}
	p := Problem{Kind: e.problem, Detail: e.detail, Span: span}
	if e.problem == DuplicateKey {
		p.Span, p.First = r.file.Span(e.key), r.file.Span(e.first)
	}
	r.problems = append(r.problems, p)
}

func (r *result) skip(reason string, line int) {
	r.skipped = append(r.skipped, Skipped{Reason: reason, File: r.file.Name, Line: line})
}

func (r *result) document(d document, opts Options) {
	if d.root == nil { // reported as a problem
		r.documents++
		return
	}
	if d.root.IsNull() { // an empty document, as after a closing ---
		return
	}
	r.documents++
	reason := recognise(r.file, d)
	if reason == SkipKustomization {
		for _, p := range patchPaths(d.root) {
			r.patches = append(r.patches, path.Join(path.Dir(r.file.Name), p))
		}
	}
	if reason != "" {
		if r.plain == nil {
			r.plain = d.root
		}
		r.skip(reason, d.line)
		return
	}
	flatten(r.file, d.root, scalarValue(d.root.Get("apiVersion")), scalarValue(d.root.Get("kind")), func(o *Object) bool {
		if o.Root != d.root {
			r.sum.documents++
			if most := opts.most().file; r.sum.documents > most.documents {
				r.refuse(tooMuch(r.sum.beyond(most), int(o.Root.Line)), opts.Strict)
				return false
			}
		}
		if reason := passedOver(o, r.merging); reason != "" {
			if r.plain == nil && reason == SkipNoObject {
				r.plain = o.Root
			}
			r.skip(reason, int(max(o.Root.Line, 1)))
			return true
		}
		if o.Root == d.root && !r.merging {
			o.text = opts.foldable(o, d.extent)
		}
		r.objects = append(r.objects, o)
		return true
	})
}

// join puts the files together in the order of their names, and drops those
// that some kustomization names as patches.
func join(results []result) *Set {
	patches := map[string]bool{}
	for _, r := range results {
		for _, p := range r.patches {
			patches[p] = true
		}
	}
	s := &Set{}
	if len(results) > 0 {
		s.plain = results[0].plain
	}
	for _, r := range results {
		s.Files = append(s.Files, r.file)
		s.Problems = append(s.Problems, r.problems...)
		s.Skipped = append(s.Skipped, r.skipped...)
		s.Documents += r.documents
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
