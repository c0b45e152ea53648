package archive

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// pack makes an archive of entries like "dir/", "name text", "name @ target" for a link and
// "name |" for a pipe.
func pack(t testing.TB, entries ...string) []byte {
	t.Helper()
	var all bytes.Buffer
	zipped := gzip.NewWriter(&all)
	to := tar.NewWriter(zipped)
	for _, e := range entries {
		name, text, _ := strings.Cut(e, " ")
		head := &tar.Header{Name: name, Mode: 0o600, Typeflag: tar.TypeReg, Size: int64(len(text))}
		switch {
		case strings.HasSuffix(name, "/"):
			head.Typeflag = tar.TypeDir
		case strings.HasPrefix(text, "@ "):
			head.Typeflag, head.Linkname, head.Size, text = tar.TypeSymlink, text[2:], 0, ""
		case text == "|":
			head.Typeflag, head.Size, text = tar.TypeFifo, 0, ""
		}
		if err := to.WriteHeader(head); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(to, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(to.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

var few = Limits{Bytes: 1 << 20, File: 10, Entries: 3}

// list returns the entries that Read passes on, and its error, as text.
func list(packed []byte, most Limits) string {
	var all []string
	err := Read(bytes.NewReader(packed), most, func(e Entry) error {
		text, err := io.ReadAll(e.Text)
		all = append(all, fmt.Sprintf("%s %d %q", e.Name, e.Size, text))
		if e.Name == "stop" {
			return errors.New("stopped")
		}
		return err
	})
	if err != nil {
		all = append(all, "error: "+err.Error())
	}
	return strings.Join(all, ", ")
}

// TestRead checks files and directories in their order, within the limits.
func TestRead(t *testing.T) {
	for want, packed := range map[string][]byte{
		`a/ 0 "", a/b 3 "one", c 0 ""`: pack(t, "a/", "a/b one", "c"),
		`../x 1 "y"`:                   pack(t, "../x y"),
		"":                             pack(t),
		`a 1 "b", error: found a symbolic link; expected files and folders only`:                pack(t, "a b", "l @ /etc/passwd", "c d"),
		`error: found a pipe; expected files and folders only`:                                  pack(t, "l |"),
		`a 0 "", b 0 "", c 0 "", error: the archive has more than 3 entries`:                    pack(t, "a", "b", "c", "d"),
		`a 10 "xxxxxxxxxx", error: the archive has a file of 11 bytes; files are limited to 10`: pack(t, "a "+strings.Repeat("x", 10), "b "+strings.Repeat("x", 11)),
		`stop 0 "", error: stopped`:                pack(t, "stop", "a"),
		"error: not gzipped: gzip: invalid header": []byte("kind: Pod\nmetadata: {name: a}\n"),
		"error: not gzipped: EOF":                  nil,
	} {
		if got := list(packed, few); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	whole := pack(t, "a one", "b two")
	for n := range whole {
		if got := list(whole[:n], few); !strings.Contains(got, "error: ") {
			t.Errorf("%d of %d bytes pass: %s", n, len(whole), got)
		}
	}
	long := pack(t, "a "+strings.Repeat("x", 3<<20))
	if got := list(long, Limits{Bytes: 2 << 20, File: 4 << 20, Entries: 3}); !strings.HasSuffix(got, "error: the archive unpacks to more than 2 MiB") {
		t.Errorf("%.100s", got)
	}
	var limit *LimitError
	if err := Read(bytes.NewReader(long), few, nil); !errors.As(err, &limit) || limit.Entry != "a" {
		t.Errorf("%v", err)
	}
}

// FuzzRead checks that Read never passes on more than the limits, whatever the bytes.
func FuzzRead(f *testing.F) {
	f.Add(pack(f, "a/", "a/b one"), true)
	f.Add(pack(f, "l @ x"), true)
	f.Add([]byte("a"), false)
	f.Fuzz(func(t *testing.T, text []byte, packed bool) {
		if !packed { // a damaged tar in a valid gzip
			var all bytes.Buffer
			zipped := gzip.NewWriter(&all)
			_, _ = zipped.Write(text)
			_ = zipped.Close()
			text = all.Bytes()
		}
		entries, read := 0, int64(0)
		_ = Read(bytes.NewReader(text), few, func(e Entry) error {
			n, err := io.Copy(io.Discard, e.Text)
			entries, read = entries+1, read+n
			if n > few.File || err == nil && n != e.Size && !e.Dir {
				t.Errorf("%q has %d bytes, and %d are read", e.Name, e.Size, n)
			}
			return err
		})
		if entries > few.Entries || read > few.Bytes {
			t.Errorf("%d entries with %d bytes", entries, read)
		}
	})
}
