package vendored

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// entry is one file of an archive; text is that of one that is kept.
type entry struct {
	name string
	kept bool
	text []byte
}

// limited counts what is read, and fails beyond a limit.
type limited struct {
	from io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("the archive unpacks to more than %d MiB", maxUnpacked>>20)
	}
	return n, err
}

// unpack reads the files of an archive.
func unpack(packed io.Reader) ([]entry, error) {
	zipped, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("expected a folder or a gzipped tar archive: %w", err)
	}
	unpacked := &limited{zipped, maxUnpacked}
	archive, u := tar.NewReader(unpacked), unpacker{names: names{}}
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading the archive: %w", err)
		}
		if u.count++; u.count > maxEntries {
			return nil, fmt.Errorf("the archive has more than %d entries", maxEntries)
		}
		if err := u.entry(head, archive); err != nil {
			return nil, fmt.Errorf("entry %q: %w", head.Name, err)
		}
	}
	// what follows the last entry is read as well, for the checksum of gzip
	if _, err := io.Copy(io.Discard, unpacked); err != nil {
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	return u.entries, nil
}

// unpacker gathers the entries of one archive.
type unpacker struct {
	entries []entry
	names   names
	count   int
	bundle  bool
}

// entry looks at one entry and reads it if it is kept.
func (u *unpacker) entry(head *tar.Header, text io.Reader) error {
	switch head.Typeflag {
	case tar.TypeXGlobalHeader: // says of which commit git made the archive
		return nil
	case tar.TypeReg, tar.TypeDir:
	default:
		return fmt.Errorf("found %s; expected files and folders only", kindOf(head.Typeflag))
	}
	name, err := u.name(head.Name)
	switch {
	case err != nil || head.Typeflag == tar.TypeDir:
		return err
	case name == "":
		return errors.New("the name is empty")
	}
	e := entry{name: name, kept: Keeps(name)}
	if e.kept {
		if e.text, err = readFile(text); err != nil {
			return err
		}
	}
	u.entries = append(u.entries, e)
	return u.names.add(name)
}

// name is the name of an entry below the folder. OPA begins all names of a bundle with a
// slash, and the first is that of the manifest.
func (u *unpacker) name(given string) (string, error) {
	u.bundle = u.bundle || u.count == 1 && given == "/.manifest"
	name := given
	if u.bundle {
		name = strings.TrimPrefix(name, "/")
	}
	for strings.HasPrefix(name, "./") {
		name = name[2:]
	}
	name = strings.TrimSuffix(name, "/")
	if name == "" || name == "." {
		return "", nil // the top of the archive
	}
	return name, checkName(name)
}

// readFile reads a file that is kept.
func readFile(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("the file is larger than %d MiB", maxFile>>20)
	}
	return text, err
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

// The folders of a bundle that policy bundle writes with what comes with every schedlint.
const (
	builtinFolder = "rules/"
	libraryFolder = "schedlint/lib/"
)

// arranged are entries with names that begin where the rules do: without the one folder
// that holds everything, which often has a version in its name.
func arranged(all []entry) []entry {
	if holds(all, libraryFolder) {
		for i, e := range all {
			if strings.HasPrefix(e.name, libraryFolder) || strings.HasPrefix(e.name, builtinFolder) {
				all[i].kept = false
			}
		}
	}
	top := topOf(all)
	for i, e := range all {
		if e.kept {
			all[i].name = strings.TrimPrefix(e.name, top)
		}
	}
	return all
}

func holds(all []entry, folder string) bool {
	for _, e := range all {
		if strings.HasPrefix(e.name, folder) {
			return true
		}
	}
	return false
}

// topOf is the folder, with a slash, that holds all that is kept; "" for none. A folder
// with a rule in it is that of the rule.
func topOf(all []entry) string {
	top := ""
	for {
		next, ok := below(all, top)
		if !ok {
			return top
		}
		top = next
	}
}

// below is the only folder below another one, if all that is kept is in it, and rules are in
// folders of their own below it.
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
