package revision

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Files returns the files in the index of the work tree around a directory, from
// there, those of submodules included. The index is that of the commit that is
// being made, if git itself started this process and said so in GIT_INDEX_FILE.
func Files(dir string) ([]string, error) {
	out, err := gitOutput(dir, nil, "ls-files", "-z", "--cached", "--recurse-submodules", "--", ":/")
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// gitCommand is git with nothing run that a configuration of the work tree, which
// may be anybody's, names; nothing is fetched, and nothing is written. A directory of
// the work tree that looks like a repository without one is none.
func gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "safe.bareRepository=explicit"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(),
		"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"GIT_LITERAL_PATHSPECS=0", "GIT_NO_REPLACE_OBJECTS=1")
	return cmd
}

func gitOutput(dir string, stdin io.Reader, args ...string) ([]byte, error) {
	out, _, err := gitSays(dir, stdin, args...)
	return out, err
}

// gitSays gives what git prints, and what it says beside that.
func gitSays(dir string, stdin io.Reader, args ...string) (out []byte, said string, err error) {
	cmd := gitCommand(dir, args...)
	var printed, beside bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &printed, &beside
	if err := cmd.Run(); err != nil {
		return nil, "", fatal(beside.String(), err)
	}
	return printed.Bytes(), beside.String(), nil
}

// fatal is what git says that it died of.
func fatal(said string, err error) error {
	for line := range strings.Lines(said) {
		if why, ok := strings.CutPrefix(line, "fatal: "); ok {
			return errors.New(strings.TrimSpace(why))
		}
	}
	return err
}

// Remotes returns the addresses of the repository at a directory, as git has them. Without git
// there are none.
func Remotes(dir string) (all []string) {
	out, err := gitOutput(dir, nil, "config", "--get-regexp", `^remote\..*\.url$`)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(out)) {
		if _, url, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all = append(all, url)
		}
	}
	return all
}
