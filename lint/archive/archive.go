// Package archive reads gzipped tar archives that others made.
//
// Contract: Read hands over one entry after the other, files and directories, and reads
// to the very end, checksum included. Archives are hostile: an entry that is neither a
// file nor a directory is an error, such as a link, and bytes and entries are counted
// while they are read, headers and padding included. A file has the size that its header
// says.
//
// Non-goals: what names are good for. They are as the archive has them, and no path.
package archive

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Limits are what an archive may have at most: bytes once it is unpacked, entries, and
// bytes of one file.
type Limits struct {
	Bytes, File int64
	Entries     int
}

// Entry is a file or a directory.
type Entry struct {
	// Name is as the archive has it.
	Name string
	Dir  bool
	// Size is that of a file in bytes, and Text what is in it.
	Size int64
	Text io.Reader
}

// FormatError is what is no gzipped text at all.
type FormatError struct{ Err error }

func (e *FormatError) Error() string { return "not gzipped: " + e.Err.Error() }

func (e *FormatError) Unwrap() error { return e.Err }

// LimitError says which limit an archive exceeds, at an entry or, if that is "", as a
// whole.
type LimitError struct{ Entry, What string }

func (e *LimitError) Error() string { return "the archive " + e.What }

// KindError is an entry that is neither a file nor a directory.
type KindError struct{ Entry, Found string }

func (e *KindError) Error() string {
	return "found " + e.Found + "; expected files and folders only"
}

// Read hands over the entries of an archive until take gives an error, which is that of
// Read. Any other error is a FormatError, a LimitError, a KindError or what is wrong with
// the text.
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
			// what follows the last entry is read as well, for the checksum of gzip
			_, err = io.Copy(io.Discard, unpacked)
			return err
		case err != nil:
			return err
		case n >= most.Entries:
			return &LimitError{"", fmt.Sprintf("has more than %d entries", most.Entries)}
		case head.Typeflag == tar.TypeXGlobalHeader: // says of which commit git made the archive
			continue
		case head.Typeflag != tar.TypeReg && head.Typeflag != tar.TypeDir:
			return &KindError{head.Name, kindOf(head.Typeflag)}
		case head.Size > most.File:
			return &LimitError{head.Name, fmt.Sprintf("has a file of %d bytes; files are limited to %d", head.Size, most.File)}
		}
		if err := take(Entry{head.Name, head.Typeflag == tar.TypeDir, head.Size, archive}); err != nil {
			return err
		}
	}
}

// limited counts what is read, and fails beyond a limit.
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

// kindOf names what is in an archive and is no file.
func kindOf(flag byte) string {
	switch flag {
	case tar.TypeSymlink:
		return "a symbolic link"
	case tar.TypeLink:
		return "a hard link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a pipe"
	}
	return fmt.Sprintf("an entry of type %q", flag)
}
