package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/vendored"
	"github.com/schedlint/schedlint/lint/worktree"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

func newPolicyVendor() *cobra.Command {
	var to string
	var forced bool
	cmd := &cobra.Command{
		Use:   "vendor DIR|TGZ",
		Short: "Copy the rules of others into the repository and lock them",
		Long: `Vendor copies rules from a folder, a gzipped tar archive or an OPA bundle, and
writes their SHA-256 digests to ` + vendored.LockName + ` beside them. Commands that
load rules refuse to run if a file differs from the lock, is missing or is not
in it. Fetching is left to other tools; vendor does not use the network.

Rule files, tests, fixtures, READMEs and licenses are copied; everything else is
listed. The rules must load together with your own. Run vendor again to update:
it replaces the folder, unless a file in it was changed or added.`,
		Example: `  schedlint policy vendor --to policy/vendor/acme acme-policies-1.2.tar.gz`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if to == "" {
				if to, err = vendorDir(args[0]); err != nil {
					return err
				}
			}
			return vendor(cmd.OutOrStdout(), args[0], to, forced)
		},
	}
	cmd.Flags().Var(dirFlag{&to}, "to", "`directory` to copy to (default vendor/NAME below your own rules)")
	cmd.Flags().BoolVar(&forced, "force", false, "discard changes of the files in the directory")
	return cmd
}

// vendorName is what the name of a source gives a folder.
var vendorName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// vendorDir is the folder for the rules of a source: below the first folder of rules of
// the configuration that is not vendored itself, or below policy.
func vendorDir(source string) (string, error) {
	abs, err := filepath.Abs(source)
	if err != nil {
		return "", err
	}
	name := filepath.Base(abs)
	for _, end := range []string{".tar.gz", ".tgz"} {
		name = strings.TrimSuffix(name, end)
	}
	if !vendorName.MatchString(name) || strings.HasSuffix(name, ".") {
		return "", fmt.Errorf("%q is not a valid folder name; choose one with --to", name)
	}
	dirs, err := policyDirs(nil)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(dirs, func(dir string) bool { return vendored.Home(dir) == "" })
	if i < 0 {
		return filepath.Join(policyDir, "vendor", name), nil
	}
	return filepath.Join(dirs[i], "vendor", name), nil
}

// vendor copies the rules of a source to a folder.
func vendor(out io.Writer, from, to string, forced bool) error {
	source, err := vendored.Open(from)
	if err != nil {
		return err
	}
	engine, err := loadsBeside(source, to)
	if err != nil {
		return err
	}
	if err := source.Write(to, forced); err != nil {
		return err
	}
	shown := filepath.ToSlash(filepath.Clean(to))
	fmt.Fprintf(out, "wrote %s with %s, SHA-256 %s\n", report.Visible(shown), plural(len(source.Files), "file"), source.Lock().Digest)
	for _, r := range engine.All() {
		if r.Replaces != "" && strings.HasPrefix(engine.File(r.ID), shown+"/") {
			fmt.Fprintf(out, "%s replaces the built-in rule of that id\n", r.ID)
		}
	}
	listLeft(out, source.Left)
	return hintVendored(out, to)
}

// loadsBeside loads the rules of a source with those that are there already, as they will
// be once they are in a folder.
func loadsBeside(source *vendored.Source, to string) (*rego.Engine, error) {
	conf, err := loadConfig("")
	if err != nil {
		return nil, err
	}
	dirs := slices.DeleteFunc(configuredPolicies(conf), func(dir string) bool { return !isDir(dir) })
	files := map[string][]byte{}
	for _, f := range source.Files {
		files[f.Name] = f.Text
	}
	engine, err := rego.Load(rego.Options{Rules: rules.FS, Dirs: dirs, Instead: &rego.Folder{Dir: to, Files: files}})
	if err != nil {
		return nil, fmt.Errorf("nothing is written: %w", err)
	}
	return engine, nil
}

// maxLeft is how many files that are not copied are told one by one.
const maxLeft = 20

// listLeft tells which files are not copied.
func listLeft(out io.Writer, left []string) {
	for _, name := range left[:min(len(left), maxLeft)] {
		fmt.Fprintf(out, "not copied: %s\n", report.Visible(name))
	}
	if more := len(left) - maxLeft; more > 0 {
		fmt.Fprintf(out, "not copied: %s\n", plural(more, "more file"))
	}
}

// hintVendored names the folder in a new configuration, or says what to add to the one
// that there is, unless that names the folder or one around it.
func hintVendored(out io.Writer, to string) error {
	conf, err := loadConfig("")
	if err != nil {
		return err
	}
	abs, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	for _, dir := range conf.PolicyDirs() {
		if worktree.Inside(dir, abs) {
			return nil
		}
	}
	name := to
	if first, _, nested := strings.Cut(path.Clean(filepath.ToSlash(to)), "/"); nested && first == policyDir {
		name = policyDir
	}
	hint, err := configure(name, func(path string, text []byte) error {
		made, err := writeNew(path, text)
		if made {
			fmt.Fprintf(out, "wrote %s\n", filepath.ToSlash(path))
		}
		return err
	})
	_, written := io.WriteString(out, hint)
	return errors.Join(err, written)
}
