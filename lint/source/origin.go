package source

import (
	"bytes"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Origin is where a rendered object was written, as the tool that rendered it
// says. Paths have forward slashes and lead out of nothing but upwards.
type Origin struct {
	// Path is the file of the object, from the directory that was rendered.
	Path string
	// ConfiguredIn is, instead, the file that configures what generated the
	// object; Generator and Name are the kind and the name of that.
	ConfiguredIn, Generator, Name string
	// Template is, instead, a template of a Helm chart; its first element is the
	// name of the chart.
	Template string
}

const (
	// originAnnotation is written by kustomize for buildMetadata: [originAnnotations].
	originAnnotation = "config.kubernetes.io/origin"
	// sourceComment is written by Helm above every object.
	sourceComment = "# Source: "
	// maxOrigin bounds what names an origin: no path is longer.
	maxOrigin = 4096
)

// MayHaveOrigins reports whether a text may hold objects with an origin.
func MayHaveOrigins(text []byte) bool {
	return bytes.Contains(text, []byte(originAnnotation)) || bytes.Contains(text, []byte(sourceComment))
}

// Origin is what the annotation of an object says. It counts only as a whole:
// one that is not what kustomize writes says nothing, and neither does one that
// names a repository elsewhere.
func (o *Object) Origin() (Origin, bool) {
	text := o.Root.At("metadata", "annotations", originAnnotation).Text()
	if text == "" || len(text) > maxOrigin {
		return Origin{}, false
	}
	roots := (&File{Text: []byte(text)}).Roots()
	if len(roots) != 1 || roots[0].Kind != Map {
		return Origin{}, false
	}
	var from Origin
	for k, v := range roots[0].Fields() {
		if k.Value == "configuredBy" && v.Kind == Map {
			from.Generator, from.Name = v.Get("kind").Text(), v.Get("name").Text()
			continue
		}
		to := map[string]*string{"path": &from.Path, "configuredIn": &from.ConfiguredIn}[k.Value]
		if to == nil || !localPath(v.Text()) {
			return Origin{}, false
		}
		*to = v.Text()
	}
	return from, (from.Path == "") != (from.ConfiguredIn == "")
}

// localPath reports whether a text can be a relative path: what names it comes
// from a file that anybody may have written.
func localPath(p string) bool {
	return p != "" && len(p) <= maxOrigin && utf8.ValidString(p) && !path.IsAbs(p) && !strings.ContainsFunc(p, unicode.IsControl)
}

// templateOf is the template that Helm names in the comments above a document,
// or "".
func templateOf(text []byte) string {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if rest, ok := bytes.CutPrefix(line, []byte(sourceComment)); ok {
			return template(string(rest))
		}
		if len(line) > 0 && line[0] != '#' && !bytes.HasPrefix(line, []byte("---")) {
			break
		}
	}
	return ""
}

// Templates are the templates that Helm names in comments of a text, each once, sorted.
func (f *File) Templates() (all []string) {
	if !bytes.Contains(f.Text, []byte(sourceComment)) {
		return nil
	}
	for line := range bytes.Lines(f.Text) {
		if rest, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte(sourceComment)); ok {
			if name := template(string(rest)); name != "" {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// template is a path that Helm may name, or "": any comment can begin like that.
func template(p string) string {
	_, file, ok := strings.Cut(p, "/")
	if !ok || !localPath(p) || path.Clean(p) != p || !worktree.Local(p) || !strings.Contains("/"+file, "/templates/") {
		return ""
	}
	return p
}

// Comments by which a text says that it was made from another one: helm names
// the template above each document that it renders, and generators ask people to
// keep their hands off.
var (
	helmSource = lazy.Regexp(`(?m)^# Source: [^\s:]+/(?:templates|charts|crds)/\S+\s*$`)
	doNotEdit  = lazy.Regexp(`(?mi)^[ \t]*#.*(?:\bdo not edit\b|@generated\b)`)
)

// Maker is what made a text from another one.
type Maker string

// The makers that a text can name.
const (
	MadeByKustomize Maker = "kustomize"
	MadeByHelm      Maker = "helm"
	MadeByGenerator Maker = "generator" // as a comment of the file says
	MadeByCluster   Maker = "cluster"   // the text is a copy out of one
)

// Made tells what the text of an object was made by, where it says so, as what
// is corrected there is lost when it is made again; "" if it says nothing.
func (o *Object) Made() Maker {
	meta := o.Root.Get("metadata")
	notes := meta.Get("annotations")
	switch {
	case notes.Get("config.kubernetes.io/origin") != nil || notes.Get("alpha.config.kubernetes.io/transformations") != nil:
		return MadeByKustomize
	case o.File.Maker() != "":
		return o.File.Maker()
	case meta.Get("uid") != nil || meta.Get("resourceVersion") != nil:
		return MadeByCluster
	}
	return ""
}

// Maker tells what made the whole file, where its comments say so; "" if they do not.
func (f *File) Maker() Maker {
	f.made.Do(func() {
		switch {
		case helmSource().Match(f.Text):
			f.maker = MadeByHelm
		case doNotEdit().Match(opening(f.Text)):
			f.maker = MadeByGenerator
		}
	})
	return f.maker
}

// opening is the comment with which a text begins.
func opening(text []byte) []byte {
	at := 0
	for line := range bytes.Lines(text) {
		word := bytes.TrimSpace(bytes.TrimPrefix(line, byteOrderMark))
		if len(word) > 0 && word[0] != '#' && !bytes.HasPrefix(word, []byte("---")) {
			break
		}
		at += len(line)
	}
	return text[:at]
}
