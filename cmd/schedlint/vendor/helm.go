package vendor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/schedlint/schedlint/lint/archive"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/vendored"
	"github.com/schedlint/schedlint/lint/worktree"
)

// helm runs the user's helm.
type helm struct {
	repositories map[string]string // names by address; nil until listed
	updated      map[string]bool   // names
}

// chart is an archive that helm pulled.
type chart struct {
	name, version string
	text          []byte
}

// pull pulls a chart that is checked.
func (h *helm) pull(w *pointers.Wanted) (*chart, error) {
	dir, err := os.MkdirTemp("", "schedlint-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	alias, err := h.alias(w.URL, dir)
	if err != nil {
		return nil, err
	}
	if _, err := runHelm(dir, helmPull(w, alias, dir)...); err != nil {
		return nil, fmt.Errorf("helm: %w%s", err, login(err.Error(), w.URL))
	}
	pulled, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(pulled) != 1 {
		return nil, fmt.Errorf("helm wrote %d archives; expected one", len(pulled))
	}
	text, err := worktree.ReadFile(dir, filepath.Base(pulled[0]), thirdparty.MaxFile)
	if err != nil {
		return nil, fmt.Errorf("the chart %w", err)
	}
	c, err := open(text)
	if err != nil {
		return nil, err
	}
	if name := path.Base(w.Chart); w.Chart != "" && c.name != name {
		return nil, fmt.Errorf("helm pulled the chart %q; expected %s", c.name, name)
	}
	if w.Filter != "" {
		filter, err := regexp.Compile(w.Filter)
		if err != nil {
			return nil, fmt.Errorf("semverFilter: %w", err)
		}
		if !filter.MatchString(c.version) {
			return nil, fmt.Errorf("helm chose version %s, which semverFilter %q leaves out; helm cannot filter versions, so write a range that excludes it", c.version, w.Filter)
		}
	}
	return c, nil
}

// alias returns the name of a repository in the user's helm, or "" if helm does not know it. It
// updates the repository once.
func (h *helm) alias(address, dir string) (string, error) {
	if strings.HasPrefix(address, "oci://") {
		return "", nil
	}
	if h.repositories == nil {
		h.repositories, h.updated = map[string]string{}, map[string]bool{}
		var listed []struct{ Name, URL string }
		out, err := runHelm(dir, "repo", "list", "--output=json")
		if errors.Is(err, exec.ErrNotFound) {
			return "", err
		}
		if err == nil { // helm fails if it knows no repository
			if err = json.Unmarshal(out, &listed); err != nil {
				return "", fmt.Errorf("helm repo list: %w", err)
			}
		}
		for _, r := range listed {
			if nameForm().MatchString(r.Name) {
				h.repositories[strings.TrimRight(r.URL, "/")] = r.Name
				h.repositories["@"+r.Name] = r.Name
			}
		}
	}
	m := aliasForm().FindStringSubmatch(address)
	if m != nil {
		address = "@" + m[1]
	}
	name := h.repositories[strings.TrimRight(address, "/")]
	if m != nil && name == "" {
		return "", fmt.Errorf("helm knows no repository %s; add it: helm repo add %s URL", m[1], m[1])
	}
	if name != "" && !h.updated[name] {
		h.updated[name] = true
		if _, err := runHelm(dir, "repo", "update", "--", name); err != nil {
			return "", fmt.Errorf("helm repo update %s: %w%s", name, err, login(err.Error(), address))
		}
	}
	return name, nil
}

// runHelm runs helm without a shell. An error has the words of helm.
func runHelm(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("helm", args...)
	cmd.Dir = dir
	var out, said capped
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("%w; schedlint vendor runs helm 3 or later from PATH", err)
	}
	if err != nil {
		for line := range strings.Lines(said.String()) {
			if words, ok := strings.CutPrefix(line, "Error: "); ok {
				return nil, errors.New(clipped(strings.ReplaceAll(strings.TrimSpace(words), dir, ".")))
			}
		}
		return nil, err
	}
	return out.Bytes(), nil
}

// capped keeps the beginning of what a program prints.
type capped struct{ bytes.Buffer }

const mostPrinted = 4 << 20 // in bytes

func (c *capped) Write(p []byte) (int, error) {
	c.Buffer.Write(p[:min(len(p), max(0, mostPrinted-c.Len()))])
	return len(p), nil
}

// clipped shortens the words of a program, which may come from a server.
func clipped(text string) string {
	const most = 300
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

var denied = lazy.Regexp(`(?i)\b401\b|\b403\b|unauthori[sz]ed|denied|forbidden|authentication|could not read Username`)

// login returns advice if an error says that a login is missing.
func login(words, address string) string {
	switch {
	case !denied().MatchString(words):
		return ""
	case strings.HasPrefix(address, "oci://"):
		return "; if a login is missing: helm registry login " + host(address)
	}
	return "; if a login is missing: helm repo add NAME " + address + " --username USER --password-stdin"
}

// open reads the name and version of a chart. It reads the whole archive within the limits for
// charts.
func open(text []byte) (*chart, error) {
	c := &chart{text: text}
	most := archive.Limits{Bytes: limits.ChartBytes, File: limits.ChartFile, Entries: limits.ChartFiles}
	err := archive.Read(bytes.NewReader(text), most, func(e archive.Entry) error {
		if err := vendored.CheckName(strings.TrimSuffix(e.Name, "/")); err != nil {
			return fmt.Errorf("entry %q: %w", e.Name, err)
		}
		if top, file, _ := strings.Cut(e.Name, "/"); e.Dir || file != "Chart.yaml" || top == "" || c.name != "" {
			return nil
		}
		head, err := worktree.ReadAll(e.Text, limits.ChartFile)
		if err != nil {
			return err
		}
		for _, doc := range source.NewFile("Chart.yaml", "Chart.yaml", head).Roots() {
			c.name, c.version = doc.Get("name").Text(), doc.Get("version").Text()
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("the chart: %w", err)
	case !nameForm().MatchString(c.name) || strings.Contains(c.name, "/") || len(c.name) > 100:
		return nil, fmt.Errorf("the chart has the name %q; expected letters, digits and .-_", clipped(c.name))
	case !exactForm().MatchString(c.version):
		return nil, fmt.Errorf("the chart has the version %q; expected a version", clipped(c.version))
	}
	return c, nil
}

var exactForm = lazy.Regexp(`^v?[0-9]+(?:\.[0-9]+){0,2}(?:[-+][0-9A-Za-z.+-]{0,60}[0-9A-Za-z])?$`)
