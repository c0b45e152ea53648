package vendored

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// TestDamagedLocks checks locks that differ from what schedlint writes.
func TestDamagedLocks(t *testing.T) {
	const text = "package schedlint\n"
	sum := SHA256([]byte(text))
	lock := func(version int, files ...Locked) string {
		return string((&Lock{Version: version, Source: "acme", Digest: Whole(files), Files: files}).text())
	}
	good := lock(1, Locked{"a.rego", sum}, Locked{"b.rego", sum})
	for _, c := range []struct{ name, lock, want string }{
		{"good", good, ""},
		{"as large as possible", good + strings.Repeat(" ", maxLock-len(good)), ""},
		{"too large", good + strings.Repeat(" ", maxLock-len(good)+1), "the file is larger than 4 MiB"},
		{"newer", lock(2, Locked{"a.rego", sum}, Locked{"b.rego", sum}), "found a lock of version 2"},
		{"outside", lock(1, Locked{"../a.rego", sum}, Locked{"b.rego", sum}), `path "../a.rego": `},
		{"short sum", lock(1, Locked{"a.rego", sum[2:]}, Locked{"b.rego", sum}), `path "a.rego": expected a SHA-256`},
		{"upper case", lock(1, Locked{"a.rego", sum}, Locked{"b.rego", strings.ToUpper(sum)}), `path "b.rego": expected a SHA-256`},
		{"not sorted", lock(1, Locked{"b.rego", sum}, Locked{"a.rego", sum}), "the paths are not sorted"},
		{"edited", strings.Replace(good, "a.rego", "0.rego", 1), "somebody has edited the lock"},
	} {
		_, errs := Check(fstest.MapFS{LockName: {Data: []byte(c.lock)}, "a.rego": {Data: []byte(text)}, "b.rego": {Data: []byte(text)}}, "acme")
		switch {
		case c.want == "" && len(errs) > 0:
			t.Errorf("%s: %v", c.name, errs)
		case c.want != "" && (len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), "acme/"+LockName+": ") || !strings.Contains(errs[0].Error(), c.want)):
			t.Errorf("%s: %v, want %s", c.name, errs, c.want)
		}
	}
	_, errs := Check(fstest.MapFS{LockName: {Mode: fs.ModeDir | 0o755}, "a.rego": {Data: []byte(text)}}, "acme")
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "expected a regular file") {
		t.Errorf("a folder named like a lock: %v", errs)
	}
}

// TestManyDifferences checks that 20 differences are listed and further ones counted.
func TestManyDifferences(t *testing.T) {
	for n, want := range map[int]string{
		20: "acme/19.rego: the file is missing",
		21: "acme: 1 more files differ from " + LockName,
		22: "acme: 2 more files differ from " + LockName,
	} {
		l := &Lock{Version: 1}
		for i := range n {
			l.Files = append(l.Files, Locked{fmt.Sprintf("%02d.rego", i), SHA256(nil)})
		}
		l.Digest = Whole(l.Files)
		_, errs := Check(fstest.MapFS{LockName: {Data: l.text()}}, "acme")
		if len(errs) != min(n, 21) || !strings.HasPrefix(errs[len(errs)-1].Error(), want) {
			t.Errorf("%d: %v", n, errs)
		}
	}
}

// TestWalkerLimits checks files that are as large as they may be, each and together, and larger ones.
func TestWalkerLimits(t *testing.T) {
	folder := fstest.MapFS{"a.rego": {Data: []byte("12345")}, "b.rego": {Data: []byte("123")}}
	for _, c := range []struct {
		file, all int64
		want      string
	}{
		{5, 8, ""},
		{5, 7, "the files have more than 0 MiB in all"},
		{4, 8, `"a.rego": the file is larger than `},
	} {
		w := NewWalker(c.file, c.all)
		err := w.Walk(folder, func(name string, _ fs.DirEntry) error {
			_, err := w.Read(folder, name)
			return err
		})
		if (err == nil) != (c.want == "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%d and %d bytes: %v, want %q", c.file, c.all, err, c.want)
		}
	}
}
