package revision

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Files returns the files in the index of the work tree that contains dir, including files of
// submodules. Names are relative to dir. If git started this process and set GIT_INDEX_FILE, Files
// reads the index of the commit in progress.
func Files(dir string) ([]string, error) {
	out, err := gitOutput(dir, nil, "ls-files", "-z", "--cached", "--recurse-submodules", "--", ":/")
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// gitCommand returns a git command that fetches nothing and writes nothing. It runs no programs
// named in the git configuration, because an attacker may control the configuration. It does not
// accept a bare repository inside the work tree.
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

// gitSays runs git and returns its standard output and standard error.
func gitSays(dir string, stdin io.Reader, args ...string) (out []byte, said string, err error) {
	cmd := gitCommand(dir, args...)
	var printed, beside bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &printed, &beside
	if err := cmd.Run(); err != nil {
		return nil, "", fatal(beside.String(), err)
	}
	return printed.Bytes(), beside.String(), nil
}

// fatal returns git's error message as an error, or err if there is no message.
func fatal(said string, err error) error {
	for line := range strings.Lines(said) {
		if why, ok := strings.CutPrefix(line, "fatal: "); ok {
			return errors.New(strings.TrimSpace(why))
		}
	}
	return err
}

// Remotes returns the remote URLs for the repository that contains dir. It returns nil if git
// fails.
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

// Limits on what is unpacked, in bytes. maxBlob limits the size of one file. It is the same as for
// a manifest in the work tree. maxLink limits a link's target. maxBlobs limits the total size of
// the files and links in one repository.
const (
	maxBlob  = 64 << 20
	maxLink  = 4 << 10
	maxBlobs = 1 << 30
)

// bySize separates the entries into those that are small enough to read and those that are not. It
// asks git for the sizes first, because git returns only whole blobs.
func bySize(repository string, entries []treeEntry) (small, large []treeEntry, err error) {
	if len(entries) == 0 {
		return nil, nil, nil
	}
	list, err := gitOutput(repository, objectNames(entries), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return nil, nil, err
	}
	sizes := strings.Split(string(list), "\n")
	if len(sizes) <= len(entries) {
		return nil, nil, errors.New("git ends too early")
	}
	var sum int64
	for i, e := range entries {
		size, err := strconv.ParseInt(sizes[i], 10, 64)
		switch {
		case err != nil: // "<object> missing" is reported later, when the object is read
			small = append(small, e)
			continue
		case e.mode == linkMode && size > maxLink:
			return nil, nil, fmt.Errorf("the link %q has a target of %d bytes, expected at most %d", e.name, size, maxLink)
		case size > maxBlob:
			large = append(large, e)
			continue
		}
		if sum += size; sum > maxBlobs {
			return nil, nil, fmt.Errorf("the files of the tree are larger than %d MiB in all, up to %q", maxBlobs>>20, e.name)
		}
		small = append(small, e)
	}
	return small, large, nil
}

func objectNames(entries []treeEntry) io.Reader {
	var objects bytes.Buffer
	for _, e := range entries {
		objects.WriteString(e.object + "\n")
	}
	return &objects
}

// writeLarge writes a sparse file of zeros instead of a file that exceeds the limit. schedlint
// reports the sparse file in the same way, but it takes no disk space.
func writeLarge(root *os.Root, e treeEntry) error {
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(e.name)), 0o755); err != nil {
		return err
	}
	file, err := root.Create(filepath.FromSlash(e.name))
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(maxBlob+1), file.Close())
}

// gitBlobs reads the contents of the entries in order. It calls the argument "each" with the index
// and the content of each entry.
func gitBlobs(dir string, entries []treeEntry, each func(i int, text []byte) error) error {
	if len(entries) == 0 {
		return nil
	}
	cmd := gitCommand(dir, "cat-file", "--batch")
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = objectNames(entries), &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	in := bufio.NewReader(out)
	for i := 0; i < len(entries) && err == nil; i++ {
		var text []byte
		if text, err = readBlob(in); err == nil {
			err = each(i, text)
		}
	}
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fatal(said.String(), err)
	}
	return nil
}

// readBlob parses "<object> <type> <size>\n<text>\n".
func readBlob(in *bufio.Reader) ([]byte, error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return nil, errors.New("git ends too early")
	}
	fields := strings.Fields(head)
	if len(fields) != 3 || fields[1] != "blob" {
		return nil, fmt.Errorf("the file of object %s is not here: fetch the revision as a whole", strings.TrimSpace(head))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return nil, err
	}
	if size > maxBlob {
		return nil, fmt.Errorf("the file of object %s is larger than it was", fields[0])
	}
	text := make([]byte, size+1)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, errors.New("git ends too early")
	}
	return text[:size], nil
}
