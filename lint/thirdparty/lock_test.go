package thirdparty

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/schedlint/schedlint/fixtures/trials"
)

const zeros = "0000000000000000000000000000000000000000000000000000000000000000"

var someEntries = []Entry{
	{"https://github.com/x/y//base?ref=v1", "git/github.com/x/y@0123456789ab/base", "0123456789ab", zeros},
	{"https://charts.example.com/ingress@>=3.0 <4", "charts/ingress-3.1.0.tgz", "3.1.0", zeros},
}

// TestText checks that a lock is sorted, and that Parse reads what Text writes.
func TestText(t *testing.T) {
	text := New(someEntries).Text()
	l, err := Parse(text)
	if err != nil || !bytes.Equal(l.Text(), text) {
		t.Fatalf("%v\n%s", err, text)
	}
	if e, ok := l.Find(someEntries[0].Name); !ok || e != someEntries[0] {
		t.Errorf("%+v", e)
	}
	if _, ok := l.Find("other"); ok {
		t.Error("found an entry that is not there")
	}
}

// TestHostileLocks checks that locks with mistakes are refused.
func TestHostileLocks(t *testing.T) {
	row := func(name, path, resolved, sum string) string {
		return fmt.Sprintf(`{"name":%q,"path":%q,"resolved":%q,"sha256":%q}`, name, path, resolved, sum)
	}
	whole := func(rows ...string) string { return `{"version":1,"entries":[` + strings.Join(rows, ",") + "]}" }
	good := row("a", "a.tgz", "1", zeros)
	many := make([]string, maxEntries+1)
	for i := range many {
		many[i] = row(fmt.Sprintf("%05d", i), fmt.Sprintf("%05d", i), "1", zeros)
	}
	for text, want := range map[string]string{
		whole(good):                                            "",
		whole(many[1:]...):                                     "",
		whole(many...):                                         "10001 entries; expected at most 10000",
		"":                                                     "expected the lock",
		"[]":                                                   "expected the lock",
		whole(good) + "{}":                                     "nothing after it",
		`{"version":2}`:                                        "version 2",
		`{"version":1,"x":1}`:                                  "unknown field",
		whole(good, good):                                      "occurs twice",
		whole(row("b", "b", "1", zeros), good):                 "not sorted",
		whole(row("", "a", "1", zeros)):                        "name: expected 1 to",
		whole(row(" a", "a", "1", zeros)):                      "a space at the beginning",
		whole(row("a\u202e", "a", "1", zeros)):                 "control character",
		whole(row("a", "", "1", zeros)):                        "empty element",
		whole(row("a", "../a", "1", zeros)):                    "leads outside",
		whole(row("a", "/a", "1", zeros)):                      "absolute",
		whole(row("a", `a\b`, "1", zeros)):                     "not every system",
		whole(row("a", "C:/a", "1", zeros)):                    "not every system",
		whole(row("a", "x/.GIT/hooks", "1", zeros)):            "belongs to git",
		whole(row("a", LockName, "1", zeros)):                  "that of the lock",
		whole(row("a", "a", "", zeros)):                        "resolved version",
		whole(row("a", "a", "1\n", zeros)):                     "resolved: ",
		whole(row("a", "a", "1", zeros[1:])):                   "64 hexadecimal digits",
		whole(row("a", "a", "1", strings.Repeat("A", 64))):     "64 hexadecimal digits",
		whole(row("a", strings.Repeat("a/", 30), "1", zeros)):  "too long",
		whole(row(strings.Repeat("a", 1001), "a", "1", zeros)): "found 1001",
		whole(good) + strings.Repeat(" ", MaxLock):             "larger than 4 MiB",
	} {
		_, err := Parse([]byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.100s: %v, want %q", text, err, want)
		}
	}
}

// TestDigest checks that a digest covers a file, a directory or all of a commit, and that it does
// not depend on anything else.
func TestDigest(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	folder := fstest.MapFS{
		"charts/a-1.tgz":                     file("a"),
		"local/base/x.yaml":                  file("x"),
		"git/example.com/o/r@01/base/k.yaml": file("k"),
		"git/example.com/o/r@01/LICENSE":     file("l"),
		"git/example.com/o/r@02/base/k.yaml": file("k"),
	}
	sum := func(name string) string {
		t.Helper()
		s, err := Digest(folder, name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := map[string]string{}
	names := []string{"charts/a-1.tgz", "local/base", "git/example.com/o/r@01/base", "git/example.com/o/r@02/base"}
	for _, name := range names {
		before[name] = sum(name)
	}
	if want := "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"; before[names[0]] != want {
		t.Errorf("the digest of a file is %s, want %s", before[names[0]], want)
	}
	folder["git/example.com/o/r@01/LICENSE"] = file("changed")
	folder["local/beside.yaml"] = file("new")
	for i, name := range names {
		if changed := sum(name) != before[name]; changed != (i == 2) {
			t.Errorf("%s: changed is %v", name, changed)
		}
	}
	for _, name := range []string{"none", "../x", "charts/a-1.tgz/x"} {
		if s, err := Digest(folder, name); err == nil {
			t.Errorf("%s: %s", name, s)
		}
	}
}

// TestNoDigest checks files that no copy may have.
func TestNoDigest(t *testing.T) {
	for name, want := range map[string]string{"git/.git/config": "belongs to git", "git/sub/.GIT": "belongs to git", "git/pipe": "a device, a pipe or a socket"} {
		file := &fstest.MapFile{Data: []byte("x")}
		if name == "git/pipe" {
			file.Mode = fs.ModeNamedPipe
		}
		if s, err := Digest(fstest.MapFS{name: file, "git/a.yaml": {}}, "git"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want %s", name, s, err, want)
		}
	}
}

// TestDigestOfLinks checks that no link is followed, wherever it leads.
func TestDigestOfLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "real/sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "real/a"), []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"file": "real/a", "dir": "real", "real/sub/up": "../a"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"file", "dir", "dir/a", "real", "real/sub"} {
		if _, err := Digest(root.FS(), name); err == nil || !strings.Contains(err.Error(), "a symbolic link") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Digest(root.FS(), "real/a"); err != nil {
		t.Error(err)
	}
}

// TestDigestLimits checks that large copies are refused.
func TestDigestLimits(t *testing.T) {
	trials.Large(t)
	large := &fstest.MapFile{Data: make([]byte, MaxFile+1)}
	if _, err := Digest(fstest.MapFS{"a": large}, "a"); err == nil || !strings.Contains(err.Error(), "larger than 32 MiB") {
		t.Error(err)
	}
	folder := fstest.MapFS{}
	for i := range 5 {
		folder[fmt.Sprintf("d/%d", i)] = &fstest.MapFile{Data: large.Data[:MaxFile]}
	}
	if _, err := Digest(folder, "d"); err == nil || !strings.Contains(err.Error(), "more than 128 MiB") {
		t.Error(err)
	}
}

// FuzzParse checks that a lock that can be read is written back unchanged, and that its paths lead
// nowhere else.
func FuzzParse(f *testing.F) {
	f.Add(New(someEntries).Text())
	f.Add([]byte(`{"version":1,"entries":[{"name":"a","path":"../a","resolved":"1","sha256":"` + zeros + `"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(l.Text())
		if err != nil || !bytes.Equal(again.Text(), l.Text()) {
			t.Fatalf("%v\n%s", err, l.Text())
		}
		for _, e := range l.Entries {
			if !filepath.IsLocal(e.Path) || !strings.HasPrefix(e.Path+"/", Unit(e.Path)+"/") {
				t.Errorf("%q", e.Path)
			}
		}
	})
}
