package rego

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Bounds of rules of the user's own. They are generous: a rule takes 1 to 3 KiB.
const (
	maxModuleBytes = 64 << 10
	maxModules     = 1000
)

// join is the error that holds all of them, or nil.
func join(errs []error) error { return errors.Join(errs...) }

// loadOwn reads and parses the modules of all folders; shown is how they are named.
func loadOwn(dirs []string, shown func(string) string) ([]*module, error) {
	var modules []*module
	var errs []error
	for _, dir := range dirs {
		name := dir
		if shown != nil {
			name = shown(dir)
		}
		files, err := regoFiles(dir, name, func(name string) bool { return !isTest(name) })
		if err != nil {
			errs = append(errs, err)
			continue
		}
		before := len(modules)
		for _, f := range files {
			m, problems := newModule(f.name, f.text)
			errs = append(errs, problems...)
			modules = append(modules, m)
		}
		if !holdsRule(modules[before:]) {
			errs = append(errs, fmt.Errorf(`%s: the folder holds no rule; a rule is a file <id>/rule.rego of the package schedlint.rules["<id>"]`, name))
		}
	}
	if len(errs) == 0 {
		errs = duplicates(modules)
	}
	return modules, join(errs)
}

// holdsRule reports whether there is a rule, or a file whose error stands for
// one.
func holdsRule(modules []*module) bool {
	for _, m := range modules {
		if m == nil || m.rule != nil {
			return true
		}
	}
	return false
}

// duplicates demands that a package is one file: OPA takes annotations of a
// package from one file only, and a rule is to be found in one place.
func duplicates(modules []*module) []error {
	var errs []error
	first := map[string]*module{}
	for _, m := range modules {
		name := m.parsed.Package.Path.String()
		if other, ok := first[name]; ok {
			errs = append(errs, fmt.Errorf("%s:%d: %s stands in %s, too; keep one file per package",
				m.file, m.parsed.Package.Location.Row, m.parsed.Package, other.file))
			continue
		}
		first[name] = m
	}
	return errs
}

// textFile is a file of Rego before it is parsed.
type textFile struct{ name, text string }

// regoFiles reads the *.rego files below a folder that are wanted, in the order of their paths.
// Name is the folder in what is said. Everything is opened relative to the folder, so that no path leads out of it.
func regoFiles(dir, name string, wanted func(name string) bool) ([]textFile, error) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: the folder of rules does not exist", name)
	case err != nil:
		return nil, fmt.Errorf("reading the folder of rules: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s: the folder of rules is a symbolic link; name the folder itself", name)
	case !info.IsDir():
		return nil, fmt.Errorf("%s: this is not a folder; name the folder that holds the rules", name)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the folder of rules: %w", err)
	}
	defer root.Close()
	return walk(root.FS(), filepath.ToSlash(filepath.Clean(name)), wanted)
}

func walk(folder fs.FS, dir string, wanted func(name string) bool) ([]textFile, error) {
	var files []textFile
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("reading the folder of rules: %w", err)
		}
		shown := path.Join(dir, name)
		if entry.Type()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s: symbolic links are not followed; put the file itself here", shown)
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".rego") || !wanted(name) {
			return nil
		}
		if len(files) == maxModules {
			return fmt.Errorf("%s: the folder holds more than %d modules", dir, maxModules)
		}
		text, err := read(folder, name, entry)
		if err != nil {
			return fmt.Errorf("%s: %w", shown, err)
		}
		files = append(files, textFile{shown, text})
		return nil
	})
	return files, err
}

func read(folder fs.FS, name string, entry fs.DirEntry) (string, error) {
	info, err := entry.Info()
	if err != nil {
		return "", fmt.Errorf("reading a rule: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("this is not a regular file")
	}
	if info.Size() > maxModuleBytes {
		return "", fmt.Errorf("the file has %d bytes; a module has at most %d", info.Size(), maxModuleBytes)
	}
	text, err := fs.ReadFile(folder, name)
	if err != nil {
		return "", fmt.Errorf("reading a rule: %w", err)
	}
	return string(text), nil
}
