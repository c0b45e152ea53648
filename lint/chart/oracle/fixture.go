package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/schedlint/schedlint/fixtures/charts"
)

// want returns Helm's result for a case, for an archive.
func want(c *charts.Case) *charts.Want {
	h := helm(c)
	if h.err == nil {
		return &charts.Want{Texts: h.texts}
	}
	w := &charts.Want{Failed: true, Said: said(h.err)}
	w.Template, w.Line = place(h.err)
	return w
}

// said returns the last part of an error, without directories of this machine.
func said(err error) string {
	text := err.Error()
	if strings.Contains(text, os.TempDir()) {
		text = text[strings.LastIndex(text, ": ")+1:]
	}
	return strings.TrimSpace(text)
}

// archived returns a case as an archive with a description of the difference.
func archived(f failure) []byte {
	comment := strings.TrimSpace(f.Kind + ": " + f.Text)
	data, err := charts.Archive(comment, f.c, want(f.c))
	if err != nil {
		panic(err)
	}
	return data
}

// answerFolder writes Helm's results for all archives of a folder.
func answerFolder(folder string) bool {
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		panic(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			panic(err)
		}
		comment, c, _, err := charts.ReadArchive(data)
		if err != nil {
			panic(fmt.Errorf("%s: %w", path, err))
		}
		if data, err = charts.Archive(comment, c, want(c)); err != nil {
			panic(err)
		}
		write(path, data)
		fmt.Println(filepath.Base(path))
	}
	return len(paths) > 0
}
