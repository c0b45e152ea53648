package worktree

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Reader reads the files of a work tree one by one. It keeps the directory of the last file
// open, so that reading files in the order of their names costs little more than reading their
// bytes.
type Reader struct {
	root, dir string
	last      *os.Root // dir, if one is open
}

// NewReader returns a Reader below a root. The caller must call Close.
func NewReader(root string) *Reader { return &Reader{root: root} }

// Close closes the open directory.
func (r *Reader) Close() {
	if r.last != nil {
		r.last.Close()
		r.last = nil
	}
}

// ReadFile reads a file that passes Check.
func (r *Reader) ReadFile(name string, limit int64) ([]byte, error) {
	if OfGit(name) {
		return nil, errOfGit
	}
	name = filepath.Clean(name)
	if dir := filepath.Dir(name); r.last == nil || dir != r.dir || name == "." || !filepath.IsLocal(name) {
		r.Close()
		spot, err := At(r.root, name)
		if err != nil {
			return nil, err
		}
		r.last, r.dir = spot.Dir, dir
	}
	spot := &Spot{r.last, filepath.Base(name), name}
	size, err := spot.check(limit)
	if err != nil {
		return nil, err
	}
	file, err := r.last.Open(spot.Name)
	if err != nil {
		return nil, Named(err, name)
	}
	defer file.Close()
	text, err := ReadSized(file, size, limit)
	if err == nil && int64(len(text)) > limit {
		return nil, TooLarge(limit)
	}
	return text, err
}

// ReadSized reads a text of an expected size in bytes, and at most one byte more than a limit.
// A text of the expected size leaves almost no spare capacity.
func ReadSized(in io.Reader, size, limit int64) ([]byte, error) {
	text := make([]byte, 0, size+1)
	for in = io.LimitReader(in, limit+1); ; {
		n, err := in.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case err == io.EOF:
			return text, nil
		case err != nil:
			return nil, err
		case len(text) == cap(text):
			text = slices.Grow(text, bytes.MinRead)
		}
	}
}
