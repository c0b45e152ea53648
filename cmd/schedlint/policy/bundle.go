package policy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

// WriteBundle writes an OPA bundle with the rules of some folders and packs, and reports that to
// told. The same rules give the same bytes.
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
	_, err = fmt.Fprintf(told, "wrote %s with %s\n", path, report.Count(len(files)-1, "module"))
	return err
}
