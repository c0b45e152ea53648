package vendor

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/worktree"
)

// The forms that helm and git get. None begins with a hyphen, so none is taken for an option.
var (
	visible     = lazy.Regexp(`^[!-~]+$`)
	hostForm    = lazy.Regexp(`^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(?::[0-9]{1,5})?$`)
	pathForm    = lazy.Regexp(`^(?:/[A-Za-z0-9._~%+@=,-]+)*/?$`)
	shortForm   = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[A-Za-z0-9~/][A-Za-z0-9._~/+-]*$`)
	nameForm    = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)
	aliasForm   = lazy.Regexp(`^(?:@|alias:)([A-Za-z0-9][A-Za-z0-9._-]*)$`)
	versionForm = lazy.Regexp(`^[0-9A-Za-z.^~<>=!*|_][0-9A-Za-z.+_^~<>=!*|, -]{0,199}$`)
	tagForm     = lazy.Regexp(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestForm  = lazy.Regexp(`^sha256:[0-9a-f]{64}$`)
	refForm     = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._/+@-]{0,199}$`)
	dots        = lazy.Regexp(`[.]{2}`) // leads up, or makes a range of commits
)

// checked returns an error unless helm or git may get what is wanted. If local is set, addresses of
// this machine and unencrypted ones are allowed.
func checked(w *pointers.Wanted, local bool) error {
	schemes := []string{"https", "oci"}
	if w.Git {
		schemes = []string{"https", "ssh"}
	}
	if local {
		schemes = append(schemes, "http", "file")
	}
	var err error
	switch {
	case w.Git && shortForm().MatchString(w.URL) && !dots().MatchString(w.URL), !w.Git && aliasForm().MatchString(w.URL):
	default:
		err = checkURL(w.URL, schemes)
	}
	wrong := func(what, text, expected string) error {
		return fmt.Errorf("found the %s %q; expected %s", what, text, expected)
	}
	switch {
	case err != nil:
		return err
	case w.Insecure && !local:
		return errors.New("the registry is not encrypted (insecure: true); --allow-local allows it")
	case w.Git && !worktree.Local(w.Path):
		return wrong("directory", w.Path, "one in the repository")
	case w.Git && w.Ref != "" && !w.Semver && (!refForm().MatchString(w.Ref) || dots().MatchString(w.Ref)):
		return wrong("revision", w.Ref, "a commit, a tag or a branch")
	case w.Git && w.Semver && !versionForm().MatchString(w.Ref):
		return wrong("range", w.Ref, "a range of versions")
	case w.Git:
		return nil
	case w.Chart == "" && !strings.HasPrefix(w.URL, "oci://"), w.Chart != "" && !nameForm().MatchString(w.Chart):
		return wrong("chart", w.Chart, "a name of letters, digits and .-_")
	case w.Digest != "" && !digestForm().MatchString(w.Digest):
		return wrong("digest", w.Digest, "sha256: and 64 digits")
	case w.Version != "" && !versionForm().MatchString(w.Version), w.Version != "" && !w.Semver && !tagForm().MatchString(w.Version):
		return wrong("version", w.Version, "a version or a range")
	}
	return nil
}

func checkURL(text string, schemes []string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || !visible().MatchString(text):
		return errors.New("the address is no URL")
	case !slices.Contains(schemes, u.Scheme) && (u.Scheme == "http" || u.Scheme == "file"):
		return fmt.Errorf("the address begins with %s://; --allow-local allows it", u.Scheme)
	case !slices.Contains(schemes, u.Scheme):
		return fmt.Errorf("found the scheme %q; expected one of %s", u.Scheme, strings.Join(schemes, ", "))
	case u.User != nil && u.User.String() != u.User.Username():
		return errors.New("the address has a password in it: remove it, and log in with helm or git")
	case u.User != nil && !nameForm().MatchString(u.User.Username()):
		return errors.New("the address has a user that is no name")
	case u.Scheme != "file" && !hostForm().MatchString(u.Host), u.Scheme == "file" && u.Host != "":
		return fmt.Errorf("found the host %q; expected a name or an IP address", u.Host)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("the address has a query or a fragment, which helm and git do not send")
	case !pathForm().MatchString(u.EscapedPath()) || dots().MatchString(u.Path):
		return fmt.Errorf("found the path %q; expected letters, digits and ._~%%+@=,-", u.EscapedPath())
	}
	return nil
}

// host returns the host of an address that is checked.
func host(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	address = address[strings.IndexByte(address, '@')+1:]
	name, _, _ := strings.Cut(address, ":")
	return name
}

// helmPull returns the arguments with which helm pulls a chart into a directory. If the user's helm
// knows the repository, alias is its name there.
func helmPull(w *pointers.Wanted, alias, dir string) []string {
	args := []string{"pull", "--destination=" + dir}
	if w.Insecure && strings.HasPrefix(w.URL, "oci://") {
		args = append(args, "--plain-http")
	}
	ranged := w.Digest == "" && w.Version != "" && w.Semver
	if ranged {
		args = append(args, "--version="+w.Version)
	}
	if strings.HasPrefix(w.URL, "oci://") {
		address := strings.TrimRight(w.URL+"/"+w.Chart, "/")
		switch {
		case w.Digest != "":
			address += "@" + w.Digest
		case !ranged && w.Version != "":
			address += ":" + w.Version
		}
		return append(args, "--", address)
	}
	if alias != "" {
		return append(args, "--", alias+"/"+w.Chart)
	}
	return append(args, "--repo="+w.URL, "--", w.Chart)
}

// unsafeInNames matches what is replaced in names of folders.
var unsafeInNames = lazy.Regexp(`[^A-Za-z0-9._-]|^[.]+|[.]+$`)

// folderOf returns the folder for a repository that is checked, such as github.com/org/name.
func folderOf(address string) string {
	name, below := host(address), ""
	if u, err := url.Parse(address); err == nil && u.Scheme != "" {
		name, below = cmp.Or(u.Host, "local"), u.Path
	} else {
		_, below, _ = strings.Cut(address, ":")
	}
	all := []string{name}
	for element := range strings.SplitSeq(strings.TrimSuffix(strings.Trim(below, "/"), ".git"), "/") {
		all = append(all, element)
	}
	for i := range all {
		all[i] = unsafeInNames().ReplaceAllString(all[i], "_")
	}
	return path.Join(all...)
}

// command returns a command for a shell. Words that need quotes get them.
func command(words ...string) string {
	for i, word := range words {
		if !plainWord().MatchString(word) {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

var plainWord = lazy.Regexp(`^[a-zA-Z0-9._:/@+,=-]+$`)
