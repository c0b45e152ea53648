package revision

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Files returns the files in the index of the work tree around a directory, relative to that
// directory, including those of submodules. If git itself started this process and set
// GIT_INDEX_FILE, the index is that of the commit in progress.
func Files(dir string) ([]string, error) {
	out, err := gitOutput(dir, nil, "ls-files", "-z", "--cached", "--recurse-submodules", "--", ":/")
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// gitCommand returns a git command that runs no program from a configuration of the work tree,
// which an attacker may control, fetches nothing and writes nothing. It does not accept a directory
// of the work tree that looks like a bare repository.
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

// gitSays returns git's standard output and standard error.
func gitSays(dir string, stdin io.Reader, args ...string) (out []byte, said string, err error) {
	cmd := gitCommand(dir, args...)
	var printed, beside bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &printed, &beside
	if err := cmd.Run(); err != nil {
		return nil, "", fatal(beside.String(), err)
	}
	return printed.Bytes(), beside.String(), nil
}

// fatal returns the message with which git failed, or else err.
func fatal(said string, err error) error {
	for line := range strings.Lines(said) {
		if why, ok := strings.CutPrefix(line, "fatal: "); ok {
			return errors.New(strings.TrimSpace(why))
		}
	}
	return err
}

// Remotes returns the URLs of the remotes of the repository at a directory. It returns none without
// git.
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
