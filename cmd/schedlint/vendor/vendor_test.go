package vendor

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/thirdparty"
)

// TestHostileAddresses checks that helm and git never get an address, name or version that a file
// can use for anything else.
func TestHostileAddresses(t *testing.T) {
	helm := func(url, chart, version string) pointers.Wanted { return pointers.RemoteChart(url, chart, version) }
	git := func(url, path, ref string) pointers.Wanted {
		return pointers.Wanted{Name: "x", URL: url, Git: true, Path: path, Ref: ref}
	}
	digest := func(digest string) pointers.Wanted {
		return pointers.Wanted{Name: "x", URL: "oci://h/x", Digest: digest}
	}
	tag := func(tag string) pointers.Wanted { return pointers.Wanted{Name: "x", URL: "oci://h/x", Version: tag} }
	ranged := git("https://h/o/r", ".", "--upload-pack=x")
	ranged.Semver = true
	for _, c := range []struct {
		wanted pointers.Wanted
		why    string // empty if it is allowed
	}{
		{helm("https://charts.example.com", "ingress", ">=3.0 <4 || ~5.1"), ""},
		{helm("https://charts.example.com:8443/a/b_c/", "ingress", ""), ""},
		{helm("oci://ghcr.io/x/charts", "sub/ingress", "1.2.3_4"), ""},
		{helm("@mine", "ingress", "*"), ""},
		{helm("alias:mine", "ingress", "^1"), ""},
		{git("https://github.com/o/r.git", "base", "v1"), ""},
		{git("git@github.com:o/r.git", ".", "refs/heads/feature/x"), ""},
		{git("ssh://git@h:22/o/r", ".", ""), ""},
		{digest("sha256:" + strings.Repeat("0", 64)), ""},
		{tag("latest"), ""},

		{helm("http://charts.example.com", "x", ""), "--allow-local"},
		{helm("file:///etc", "x", ""), "--allow-local"},
		{helm("ftp://h", "x", ""), `the scheme "ftp"`},
		{helm("s3://bucket", "x", ""), `the scheme "s3"`},
		{helm("git+ssh://h/x", "x", ""), `the scheme "git+ssh"`},
		{helm("--post-renderer=x", "x", ""), "scheme"},
		{helm("", "x", ""), "no URL"},
		{helm("@--debug", "x", ""), "scheme"},
		{helm("https://", "x", ""), "the host"},
		{helm("https://-h/", "x", ""), "the host"},
		{helm("https://h h/", "x", ""), "no URL"},
		{helm("https://user:secret@h", "x", ""), "a password"},
		{helm("https://-u@h", "x", ""), "a user"},
		{helm("https://h/?token=1", "x", ""), "a query"},
		{helm("https://h/#x", "x", ""), "a fragment"},
		{helm("https://h/a/../../b", "x", ""), "the path"},
		{helm("https://h/$(id)", "x", ""), "the path"},
		{helm("https://h/a b", "x", ""), "no URL"},
		{helm("https://h/\u202e", "x", ""), "no URL"},
		{helm("https://h", "--untar", ""), `the chart "--untar"`},
		{helm("https://h", "../x", ""), "the chart"},
		{helm("https://h", "x;id", ""), "the chart"},
		{helm("https://h", "", ""), "the chart"},
		{helm("https://h", "x", "-1"), "the version"},
		{helm("https://h", "x", "1\n"), "the version"},
		{helm("https://h", "x", "$(id)"), "the version"},
		{helm("https://h", "x", strings.Repeat("1", 300)), "the version"},
		{tag("a:b"), "the version"},
		{tag(">=1"), "the version"},
		{digest("sha256:x"), "the digest"},
		{git("ext::sh -c id", ".", ""), "no URL"},
		{git("ext::sh", ".", ""), `the scheme "ext"`},
		{git("oci://h/x", ".", ""), `the scheme "oci"`},
		{git("git://h/x", ".", ""), `the scheme "git"`},
		{git("file:///srv/x", ".", ""), "--allow-local"},
		{git("/srv/x", ".", ""), "scheme"},
		{git("-oProxyCommand=id@h:x", ".", ""), "no URL"},
		{git("git@-oProxyCommand=id:x", ".", ""), "no URL"},
		{git("ssh://-oProxyCommand=id/x", ".", ""), "the host"},
		{git("git@h:../x", ".", ""), "no URL"},
		{git("https://h/x", "../../etc", ""), "the directory"},
		{git("https://h/x", ".", "--upload-pack=id"), "the revision"},
		{git("https://h/x", ".", "+refs/heads/*:refs/heads/*"), "the revision"},
		{git("https://h/x", ".", "a..b"), "the revision"},
		{git("https://h/x", ".", "HEAD^{/x}"), "the revision"},
		{ranged, "the range"},
	} {
		err := checked(&c.wanted, false)
		if c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%+v: %v, want %q", c.wanted, err, c.why)
		}
		if err == nil && !c.wanted.Git {
			for _, arg := range helmPull(&c.wanted, "", "/tmp/x") {
				if strings.ContainsAny(arg, "\n\x00$`;&") {
					t.Errorf("%q", arg)
				}
			}
		}
	}
	for _, local := range []pointers.Wanted{helm("http://h", "x", ""), git("file:///srv/x", ".", "")} {
		if err := checked(&local, true); err != nil {
			t.Errorf("%+v: %v", local, err)
		}
	}
}

