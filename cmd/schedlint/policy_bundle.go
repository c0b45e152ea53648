package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

func newPolicyBundle() *cobra.Command {
	var out string
	var packs []string
	cmd := &cobra.Command{
		Use:   "bundle [DIR...]",
		Short: "Write your own rules as an OPA bundle",
		Long: `Bundle writes the rules below DIR (default: the folders of the configuration, or
policy), the rules of packs, and the library that they import as an OPA bundle.
opa eval and conftest run them on the output of schedlint facts --format json.`,
		Example: `  schedlint policy bundle -o policies.tar.gz policy
  schedlint facts -t nodes.yaml --rule web-runs-twice --format json . |
    opa eval -b policies.tar.gz -I 'data.schedlint.rules["web-runs-twice"].report'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			dirs := args
			if len(args) > 0 || len(packs) == 0 {
				var err error
				if dirs, err = policyDirs(args); err != nil {
					return err
				}
			}
			files, err := bundleOf(dirs, packs)
			if err != nil {
				return err
			}
			return writeBundle(out, files, cmd.OutOrStdout())
		},
	}
	cmd.Flags().VarP(fileFlag{&out}, "output", "o", "`file` of the bundle, a gzipped tar archive")
	cmd.Flags().StringArrayVar(&packs, "pack", nil, "also bundle the rules of this `pack` (repeatable)")
	if err := cmd.MarkFlagRequired("output"); err != nil {
		panic(err) // the flag is above
	}
	return cmd
}

// bundleOf are the files of a bundle with the rules of some folders and packs.
func bundleOf(dirs, packs []string) ([]rego.BundleFile, error) {
	engine, err := rego.Load(rego.Options{Rules: rules.FS})
	if err != nil {
		return nil, err
	}
	for _, pack := range packs {
		if !slices.Contains(engine.Packs(), pack) {
			return nil, fmt.Errorf("unknown pack %s; there are %s", pack, strings.Join(engine.Packs(), ", "))
		}
	}
	return rego.Bundle(rego.Options{Rules: rules.FS, Dirs: dirs, Packs: packs})
}

// writeBundle writes an archive that is the same for the same files.
func writeBundle(path string, files []rego.BundleFile, told io.Writer) error {
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		if err := archive.WriteHeader(&tar.Header{Name: "/" + f.Name, Mode: 0o644, Size: int64(len(f.Text)), Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := archive.Write(f.Text); err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := zipped.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		return err
	}
	_, err := fmt.Fprintf(told, "wrote %s with %s\n", path, plural(len(files)-1, "module"))
	return err
}
