// Package archive reads gzipped tar archives from untrusted sources.
//
// Contract: Read passes the files and directories of an archive to a function one by one. It reads
// to the very end and verifies the checksum. Archives may be hostile. An entry that is neither a
// file nor a directory, such as a link, is an error. Read counts entries and bytes, including
// headers and padding, while it reads them. A file has exactly the size that its header states.
//
// Non-goals: interpreting names. Read passes names on unchanged, so they are not safe to use as
// paths.
package archive

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Limits holds the maximum number of unpacked bytes in an archive, the maximum number of entries,
// and the maximum size of one file in bytes.
type Limits struct {
	Bytes, File int64
	Entries     int
}

// Entry is a file or a directory in an archive.
type Entry struct {
	// Name is the name in the archive, unchanged.
	Name string
	Dir  bool
	// Size is the size of a file in bytes, and Text is its content.
	Size int64
	Text io.Reader
}

// FormatError is returned for input that is not in gzip format.
type FormatError struct{ Err error }

func (e *FormatError) Error() string { return "not gzipped: " + e.Err.Error() }

func (e *FormatError) Unwrap() error { return e.Err }

// LimitError says which limit an archive exceeds. Entry is empty if the limit applies to the
// archive as a whole.
type LimitError struct{ Entry, What string }

func (e *LimitError) Error() string { return "the archive " + e.What }

// KindError is returned for an entry that is neither a file nor a directory.
type KindError struct{ Entry, Found string }

func (e *KindError) Error() string {
	return "found " + e.Found + "; expected files and folders only"
}

// Read calls take for each entry of an archive. If take returns an error, Read stops and returns
// that error. Any other error is a FormatError, a LimitError, a KindError or an error from reading
// the archive.
func Read(packed io.Reader, most Limits, take func(e Entry) error) error {
	zipped, err := gzip.NewReader(packed)
	if err != nil {
		return &FormatError{err}
	}
	unpacked := &limited{zipped, most.Bytes, most.Bytes}
	archive := tar.NewReader(unpacked)
	for n := 0; ; n++ {
		head, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			// read what follows the last entry, so that gzip verifies the checksum
			_, err = io.Copy(io.Discard, unpacked)
			return err
		case err != nil:
			return err
		case n >= most.Entries:
			return &LimitError{"", fmt.Sprintf("has more than %d entries", most.Entries)}
		case head.Typeflag == tar.TypeXGlobalHeader: // contains the commit from which git created the archive
			continue
		case head.Typeflag != tar.TypeReg && head.Typeflag != tar.TypeDir:
			return &KindError{head.Name, cmp.Or(kinds[head.Typeflag], fmt.Sprintf("an entry of type %q", head.Typeflag))}
		case head.Size > most.File:
			return &LimitError{head.Name, fmt.Sprintf("has a file of %d bytes; files are limited to %d", head.Size, most.File)}
		}
		if err := take(Entry{head.Name, head.Typeflag == tar.TypeDir, head.Size, archive}); err != nil {
			return err
		}
	}
}

// limited counts the bytes read from a reader and fails when there are too many.
type limited struct {
	from       io.Reader
	left, most int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, &LimitError{"", fmt.Sprintf("unpacks to more than %d MiB", l.most>>20)}
	}
	return n, err
}

// kinds names the types of entries that are neither files nor directories.
var kinds = map[byte]string{
	tar.TypeSymlink: "a symbolic link", tar.TypeLink: "a hard link", tar.TypeChar: "a device", tar.TypeBlock: "a device", tar.TypeFifo: "a pipe",
}
