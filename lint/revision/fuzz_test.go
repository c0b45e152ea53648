package revision

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// modes and names are used for tree entries. Git creates some of them; only an attacker would
// create the others.
var (
	modes = []string{"100644", "100755", "40000", "120000", "160000", "0", "100000", "40755", "x"}
	names = []string{
		"a.yaml", "b.json", "x", "X", "dir", "..", ".", ".git", "../up.yaml", "dir/../../up.yaml", "/up.yaml", "a\nb.yaml", "a\tb.yaml", "\"q\".yaml", "-x.yaml", "\xff.yaml", "",
		"kustomization.yaml", ".schedlint.yaml", "C:\\x.yaml", "a.yaml/", "CON.yaml", "\u202ea.yaml", ".gitmodules", ".gitattributes",
	}
	links = []string{"a.yaml", "..", "/", "../..", "x", "dir", "/etc/passwd", "", ".git/config", "../up.yaml"}
)

// FuzzTree unpacks arbitrary git trees. It checks that nothing panics, that nothing is written
// outside of the temporary directory, and that nothing remains.
func FuzzTree(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 1})
	f.Add([]byte{2, 4, 0, 0, 0, 1, 3, 2, 3})
	f.Add([]byte{0, 8, 0, 2, 5, 1, 3, 4, 1, 2, 4, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 60 {
			return
		}
		dir := trials.InGit(t, map[string]string{"kept.yaml": "a: 1\n"}, "kept.yaml")
		t.Setenv("TMPDIR", t.TempDir())
		unpacked, err := Unpack(dir, fuzzedTree(t, data), everything)
		if err == nil {
			if real, _ := filepath.EvalSymlinks(os.TempDir()); filepath.Dir(unpacked.Dir) != real {
				t.Errorf("unpacked to %s", unpacked.Dir)
			}
			unpacked.Remove()
		}
		for _, at := range []string{dir, filepath.Dir(dir), os.TempDir()} {
			if _, err := os.Lstat(filepath.Join(at, "up.yaml")); err == nil {
				t.Errorf("up.yaml is in %s", at)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
}

// fuzzedTree writes a tree into the repository of the working directory. Each entry takes three
// bytes of data. A directory entry contains the tree of the entries before it.
func fuzzedTree(t *testing.T, data []byte) string {
	var raw []byte
	tree := loose(t, "tree", nil)
	for ; len(data) >= 3; data = data[3:] {
		mode, name, id := modes[int(data[0])%len(modes)], names[int(data[1])%len(names)], ""
		switch mode {
		case "40000", "40755":
			id = tree
		case "120000":
			id = loose(t, "blob", []byte(links[int(data[2])%len(links)]))
		case "160000":
			id = "0123456789012345678901234567890123456789"
		default:
			id = loose(t, "blob", []byte{data[2], '\n'})
		}
		sum, err := hex.DecodeString(id)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(append(raw, mode+" "+name+"\x00"...), sum...)
		tree = loose(t, "tree", raw)
	}
	return tree
}

// loose writes a loose object as git does.
func loose(t *testing.T, kind string, body []byte) string {
	text := append(fmt.Appendf(nil, "%s %d\x00", kind, len(body)), body...)
	id := fmt.Sprintf("%x", sha1.Sum(text))
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write(text)
	z.Close()
	path := filepath.Join(".git", "objects", id[:2], id[2:])
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return id
}
