package vendored

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// LockName is the name of the lock in its folder.
const LockName = "schedlint.lock.json"

// lockVersion is that of the form of locks.
const lockVersion = 1

// maxLock bounds a lock, in bytes: that of as many files as there may be.
const maxLock = 4 << 20

// Lock says what a folder was given.
type Lock struct {
	Version int `json:"version"`
	// Source is what it was copied from, as it was given.
	Source string `json:"source"`
	// Archive is the SHA-256 of the archive; empty for a folder.
	Archive string `json:"archive,omitempty"`
	// Digest is the SHA-256 of a line for each file, as sha256sum prints it, in order.
	Digest string `json:"digest"`
	// Files are sorted by path.
	Files []Locked `json:"files"`
}

// Locked is one file of a lock.
type Locked struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// Lock is the lock of what a source holds.
func (s *Source) Lock() *Lock {
	l := &Lock{Version: lockVersion, Source: s.Given, Archive: s.Archive, Files: []Locked{}}
	for _, f := range s.Files {
		l.Files = append(l.Files, Locked{f.Name, digest(f.Text)})
	}
	l.Digest = l.whole()
	return l
}

// whole is the digest of all files.
func (l *Lock) whole() string {
	sum := sha256.New()
	for _, f := range l.Files {
		fmt.Fprintf(sum, "%s  %s\n", f.SHA256, f.Path)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// text is a lock as its file.
func (l *Lock) text() []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(l); err != nil {
		panic(err) // strings and numbers only
	}
	return text.Bytes()
}

// parseLock reads a lock. Whoever wrote it may be hostile.
func parseLock(text []byte) (*Lock, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var l Lock
	if err := decoder.Decode(&l); err != nil {
		return nil, fmt.Errorf("expected the lock of vendored rules: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("expected the lock of vendored rules and nothing after it")
	}
	if l.Version != lockVersion {
		return nil, fmt.Errorf("found a lock of version %d; this schedlint reads version %d", l.Version, lockVersion)
	}
	for _, f := range l.Files {
		if err := checkName(f.Path); err != nil {
			return nil, fmt.Errorf("path %q: %w", f.Path, err)
		}
		if raw, err := hex.DecodeString(f.SHA256); err != nil || len(raw) != sha256.Size {
			return nil, fmt.Errorf("path %q: expected a SHA-256 of 64 hexadecimal digits", f.Path)
		}
	}
	if !slices.IsSortedFunc(l.Files, func(a, b Locked) int { return strings.Compare(a.Path, b.Path) }) {
		return nil, errors.New("the paths are not sorted")
	}
	if l.Digest != l.whole() {
		return nil, errors.New("the digest is not that of the files that the lock lists, so somebody has edited the lock")
	}
	return &l, nil
}
