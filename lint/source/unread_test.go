package source

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unreadOf returns the paths that Load leaves out, with the reasons.
func unreadOf(t *testing.T, opts Options, paths ...string) []string {
	t.Helper()
	set, err := Load(opts, paths)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range set.Unread {
		all = append(all, s.File+": "+s.Reason)
	}
	return all
}

func hidingPlaces(t *testing.T) string {
	many := map[string]string{
		"a.yaml":                     pod,
		".git/x.yaml":                pod,
		".github/workflows/ci.yml":   "name: ci\non: push\n",
		".github/dependabot.yml":     "version: 2\n",
		".vscode/tasks.json":         `{"tasks": [{"group": {"kind": "build"}}]}`,
		".deploy/deep/deeper/x.yaml": "# comment\n---\n" + pod,
		".json/x.json":               `{"apiVersion": "v1", "kind": "Pod"}`,
		".text/x.txt":                pod,
		".both/.git/x.yaml":          pod,
		"sub/.ci/x.yaml":             pod,
		"vendor/x.yaml":              pod,
		"vendor/y.yaml":              pod,
		"drafts/x.yaml":              pod,
		"drafts/x.txt":               pod,
		"links/.hidden.yaml":         "->../a.yaml",
		"links/.dir":                 "->../../beside",
		"links/.text":                "->../drafts/x.txt",
		"links/.nowhere":             "->nothing",
		"links/ignored.yaml":         "->../a.yaml",
		"links/ignored.txt":          "->../drafts/x.txt",
		"links/plain.yaml":           "->../a.yaml",
		"links/deep/.seen":           "->../../sub",
		"../beside/x.yaml":           pod,
	}
	for i := range maxHiddenNames + 1 {
		many[fmt.Sprintf(".names/%d.txt", i)] = ""
	}
	for i := range maxHiddenFiles + 1 {
		many[fmt.Sprintf(".files/%d.yaml", i)] = "a: 1\n"
		if i < maxHiddenFiles {
			many[fmt.Sprintf(".few/%d.yaml", i)] = "a: 1\n"
		}
	}
	repo := map[string]string{}
	for name, text := range many {
		repo[filepath.Join("repo", name)] = text
	}
	return filepath.Join(plant(t, repo), "repo")
}

// TestUnread checks which paths are reported as unread. A hidden directory is reported if one of
// its files begins like a manifest, or if it has too many files to find out.
func TestUnread(t *testing.T) {
	dir := hidingPlaces(t)
	ignore := func(name string) bool {
		return name == "vendor" || name == "drafts/x.yaml" || strings.HasPrefix(name, "links/ignored")
	}
	want := []string{
		".deploy/: hidden directory", ".files/: hidden directory", ".json/: hidden directory", ".names/: hidden directory",
		"drafts/x.yaml: ignored path", "links/.dir/: unfollowed link", "links/ignored.yaml: ignored path",
		"sub/.ci/: hidden directory", "vendor/: ignored path",
	}
	opts := Options{Dir: dir, Root: dir, Ignore: ignore}
	if got := unreadOf(t, opts, "."); !slices.Equal(got, want) {
		t.Errorf("got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	if got := unreadOf(t, opts, "vendor", "a.yaml", "drafts/x.yaml"); !slices.Equal(got, []string{"drafts/x.yaml: ignored path", "vendor/: ignored path"}) {
		t.Errorf("named: got %q", got)
	}
	if got := unreadOf(t, opts, ".deploy", "sub", "sub/.ci"); len(got) > 0 {
		t.Errorf("read all the same: got %q", got)
	}
}

// TestUnreadUntracked checks that untracked paths are not reported as unread.
func TestUnreadUntracked(t *testing.T) {
	dir := plant(t, map[string]string{"in/.cache/x.yaml": pod, "in/a.yaml": pod, "in/dir": "->../sub", "sub/x.txt": "", "in/.link": "->../sub"})
	in := filepath.Join(dir, "in")
	tracked := func(path string) bool { return path == filepath.Join(in, "a.yaml") || path == in }
	if got := unreadOf(t, Options{Dir: dir, Root: dir, Tracked: tracked}, "in"); !slices.Equal(got, []string{"in/dir/: unfollowed link"}) {
		t.Errorf("got %q", got)
	}
}

// TestUnreadClosed checks that a hidden directory without read permission is reported as unread.
func TestUnreadClosed(t *testing.T) {
	dir := plant(t, map[string]string{".closed/x.txt": "", "a.yaml": pod})
	closed := filepath.Join(dir, ".closed")
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(closed, 0o755)
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("permissions do not count here")
	}
	if got := unreadOf(t, Options{Dir: dir, Root: dir}, "."); !slices.Equal(got, []string{".closed/: hidden directory"}) {
		t.Errorf("got %q", got)
	}
}
