package source

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/worktree"
)

// result holds everything that was read from one file.
type result struct {
	file      *File
	objects   []*Object
	problems  []Problem
	skipped   []Skipped
	patches   []string // files that the kustomization uses as patches
	charts    []string // directories of charts that the kustomization renders
	merged    []string // values files that the kustomization merges with inline values
	documents int
	plain     *Node // the first document that is not an object
	merging   bool  // the file may contain patch directives
	printed   bool  // the file is a render, in which every repeated key is a mistake
	// placeholders lists the placeholders that a YAML parser would treat as syntax.
	placeholders []string
	sum          limits.Cost
}

// read reads and parses one file.
func (f found) read(opts Options) result {
	r := result{file: &File{Name: f.name, Display: f.display}}
	if f.problem != "" {
		r.unreadable(f.problem, 1)
	} else if text, err := f.text(opts); err != nil {
		r.unreadable(err.Error(), 1)
	} else {
		r.file.setText(text)
		r.parse(opts)
	}
	return r
}

func (r *result) unreadable(why string, line int) {
	r.problems = append(r.problems, Problem{Kind: Unreadable, Detail: why, Span: diag.Span{File: r.file.Name, Line: line, Column: 1, EndLine: line, EndColumn: 1}})
}

func (f found) text(opts Options) ([]byte, error) {
	if _, old := opts.Tree.Name(f.path); opts.Overlay != nil && !old {
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
	text, err := worktree.ReadSized(in, min(f.size, opts.MaxBytes), opts.MaxBytes) // kept until the end of the run
	switch {
	case err != nil:
		return nil, errors.New("cannot be read: " + reason(err))
	case int64(len(text)) > opts.MaxBytes:
		return nil, fmt.Errorf("is larger than %d MiB", opts.MaxBytes>>20)
	}
	return text, nil
}

// reason returns the message of an error without the path, because the caller adds the path.
func reason(err error) string {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// parse parses the text of the file into r.
func (r *result) parse(opts Options) {
	text := r.file.Text
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		r.documents++
		if !opts.Strict && (bytes.HasPrefix(text, []byte("\x00GITCRYPT\x00")) || bytes.HasPrefix(text, []byte("age-encryption.org/"))) {
			r.skip(SkipEncrypted, 1)
			return
		}
		r.unparsable(text)
		return
	}
	r.merging = bytes.IndexByte(text, '$') >= 0 && slices.ContainsFunc(directives, func(d string) bool { return bytes.Contains(text, []byte(d)) })
	if r.merging {
		opts.Drop = nil // a patch directive may be anywhere
	}
	got := read(text, opts)
	r.sum, r.placeholders = got.sum, got.placeholders
	most := opts.mostOf(text)
	meant := sync.OnceValue(func() bool { return meansManifest(text) })
	for i := range got.errs {
		e := &got.errs[i]
		if e.problem == DuplicateKey && !opts.Strict {
			known := e.doc < len(got.docs) && got.docs[e.doc].root != nil
			if known && !r.printed && !r.repeats(&got.docs[e.doc], e) || !known && !meant() {
				continue
			}
		}
		if len(r.problems) < most.Problems {
			r.problem(*e)
		}
	}
	for _, d := range got.docs {
		if r.document(d, opts); r.file.refused {
			return
		}
	}
	r.sum.Suppressions = bytes.Count(text, []byte(directiveMark)) + bytes.Count(text, []byte(annotationMark))
	switch what := r.sum.Beyond(most); {
	case got.over != nil:
		r.refuse(*got.over, opts.Strict)
	case what != "":
		r.refuse(tooMuch("more than "+what, 1), opts.Strict)
	}
}

// read parses text as JSON if possible, and otherwise as YAML.
func read(text []byte, opts Options) contents {
	if looksLikeJSON(text) {
		return parseJSON(text, opts.mostOf(text))
	}
	return parseYAML(text, opts)
}

// documents returns the documents in the text and the errors found in it.
func documents(text []byte, opts Options) ([]document, []textError) {
	got := read(text, opts)
	if got.over != nil {
		return nil, append(got.errs, *got.over)
	}
	return got.docs, got.errs
}

// refuse leaves out a whole file. JSON without any sign of a manifest is treated as data, not as a
// mistake.
func (r *result) refuse(why textError, strict bool) {
	if !strict && opensJSON(r.file.Text) && len(r.objects)+len(r.problems) == 0 && !manifestMention().Match(r.file.Text) {
		why.skip = SkipLarge
	}
	why.line = min(why.line, r.file.LineCount()) // there is no line after the last separator
	r.file.refused = true
	r.objects, r.patches, r.plain, r.skipped = nil, nil, nil, nil
	r.problem(why)
}

// unparsable reports the position of the first invalid byte in the text.
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
	why := "is not UTF-8 text"
	for _, e := range byteOrders {
		if bytes.HasPrefix(r.file.Text, e.mark) {
			why = "is not valid UTF-16 text"
		}
	}
	r.unreadable(why, line)
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
	p := Problem{Kind: e.problem, Detail: e.detail, Span: span, LastCounts: e.lastCounts}
	if e.problem == DuplicateKey {
		p.Span, p.First = r.file.Span(e.key), r.file.Span(e.first)
	}
	r.problems = append(r.problems, p)
}

// repeats reports whether a repeated key is a mistake. Repeated keys are allowed in plain data and
// in the settings of other tools.
func (r *result) repeats(d *document, e *textError) bool {
	switch recognise(r.file, *d) {
	case SkipHelmValues, SkipHelmChart:
		e.lastCounts = true
		return true
	case "":
		return !d.root.Get("kind").IsNull() && !d.root.Get("apiVersion").IsNull()
	case SkipKustomization, SkipConfig:
		return true
	}
	return false
}

func (r *result) skip(reason string, line int) {
	r.skipped = append(r.skipped, Skipped{Reason: reason, File: r.file.Name, Line: line})
}

func (r *result) document(d document, opts Options) {
	if d.root == nil { // already reported as a problem
		r.documents++
		return
	}
	if d.root.IsNull() { // an empty document, such as one after a closing ---
		return
	}
	r.documents++
	reason := recognise(r.file, d)
	if reason == SkipKustomization {
		add := func(to *[]string, names []string) {
			for _, name := range names {
				*to = append(*to, path.Join(path.Dir(r.file.Name), name))
			}
		}
		charts, merged := inflated(d.root)
		add(&r.patches, patchPaths(d.root))
		add(&r.charts, charts)
		add(&r.merged, merged)
	}
	if reason != "" {
		if r.plain == nil {
			r.plain = d.root
		}
		r.skip(reason, d.line)
		return
	}
	apiVersion, kind := scalarValue(d.root.Get("apiVersion")), scalarValue(d.root.Get("kind"))
	if kind == "" && opts.Kindless != nil {
		apiVersion, kind = opts.Kindless(d.root)
	}
	flatten(r.file, d.root, apiVersion, kind, func(o *Object) bool {
		if o.Root != d.root {
			r.sum.Documents++
			if most := opts.mostOf(r.file.Text); r.sum.Documents > most.Documents {
				r.refuse(tooMuch("more than "+r.sum.Beyond(most), int(o.Root.Line)), opts.Strict)
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
