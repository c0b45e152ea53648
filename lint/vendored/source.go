package vendored

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/archive"
	"github.com/schedlint/schedlint/lint/sorting"
)

// Limits for sources. A large collection of rules consists of hundreds of files of a few KiB each.
const (
	maxEntries  = 10_000
	maxPacked   = 32 << 20 // bytes of a packed archive
	maxUnpacked = 64 << 20 // bytes in an unpacked archive, or in a folder's kept files
	maxFile     = 1 << 20  // bytes in a kept file
)

// File is a file in a source. Its name is relative to the folder and has forward slashes.
type File struct {
	Name string
	Text []byte
}

// Source holds the files from a folder or an archive.
type Source struct {
	// Given is the source's name as written to the lock.
	Given string
	// Archive is the SHA-256 of the archive in hexadecimal digits, or empty for a folder.
	Archive string
	// Files holds the files to copy, sorted by name.
	Files []File
	// Left lists everything that is not copied, in sorted order. A hidden folder is listed as a
	// whole, with a trailing slash.
	Left []string
}

// Open reads a folder or an archive. Its errors name what it found and what it expected.
func Open(name string) (*Source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	given := name // excludes the parts of the path that exist only on this machine
	if filepath.IsAbs(name) {
		given = filepath.Base(name)
	}
	s := &Source{Given: filepath.ToSlash(filepath.Clean(given))}
	if info.IsDir() {
		err = s.folder(name)
	} else {
		err = s.archive(name)
	}
	rule := func(f File) bool { return path.Ext(f.Name) == ".rego" && !strings.HasSuffix(f.Name, "_test.rego") } // a rule or a library
	if err == nil && !slices.ContainsFunc(s.Files, rule) {
		err = errors.New("it contains no rule; a rule is a file such as <id>/rule.rego")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.ToSlash(name), err)
	}
	sorting.Stable(s.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(s.Left)
	return s, nil
}