// TestHelmPull checks the arguments of helm.
func TestHelmPull(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	for _, c := range []struct {
		wanted pointers.Wanted
		alias  string
		want   string
	}{
		{pointers.RemoteChart("https://h/a", "x", "^1"), "", "pull --destination=D --version=^1 --repo=https://h/a -- x"},
		{pointers.RemoteChart("https://h/a", "x", ""), "mine", "pull --destination=D -- mine/x"},
		{pointers.RemoteChart("oci://h/a", "x", "1.x"), "", "pull --destination=D --version=1.x -- oci://h/a/x"},
		{pointers.Wanted{URL: "oci://h/a/x", Version: "1", Insecure: true}, "", "pull --destination=D --plain-http -- oci://h/a/x:1"},
		{pointers.Wanted{URL: "oci://h/a/x", Version: "1", Semver: true, Digest: digest}, "", "pull --destination=D -- oci://h/a/x@" + digest},
	} {
		if got := strings.Join(helmPull(&c.wanted, c.alias, "D"), " "); got != c.want {
			t.Errorf("%s\nwant\n%s", got, c.want)
		}
	}
}

// TestLogin checks that only an error about access advises a login, with the command that fits the
// address.
func TestLogin(t *testing.T) {
	for _, c := range []struct{ words, address, want string }{
		{"failed to fetch https://h/index.yaml : 404 Not Found", "https://h", ""},
		{"failed to fetch https://h/index.yaml : 401 Unauthorized", "https://h", "; if a login is missing: helm repo add NAME https://h --username USER --password-stdin"},
		{"unexpected status from HEAD request: 403", "oci://ghcr.io/org/charts", "; if a login is missing: helm registry login ghcr.io"},
		{"size 4010", "https://h", ""},
	} {
		if got := login(c.words, c.address); got != c.want {
			t.Errorf("%s: %q, want %q", c.words, got, c.want)
		}
	}
}

// TestPrinted checks how much of what a program prints is kept and shown.
func TestPrinted(t *testing.T) {
	whole := strings.Repeat("a", 300)
	for text, want := range map[string]string{"": "", whole: whole, whole + "b": whole + "...", whole[1:] + "\u00e9": whole[1:] + "..."} {
		if got := clipped(text); got != want {
			t.Errorf("%d bytes: %q", len(text), got)
		}
	}
	var out capped
	for _, n := range []int{mostPrinted - 1, 2, 1} {
		if wrote, err := out.Write(make([]byte, n)); wrote != n || err != nil {
			t.Errorf("%d bytes: %d, %v", n, wrote, err) // helm would stop at a short write
		}
	}
	if out.Len() != mostPrinted {
		t.Errorf("%d bytes are kept, want %d", out.Len(), mostPrinted)
	}
}

