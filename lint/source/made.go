package source

import (
	"bytes"

	"github.com/schedlint/schedlint/lint/lazy"
)

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
	case o.File.madeBy() != "":
		return o.File.madeBy()
	case meta.Get("uid") != nil || meta.Get("resourceVersion") != nil:
		return MadeByCluster
	}
	return ""
}

// Maker tells what made the whole file, where its comments say so; "" if they do not.
func (f *File) Maker() Maker { return f.madeBy() }

// madeBy tells what made the whole file, where its comments say so.
func (f *File) madeBy() Maker {
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
