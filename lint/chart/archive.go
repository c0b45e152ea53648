package chart

import (
	"bytes"
	"errors"
	"path"
	"strings"

	helmload "helm.sh/helm/v3/pkg/chart/loader"

	"github.com/schedlint/schedlint/lint/archive"
	"github.com/schedlint/schedlint/lint/limits"
)

// unpacked counts the files of a chart, archives unpacked.
type unpacked struct{ bytes, files limits.Counter }

// take counts a file.
func (u *unpacked) take(name string, size int) error {
	fits, few := u.bytes.Add(size), u.files.Add(1)
	switch {
	case size > limits.ChartFile:
		return limitAt(name, "the file has %d bytes; files of charts are limited to %d", size, limits.ChartFile)
	case !fits:
		return limitAt(name, "the files of the chart are limited to %d bytes in all", limits.ChartBytes)
	case !few:
		return limitAt(name, "the chart is limited to %d files", limits.ChartFiles)
	}
	return nil
}

// isArchive is whether Helm takes a file for a packed dependency: one that is directly in
// the charts/ of the chart or of a directory in charts/.
func isArchive(name string) bool {
	for {
		rest, ok := strings.CutPrefix(name, "charts/")
		if !ok || strings.IndexAny(rest, "_.") == 0 {
			return false
		}
		_, name, ok = strings.Cut(rest, "/")
		if !ok {
			return path.Ext(rest) == ".tgz"
		}
	}
}

// packed is an archive: what the names of its files begin with for Helm, and the name that
// people know.
type packed struct {
	inside, known string
	data          []byte
}

// insideOf is the directory that stands for a packed dependency.
func insideOf(name string) string { return strings.TrimSuffix(name, ".tgz") + ".unpacked/" }

// unpack adds the files of an archive as if it were a directory.
func (l *loader) unpack(p packed, left *unpacked, depth int) error {
	if depth > limits.ChartDepth {
		return limitAt(p.known, "archives in archives are limited to a depth of %d", limits.ChartDepth)
	}
	if err := weigh(p, *left); err != nil {
		return err
	}
	files, err := helmload.LoadArchiveFiles(bytes.NewReader(p.data))
	if err != nil {
		return unreadable(p, err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		known := p.known + ":" + f.Name
		if seen[f.Name] {
			return &Problem{File: known, Line: 1, Refused: true, Detail: "the archive has two files of this name"}
		}
		seen[f.Name] = true
		if err := left.take(known, len(f.Data)); err != nil {
			return err
		}
		if isArchive(f.Name) {
			err = l.unpack(packed{insideOf(p.inside + f.Name), known, f.Data}, left, depth+1)
		} else {
			l.keep(p.inside+f.Name, known, f.Data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func unreadable(p packed, err error) error {
	return &Problem{File: p.known, Line: 1, Detail: "the archive cannot be read: " + err.Error()}
}

// weigh reads an archive to its end without keeping anything, so that what is in it is
// known to be within the limits.
func weigh(p packed, left unpacked) error {
	most := archive.Limits{Bytes: limits.ChartBytes, File: limits.ChartFile, Entries: limits.ChartFiles}
	err := archive.Read(bytes.NewReader(p.data), most, func(e archive.Entry) error {
		return left.take(p.known+":"+e.Name, int(e.Size))
	})
	var own *Problem
	var limit *archive.LimitError
	var kind *archive.KindError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.As(err, &limit):
		at := p.known
		if limit.Entry != "" {
			at += ":" + limit.Entry
		}
		return limitAt(at, "%v", limit)
	case errors.As(err, &kind):
		return &Problem{File: p.known + ":" + kind.Entry, Line: 1, Refused: true, Detail: "the archive has an entry that is neither a file nor a directory: links in archives are not followed"}
	}
	return unreadable(p, err)
}
