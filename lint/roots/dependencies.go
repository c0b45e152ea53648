package roots

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Dependencies returns the dependencies of a chart that are in chart repositories and not in the
// chart's charts/. The versions are those of the chart's lock, or else those of the chart. The
// directory is relative to root.
func Dependencies(root, dir string) (all []pointers.Wanted) {
	var here []fs.DirEntry
	if opened, err := os.OpenRoot(root); err == nil {
		here, _ = fs.ReadDir(opened.FS(), path.Join(dir, "charts")) // without the directory, there are none
		opened.Close()
	}
	for _, names := range [][2]string{{chartName, "Chart.lock"}, {"requirements.yaml", "requirements.lock"}} {
		file, wanted := dependenciesIn(root, path.Join(dir, names[0]))
		_, locked := dependenciesIn(root, path.Join(dir, names[1]))
		for _, d := range wanted {
			name, from, version := d.Get("name").Text(), d.Get("repository").Text(), d.Get("version").Text()
			for _, l := range locked {
				if l.Get("name").Text() == name && l.Get("repository").Text() == from {
					version = l.Get("version").Text()
				}
			}
			has := slices.ContainsFunc(here, func(e fs.DirEntry) bool {
				rest, ok := strings.CutPrefix(e.Name(), name)
				return ok && (rest == "" || rest[0] == '-' && strings.HasSuffix(rest, ".tgz"))
			})
			if name == "" || from == "" || has || strings.HasPrefix(from, "file:") {
				continue
			}
			w := pointers.RemoteChart(from, name, version)
			w.File, w.Line = file, max(int(d.Line), 1)
			all = append(all, w)
		}
	}
	return all
}

func dependenciesIn(root, name string) (string, []*source.Node) {
	text, err := worktree.ReadFile(root, filepath.FromSlash(name), limits.PointerFile)
	if err != nil {
		return name, nil
	}
	docs := source.NewFile(name, name, text).Roots()
	if len(docs) != 1 {
		return name, nil
	}
	return name, docs[0].Get("dependencies").Items()
}
