package vendored

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// head is an archive entry with its content.
type head struct {
	tar.Header
	text string
}

func file(name, text string) head {
	return head{tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(text))}, text}
}

func special(name string, flag byte) head {
	return head{tar.Header{Name: name, Typeflag: flag, Linkname: "x"}, ""}
}

// packed writes an archive with the given entries and returns its path.
func packed(t *testing.T, entries ...head) string {
	t.Helper()
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	for i := range entries {
		if err := archive.WriteHeader(&entries[i].Header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(entries[i].text)); err != nil {
			t.Fatal(err)
		}
	}
	if archive.Close() != nil || zipped.Close() != nil {
		t.Fatal("closing the archive")
	}
	path := filepath.Join(t.TempDir(), "acme-1.2.tar.gz")
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHostileArchives checks the errors for hostile archives.
func TestHostileArchives(t *testing.T) {
	rule := file("web/rule.rego", "x")
	for want, entries := range map[string][]head{
		`entry "../rule.rego": the name has .. in it, which leads outside`:               {rule, file("../rule.rego", "x")},
		`entry "a/../../b.txt": the name has .. in it, which leads outside`:              {rule, file("a/../../b.txt", "x")},
		`entry "..": the name has .. in it, which leads outside`:                         {rule, special("..", tar.TypeDir)},
		`entry "/etc/rule.rego": the name is absolute`:                                   {file("/etc/rule.rego", "x")},
		`entry "/.manifest": the name is absolute`:                                       {rule, file("/.manifest", "x")},
		`entry "//etc/x": the name is absolute`:                                          {file("/.manifest", "{}"), file("//etc/x", "x")},
		`entry "C:\\x.rego": the name has one of \`:                                      {file(`C:\x.rego`, "x")},
		`entry "web/link.rego": found a symbolic link; expected files and folders only`:  {rule, special("web/link.rego", tar.TypeSymlink)},
		`entry "web/hard.rego": found a hard link`:                                       {rule, special("web/hard.rego", tar.TypeLink)},
		`entry "tty": found a device`:                                                    {special("tty", tar.TypeChar)},
		`entry "disk": found a device`:                                                   {special("disk", tar.TypeBlock)},
		`entry "pipe": found a pipe`:                                                     {special("pipe", tar.TypeFifo)},
		`entry "web/rule.rego": the name occurs twice`:                                   {rule, rule},
		`entry "./web/rule.rego": the name occurs twice`:                                 {rule, file("./web/rule.rego", "x")},
		`entry "Web/more.rego": the name differs from "web" only in case`:                {rule, file("Web/more.rego", "x")},
		`entry "web/RULE.rego": the name differs from "web/rule.rego" only in case`:      {rule, file("web/RULE.rego", "x")},
		`entry "web/rule.rego/x.rego": "web/rule.rego" is both a file and a folder`:      {rule, file("web/rule.rego/x.rego", "x")},
		"entry \"\u017fin.rego\": the name differs from \"sin.rego\" only in case":       {file("sin.rego", ""), file("\u017fin.rego", "")},
		`entry "web/\x1b[2J.rego": the name has a control character`:                     {file("web/\x1b[2J.rego", "x")},
		`entry "web/a\nb.rego": the name has a control character`:                        {file("web/a\nb.rego", "x")},
		`entry "web/\u202e.rego": the name has a control character`:                      {file("web/\u202e.rego", "x")},
		`entry "web./rule.rego": an element of the name begins`:                          {file("web./rule.rego", "x")},
		`entry "a//b.rego": the name has an empty element`:                               {file("a//b.rego", "x")},
		`the name is too long; expected at most 200 bytes and 20 elements`:               {file(strings.Repeat("a/", 20)+"rule.rego", "x")},
		`the name is too long; expected at most 200 bytes`:                               {file(strings.Repeat("a", 201), "x")},
		`entry "web/rule.rego": the file is larger than 1 MiB`:                           {file("web/rule.rego", strings.Repeat("x", maxFile+1))},
		`it contains no rule; a rule is a file such as <id>/rule.rego`:                   {file("web/rule_test.rego", "x"), file("README", "x")},
		fmt.Sprintf("acme-1.2.tar.gz: the archive unpacks to more than %d MiB", 64):      {rule, file("zeros", strings.Repeat("\x00", maxUnpacked))},
		fmt.Sprintf("acme-1.2.tar.gz: the archive has more than %d entries", maxEntries): slices.Repeat([]head{special("a", tar.TypeDir)}, maxEntries+1),
		`acme-1.2.tar.gz: it contains no rule`:                                           nil,
	} {
		s, err := Open(packed(t, entries...))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v; want %q", s, err, want)
		}
	}
}

// TestBrokenArchives checks that files that are not archives, and truncated archives, are errors.
func TestBrokenArchives(t *testing.T) {
	whole, err := os.ReadFile(packed(t, file("web/rule.rego", strings.Repeat("package x\n", 1000))))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.tgz")
	for n := 0; n < len(whole); n++ {
		if err := os.WriteFile(path, whole[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(path); err == nil {
			t.Errorf("%d of %d bytes pass: %v", n, len(whole), s)
		}
	}
	if err := os.WriteFile(path, []byte("package x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "expected a folder or a gzipped tar archive") {
		t.Error(err)
	}
}

// TestArranged checks that the folder around all files is removed, that the folder of a single rule
// is not, and that built-in rules are left out.
func TestArranged(t *testing.T) {
	for _, c := range []struct {
		in         []string
		kept, left string
	}{
		{[]string{"acme-1.2/web/rule.rego", "acme-1.2/web/rule_test.rego", "acme-1.2/LICENSE", "acme-1.2/go.mod"}, "LICENSE web/rule.rego web/rule_test.rego", "acme-1.2/go.mod"},
		{[]string{"web/rule.rego", "web/fixtures/bad/app.yaml"}, "web/fixtures/bad/app.yaml web/rule.rego", ""},
		{[]string{"acme/lib.rego", "acme/web/rule.rego"}, "lib.rego web/rule.rego", ""},
		{[]string{"acme/a/web/rule.rego", "acme/b/app/rule.rego"}, "a/web/rule.rego b/app/rule.rego", ""},
		{[]string{"./rule.rego", "./chart.yaml", "./fixtures/.hidden.yaml", "./.x/rule.rego"}, "rule.rego", ".x/rule.rego chart.yaml fixtures/.hidden.yaml"},
		{
			[]string{"/.manifest", "/own/policy/web/rule.rego", "/rules/ha/x/rule.rego", "/schedlint/lib/result.rego"},
			"web/rule.rego", ".manifest rules/ha/x/rule.rego schedlint/lib/result.rego",
		},
		{[]string{"/.manifest", "/data.json", "/acme/web/rule.rego"}, "web/rule.rego", ".manifest data.json"},
		{[]string{"web/rule.rego", "web/" + LockName}, "web/rule.rego", "web/" + LockName},
	} {
		var entries []head
		for _, name := range c.in {
			entries = append(entries, file(name, "x"))
		}
		s, err := Open(packed(t, entries...))
		if err != nil {
			t.Error(err)
			continue
		}
		var kept []string
		for _, f := range s.Files {
			kept = append(kept, f.Name)
		}
		if got := strings.Join(kept, " "); got != c.kept || strings.Join(s.Left, " ") != c.left {
			t.Errorf("%v: kept %s, left %v", c.in, got, s.Left)
		}
	}
}

// FuzzArchive checks that an archive is either an error or a source whose files have safe names.
func FuzzArchive(f *testing.F) {
	f.Add("web/rule.rego", byte(tar.TypeReg), "x", false)
	f.Add("/.manifest", byte(tar.TypeReg), "{}", false)
	f.Add("../x", byte(tar.TypeSymlink), "y", true)
	f.Fuzz(func(t *testing.T, name string, flag byte, text string, raw bool) {
		var all bytes.Buffer
		zipped := gzip.NewWriter(&all)
		archive := tar.NewWriter(zipped)
		for _, e := range []head{file(name, text), special(name+"/x", flag), file("web/rule.rego", "x")} {
			if archive.WriteHeader(&e.Header) == nil {
				_, _ = archive.Write([]byte(e.text))
			}
		}
		if raw { // a damaged tar in a valid gzip stream
			_, _ = zipped.Write([]byte(text))
		}
		_ = archive.Close()
		_ = zipped.Close()
		entries, err := unpack(&all)
		if err != nil {
			return
		}
		for _, e := range arranged(entries) {
			if e.kept && (!fs.ValidPath(e.name) || !filepath.IsLocal(e.name) || strings.ContainsAny(e.name, "\\\x00\x1b")) {
				t.Errorf("%q", e.name)
			}
		}
	})
}

// FuzzLock checks that a lock is either an error or can be written and parsed again.
func FuzzLock(f *testing.F) {
	f.Add([]byte(`{"version":1,"source":"x","digest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","files":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := parseLock(text)
		if err != nil {
			return
		}
		if again, err := parseLock(l.text()); err != nil || again.Digest != l.Digest {
			t.Errorf("%v, %v", again, err)
		}
	})
}
