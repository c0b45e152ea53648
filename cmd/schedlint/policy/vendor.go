package policy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/vendored"
	"github.com/schedlint/schedlint/lint/worktree"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

// vendorName matches source names that are valid folder names.
var vendorName = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// vendorDir returns the folder to copy a source's rules to. The folder is inside the first
// configured rule folder that is not vendored. If there is no such rule folder, it is inside the
// folder named policy.
func vendorDir(source string) (string, error) {
	abs, err := filepath.Abs(source)
	if err != nil {
		return "", err
	}
	name := filepath.Base(abs)
	for _, end := range []string{".tar.gz", ".tgz"} {
		name = strings.TrimSuffix(name, end)
	}
	if !vendorName().MatchString(name) || strings.HasSuffix(name, ".") {
		return "", fmt.Errorf("%q is not a valid folder name; choose one with --to", name)
	}
	dirs, err := Dirs(nil, false)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(dirs, func(dir string) bool { return vendored.Home(dir) == "" })
	if i < 0 {
		return filepath.Join(Dir, "vendor", name), nil
	}
	return filepath.Join(dirs[i], "vendor", name), nil
}

// maxLeft is the maximum number of entries in the list of files that were not copied.
const maxLeft = 20

// Vendor copies the rules from a source to a folder and reports what it did. If the argument "to"
// is empty, the folder is named after the source.
func Vendor(out io.Writer, from, to string, forced bool) (err error) {
	if to == "" {
		if to, err = vendorDir(from); err != nil {
			return err
		}
	}
	source, err := vendored.Open(from)
	if err != nil {
		return err
	}
	conf, err := config.Choose("")
	if err != nil {
		return err
	}
	engine, err := loadsBeside(source, to, conf)
	if err != nil {
		return fmt.Errorf("nothing is written: %w", err)
	}
	if err := source.Write(to, forced); err != nil {
		return err
	}
	shown := filepath.ToSlash(filepath.Clean(to))
	fmt.Fprintf(out, "wrote %s with %s, SHA-256 %s\n", report.Visible(shown), report.Count(len(source.Files), "file"), source.Lock().Digest)
	for _, r := range engine.All() {
		if r.Replaces != "" && strings.HasPrefix(engine.File(r.ID), shown+"/") {
			fmt.Fprintf(out, "%s replaces the built-in rule of that id\n", r.ID)
		}
	}
	for _, name := range source.Left[:min(len(source.Left), maxLeft)] {
		fmt.Fprintf(out, "not copied: %s\n", report.Visible(name))
	}
	if more := len(source.Left) - maxLeft; more > 0 {
		fmt.Fprintf(out, "not copied: %s\n", report.Count(more, "more file"))
	}
	return hintVendored(out, to, conf, "")
}

// loadsBeside loads the rules from a source together with the existing rules, as if the source had
// already been copied to its folder.
func loadsBeside(source *vendored.Source, to string, conf *config.Config) (*rego.Engine, error) {
	dirs := slices.DeleteFunc((Source{}).with(conf), func(dir string) bool { return !worktree.IsDir(dir) })
	files := map[string][]byte{}
	for _, f := range source.Files {
		files[f.Name] = f.Text
	}
	return rego.Load(rego.Options{Rules: rules.FS, Dirs: dirs, Off: every, Instead: &rego.Folder{Dir: to, Files: files}})
}

// hintVendored makes sure that the configuration names the folder or one of its parents, and has the
// given settings. If no configuration exists, it creates one. Otherwise, it prints the lines to add.
func hintVendored(out io.Writer, to string, conf *config.Config, settings string) error {
	abs, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	name := to
	if slices.ContainsFunc(conf.PolicyDirs(), func(dir string) bool { return worktree.Inside(dir, abs) }) {
		if settings == "" {
			return nil
		}
		name = ""
	} else if first, _, nested := strings.Cut(path.Clean(filepath.ToSlash(to)), "/"); nested && first == Dir {
		name = Dir
	}
	hint, err := configure(name, settings, func(path string, text []byte) error {
		made, err := writeNew(path, text)
		if made {
			fmt.Fprintf(out, "wrote %s\n", filepath.ToSlash(path))
		}
		return err
	})
	_, written := io.WriteString(out, hint)
	return errors.Join(err, written)
}

// WriteBundle writes an OPA bundle with the rules from the given folders and packs. It then prints
// a message to the writer "told". The bundle depends only on the rules, so the same rules always
// produce the same bytes.
func WriteBundle(told io.Writer, path string, dirs, packs []string) error {
	engine, err := rego.Load(rego.Options{Rules: rules.FS})
	if err != nil {
		return err
	}
	for _, pack := range packs {
		if !slices.Contains(engine.Packs(), pack) {
			return fmt.Errorf("unknown pack %s; there are %s", pack, strings.Join(engine.Packs(), ", "))
		}
	}
	files, err := rego.Bundle(rego.Options{Rules: rules.FS, Dirs: dirs, Packs: packs})
	if err != nil {
		return err
	}
	n := len(files) - 1 // without the manifest
	more, err := fixtureFiles(dirs)
	if err != nil {
		return err
	}
	files = append(files, more...)
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		err = archive.WriteHeader(&tar.Header{Name: "/" + f.Name, Mode: 0o644, Size: int64(len(f.Text)), Format: tar.FormatUSTAR})
		if err == nil {
			_, err = archive.Write(f.Text)
		}
		if err != nil {
			return err
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		return err
	}
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(told, "wrote %s with %s\n", path, report.Count(n, "module"))
	return err
}

// fixtureFiles returns the fixtures of the rules in the given folders, so that those who use the
// bundle can run its tests.
func fixtureFiles(dirs []string) (files []rego.BundleFile, err error) {
	own, err := ownRules(dirs)
	if err != nil {
		return nil, err
	}
	for i := range own {
		all, err := own[i].fixtures()
		if err != nil {
			return nil, err
		}
		texts := map[string][]byte{}
		for _, f := range all {
			for name, text := range f.files {
				texts[filepath.Join(f.dir, name)] = text
			}
			if f.nodes != "" {
				if texts[f.nodes], err = os.ReadFile(f.nodes); err != nil {
					return nil, err
				}
			}
		}
		for _, name := range sorting.Keys(texts) {
			if base := filepath.Base(name); base == "data.yaml" || base == "data.yml" || base == "data.json" {
				return nil, fmt.Errorf("%s: opa reads a file of this name as data; give the fixture another name", filepath.ToSlash(name))
			}
			files = append(files, rego.BundleFile{Name: rego.InBundle(name), Text: texts[name]})
		}
	}
	return files, nil
}