// archive reads an archive and computes its digest.
func (s *Source) archive(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	packed, err := io.ReadAll(io.LimitReader(file, maxPacked+1))
	if err != nil {
		return err
	}
	if len(packed) > maxPacked {
		return fmt.Errorf("the archive is larger than %d MiB", maxPacked>>20)
	}
	s.Archive = SHA256(packed)
	entries, err := unpack(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	for _, e := range arranged(entries) {
		s.take(e)
	}
	return nil
}

// take adds an entry to Files or to Left.
func (s *Source) take(e entry) {
	if e.kept {
		s.Files = append(s.Files, File{e.name, e.text})
	} else {
		s.Left = append(s.Left, e.name)
	}
}

// SHA256 returns a digest in hexadecimal digits.
func SHA256(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// beside matches the names of files that are copied but that no rule needs.
var beside = regexp.MustCompile(`^(?i:readme|licen[cs]e|copying)(\.[A-Za-z]+)?$`)

// Keeps reports whether a file is copied. Rules, libraries, tests, fixtures, READMEs and licenses
// are copied unless they are hidden. name has forward slashes.
func Keeps(name string) bool {
	return counts(name) && !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.")
}

// counts reports whether a file can be part of the rules or is copied with them.
func counts(name string) bool {
	fixture := strings.Contains("/"+path.Dir(name)+"/", "/fixtures/") &&
		slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
	return path.Base(name) != LockName && (path.Ext(name) == ".rego" || fixture || beside.MatchString(path.Base(name)))
}

// entry is a file of a source. text is set only if the file is kept.
type entry struct {
	name string
	kept bool
	text []byte
}

// unpack returns the files in an archive.
func unpack(packed io.Reader) ([]entry, error) {
	var entries []entry
	all, count, bundle := names{}, 0, false
	add := func(from archive.Entry) error {
		// A bundle written by OPA begins with the manifest, and all names in it begin with a slash.
		count++
		bundle = bundle || count == 1 && from.Name == "/.manifest"
		name := from.Name
		if bundle {
			name = strings.TrimPrefix(name, "/")
		}
		for strings.HasPrefix(name, "./") {
			name = name[2:]
		}
		name = strings.TrimSuffix(name, "/")
		if name == "" || name == "." { // the root of the archive
			if !from.Dir {
				return errors.New("the name is empty")
			}
			return nil
		}
		if err := CheckName(name); err != nil || from.Dir {
			return err
		}
		e := entry{name: name, kept: Keeps(name)}
		if e.kept {
			var err error
			if e.text, err = readFile(from.Text, maxFile); err != nil {
				return err
			}
		}
		entries = append(entries, e)
		return all.add(name)
	}
	most := archive.Limits{Bytes: maxUnpacked, File: maxUnpacked, Entries: maxEntries}
	var refused error
	err := archive.Read(packed, most, func(e archive.Entry) error {
		if err := add(e); err != nil {
			refused = fmt.Errorf("entry %q: %w", e.Name, err)
		}
		return refused
	})
	var format *archive.FormatError
	var kind *archive.KindError
	var limit *archive.LimitError
	switch {
	case refused != nil:
		return nil, refused
	case errors.As(err, &format):
		return nil, fmt.Errorf("expected a folder or a gzipped tar archive: %w", format.Err)
	case errors.As(err, &kind):
		return nil, fmt.Errorf("entry %q: %w", kind.Entry, err)
	case errors.As(err, &limit):
		return nil, limit
	case err != nil:
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	return entries, nil
}

// readFile reads a file of at most the given number of bytes.
func readFile(from io.Reader, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("the file is larger than %d MiB", most>>20)
	}
	return text, err
}

// Folders for the built-in rules in bundles that the command "schedlint policy bundle" writes.
const (
	builtinFolder = "rules/"
	libraryFolder = "schedlint/lib/"
)

// arranged removes the common parent folder of all files, because its name often contains a
// version. It also drops built-in rules.
func arranged(all []entry) []entry {
	if slices.ContainsFunc(all, func(e entry) bool { return strings.HasPrefix(e.name, libraryFolder) }) {
		for i, e := range all {
			if strings.HasPrefix(e.name, libraryFolder) || strings.HasPrefix(e.name, builtinFolder) {
				all[i].kept = false
			}
		}
	}
	top := ""
	for next, ok := below(all, top); ok; next, ok = below(all, top) {
		top = next
	}
	for i, e := range all {
		if e.kept {
			all[i].name = strings.TrimPrefix(e.name, top)
		}
	}
	return all
}

// below returns the subfolder of top that contains all kept files. ok is false if there is no such
// subfolder, or if the subfolder has no subfolders with rules.
func below(all []entry, top string) (next string, ok bool) {
	for _, e := range all {
		if !e.kept {
			continue
		}
		first, rest, nested := strings.Cut(strings.TrimPrefix(e.name, top), "/")
		if !nested || next != "" && next != top+first+"/" {
			return "", false
		}
		next = top + first + "/"
		ok = ok || path.Ext(rest) == ".rego" && strings.Contains(rest, "/")
	}
	return next, ok
}

// folder reads a folder. It lists hidden folders in Left without reading them.
func (s *Source) folder(name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	w := NewWalker(maxFile, maxUnpacked)
	return w.Walk(root.FS(), func(name string, d fs.DirEntry) error {
		hidden := strings.HasPrefix(path.Base(name), ".")
		switch {
		case d.IsDir() && hidden:
			s.Left = append(s.Left, name+"/")
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		e := entry{name: name, kept: Keeps(name)}
		if e.kept {
			if e.text, err = w.Read(root.FS(), name); err != nil {
				return err
			}
		}
		s.take(e)
		return nil
	})
}

// Walker walks a folder of untrusted files within limits.
type Walker struct {
	names            names
	count            int
	file, most, left int64 // in bytes: limits on one file and on all files, and what remains
}

// NewWalker returns a Walker that reads at most the given number of bytes from one file and from
// all files.
func NewWalker(file, all int64) *Walker {
	return &Walker{names: names{}, file: file, most: all, left: all}
}

// Walk calls visit for each file and folder. Links and devices are errors.
func (w *Walker) Walk(folder fs.FS, visit func(name string, d fs.DirEntry) error) error {
	return fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if w.count++; w.count > maxEntries {
			return fmt.Errorf("the folder has more than %d entries", maxEntries)
		}
		switch mode := d.Type(); {
		case mode&fs.ModeSymlink != 0:
			return fmt.Errorf("%q: found a symbolic link; expected files and folders only", name)
		case !mode.IsRegular() && !d.IsDir():
			return fmt.Errorf("%q: found a device, a pipe or a socket; expected files and folders only", name)
		}
		return visit(name, d)
	})
}

// Read reads a file and counts its bytes.
func (w *Walker) Read(folder fs.FS, name string) ([]byte, error) {
	err := CheckName(name)
	if err == nil {
		err = w.names.add(name)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	file, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := readFile(file, w.file)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	if w.left -= int64(len(text)); w.left < 0 {
		return nil, fmt.Errorf("the files have more than %d MiB in all", w.most>>20)
	}
	return text, nil
}
