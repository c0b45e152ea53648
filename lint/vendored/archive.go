package vendored

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/schedlint/schedlint/lint/archive"
)

// entry is one file of an archive; text is that of one that is kept.
type entry struct {
	name string
	kept bool
	text []byte
}

// unpack reads the files of an archive.
func unpack(packed io.Reader) ([]entry, error) {
	u := unpacker{names: names{}}
	most := archive.Limits{Bytes: maxUnpacked, File: maxUnpacked, Entries: maxEntries}
	var refused error
	err := archive.Read(packed, most, func(e archive.Entry) error {
		u.count++
		if err := u.entry(e); err != nil {
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
func (u *unpacker) entry(from archive.Entry) error {
	name, err := u.name(from.Name)
	switch {
	case err != nil || from.Dir:
		return err
	case name == "":
		return errors.New("the name is empty")
	}
	e := entry{name: name, kept: Keeps(name)}
	if e.kept {
		if e.text, err = readFile(from.Text); err != nil {
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
