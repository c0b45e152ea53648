package policy

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/worktree"
	"github.com/schedlint/schedlint/rego"
)

//go:embed all:scaffold
var scaffold embed.FS

// New writes a rule with tests and fixtures to start from, and configuration for editors.
func New(out io.Writer, dir, id string) error {
	if err := rego.CheckID(id); err != nil {
		return err
	}
	home := filepath.Join(dir, id)
	if _, err := os.Lstat(home); err == nil {
		return fmt.Errorf("%s exists; choose another id, or remove it", filepath.ToSlash(home))
	}
	var written []string
	put := func(path string, text []byte) error {
		made, err := writeNew(path, text)
		if made {
			written = append(written, filepath.ToSlash(path))
		}
		return err
	}
	err := fs.WalkDir(scaffold, "scaffold", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := scaffold.ReadFile(name)
		if err != nil {
			return err
		}
		path := filepath.Join(home, filepath.FromSlash(strings.TrimSuffix(strings.TrimPrefix(name, "scaffold/"), ".txt")))
		if name == "scaffold/regal.yaml" {
			path = filepath.Join(dir, ".regal", "config.yaml")
		}
		return put(path, []byte(strings.ReplaceAll(string(text), "@ID@", id)))
	})
	if err == nil {
		err = put(filepath.Join(dir, "schema", "facts.json"), facts.Schema())
	}
	hint := ""
	if err == nil {
		hint, err = configure(dir, put)
	}
	for _, path := range written {
		fmt.Fprintf(out, "wrote %s\n", path)
	}
	if err == nil {
		fmt.Fprintf(out, "%snext: schedlint policy test %s\n", hint, filepath.ToSlash(dir))
	}
	return err
}

// writeNew writes a file, unless it exists.
func writeNew(path string, text []byte) (made bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(text)
	return true, errors.Join(err, f.Close())
}

// configure names the folder in a new configuration. If there already is a configuration, it
// returns a hint that says what to add.
func configure(dir string, put func(path string, text []byte) error) (hint string, err error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	entry := fmt.Sprintf("policies:\n- dir: %s\n", filepath.ToSlash(dir))
	if found := config.Find(here); found != "" {
		return fmt.Sprintf("add to %s, unless it is there:\n%s", filepath.ToSlash(worktree.Seen(here, found)), entry), nil
	}
	if filepath.IsAbs(dir) {
		return "", nil
	}
	return "", put(config.Name, []byte(entry))
}