// TestArtifact checks how addresses name a tag and a digest.
func TestArtifact(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0", 64)
	for version, want := range map[string]string{"": "oci://h/a", "1.2": "oci://h/a:1.2", digest: "oci://h/a@" + digest} {
		if got := artifact(&pointers.Wanted{URL: "oci://h/a", Version: version}); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestFolderOf checks that folders of repositories have names that every system can store, whatever
// the address is.
func TestFolderOf(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/org/repo.git":                   "github.com/org/repo",
		"git@github.com:org/repo":                           "github.com/org/repo",
		"ssh://git@git.example.com:2222/a/b/c/":             "git.example.com_2222/a/b/c",
		"https://dev.azure.com/org/my%20project/_git/r@x,y": "dev.azure.com/org/my_project/_git/r_x_y",
		"https://h/.hidden/..a/b.":                          "h/_hidden/_a/b_",
		"file:///srv/git/x.git":                             "local/srv/git/x",
		"https://[::1]:8080/x":                              "___1__8080/x",
	} {
		if got := folderOf(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// packed returns an archive with files. A name that ends in -> is a link.
func packed(t *testing.T, files ...[2]string) []byte {
	t.Helper()
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		head := tar.Header{Name: f[0], Size: int64(len(f[1])), Mode: 0o644, Typeflag: tar.TypeReg}
		if name, link := strings.CutSuffix(f[0], "->"); link {
			head = tar.Header{Name: name, Linkname: f[1], Typeflag: tar.TypeSymlink}
			f[1] = ""
		}
		if err := archive.WriteHeader(&head); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(f[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// TestHostileArchives checks what is refused in an archive that helm wrote.
func TestHostileArchives(t *testing.T) {
	head := func(name, version string) [2]string {
		return [2]string{"x/Chart.yaml", fmt.Sprintf("name: %q\nversion: %q\n", name, version)}
	}
	good := head("x", "1.2.3-rc.1+b")
	for _, c := range []struct {
		text []byte
		why  string
	}{
		{packed(t, good, [2]string{"x/templates/a.yaml", "a"}), ""},
		{[]byte("<html>"), "not gzipped"},
		{packed(t, good)[:60], "unexpected EOF"},
		{packed(t, [2]string{"x/values.yaml", ""}), `the name ""`},
		{packed(t, head("../x", "1.0.0")), `the name "../x"`},
		{packed(t, head("a/b", "1.0.0")), `the name "a/b"`},
		{packed(t, head("x", "1.0.0/../../y")), "the version"},
		{packed(t, head("x", "")), "the version"},
		{packed(t, good, [2]string{"../evil", ""}), "leads outside"},
		{packed(t, good, [2]string{"/etc/passwd", ""}), "absolute"},
		{packed(t, good, [2]string{"x/a\x1b", ""}), "control character"},
		{packed(t, good, [2]string{"x/link->", "/etc/passwd"}), "a symbolic link"},
		{packed(t, good, [2]string{"x/zeros", strings.Repeat("\x00", 6<<20)}), "has a file of"},
	} {
		_, err := open(c.text)
		if c.why == "" && err != nil || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%v, want %q", err, c.why)
		}
	}
}

// TestHostileTrees checks which files of a repository are copied, and that links do not lead out.
func TestHostileTrees(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret")
	for name, text := range map[string]string{
		secret: "s", "base/kustomization.yaml": "resources: [../common, ../one.yaml]\n", "common/kustomization.yaml": "resources: [c.yaml]\n",
		"common/c.yaml": "a: 1", "common/other.yaml": "a: 1", "one.yaml": "a: 1", "two.yaml": "a: 1", "LICENSE.md": "l", "NOTICE": "n", "README.md": "r",
	} {
		if name != secret {
			name = filepath.Join(dir, name)
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names, err := needed(dir, []string{"base"})
	if want := []string{"LICENSE.md", "NOTICE", "base/kustomization.yaml", "common/c.yaml", "common/kustomization.yaml", "one.yaml"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v, want %q", names, err, want)
	}
	if _, err := needed(dir, []string{"none"}); err == nil || !strings.Contains(err.Error(), "no directory none") {
		t.Error(err)
	}
	links := map[string]string{"base/out": secret, "base/dir": "../common", "base/git": ".git/config"}
	for link, to := range links {
		at := filepath.Join(dir, link)
		if err := os.Symlink(to, at); err != nil {
			t.Skip("no links here:", err)
		}
		if files, err := read(dir, []string{"base"}); err == nil || !strings.Contains(err.Error(), "expected a file, or a link to one in the repository") {
			t.Errorf("%s: %q, %v", link, files, err)
		}
		if err := os.Remove(at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../two.yaml", filepath.Join(dir, "base/two")); err != nil {
		t.Fatal(err)
	}
	files, err := read(dir, []string{"base"})
	if err != nil || len(files) != 7 || files[3].Name != "base/two" || string(files[3].Text) != "a: 1" {
		t.Errorf("%q, %v", files, err)
	}
}

// TestHostileLocks checks that nothing outside the folder is removed or written, whatever the lock
// says.
func TestHostileLocks(t *testing.T) {
	dir := t.TempDir()
	folder, beside := filepath.Join(dir, "third_party"), filepath.Join(dir, "beside")
	for _, name := range []string{folder, beside} {
		if err := os.MkdirAll(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	victim := filepath.Join(beside, "a.tgz")
	if err := os.WriteFile(victim, []byte("a"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(beside, filepath.Join(folder, "charts")); err != nil {
		t.Skip("no links here:", err)
	}
	lock := thirdparty.New([]thirdparty.Entry{{Name: "https://h/a", Path: "charts/a.tgz", Resolved: "1", SHA256: "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"}})
	var out bytes.Buffer
	problems, err := Run(Options{Folder: folder, Lock: lock, Out: &out, Find: func(*thirdparty.Lock) ([]pointers.Wanted, error) { return nil, nil }})
	if _, gone := os.Stat(victim); gone != nil || len(problems) > 0 || err != nil || !strings.Contains(out.String(), "left ") {
		t.Errorf("%v, %v, %v: %s", gone, problems, err, &out)
	}
}
