// Package archive reads gzipped tar archives from untrusted sources.
//
// Contract: Read passes on one entry after the other, files and directories, and reads to the
// very end, including the checksum. Archives are hostile: an entry that is neither a file nor a
// directory, such as a link, is an error, and bytes and entries are counted while they are
// read, including headers and padding. A file has the size that its header says.
//
// Non-goals: interpreting names. They are as the archive has them, and not safe as paths.
package archive

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Limits are the maximum for an archive: bytes once it is unpacked, entries, and bytes of one
// file.
type Limits struct {
	Bytes, File int64
	Entries     int
}

// Entry is a file or a directory.
type Entry struct {
	// Name is as the archive has it.
	Name string
	Dir  bool
	// Size is the size of a file in bytes, and Text its contents.
	Size int64
	Text io.Reader
}

// FormatError is returned for a text that is not gzipped.
type FormatError struct{ Err error }

func (e *FormatError) Error() string { return "not gzipped: " + e.Err.Error() }

func (e *FormatError) Unwrap() error { return e.Err }

// LimitError says which limit an archive exceeds. Entry is "" if no single entry does.
type LimitError struct{ Entry, What string }

func (e *LimitError) Error() string { return "the archive " + e.What }

// KindError is returned for an entry that is neither a file nor a directory.
type KindError struct{ Entry, Found string }

func (e *KindError) Error() string {
	return "found " + e.Found + "; expected files and folders only"
}

// Read calls take with the entries of an archive until take returns an error, which Read
// returns. Any other error is a FormatError, a LimitError, a KindError or an error in the text.
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
			// reads what follows the last entry, so that gzip verifies the checksum
			_, err = io.Copy(io.Discard, unpacked)
			return err
		case err != nil:
			return err
		case n >= most.Entries:
			return &LimitError{"", fmt.Sprintf("has more than %d entries", most.Entries)}
		case head.Typeflag == tar.TypeXGlobalHeader: // says from which commit git made the archive
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

// limited counts the bytes read, and fails beyond a limit.
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

// kinds are entries that are neither a file nor a directory.
var kinds = map[byte]string{
	tar.TypeSymlink: "a symbolic link", tar.TypeLink: "a hard link", tar.TypeChar: "a device", tar.TypeBlock: "a device", tar.TypeFifo: "a pipe",
}
