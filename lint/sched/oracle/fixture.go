package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/schedlint/schedlint/fixtures/clusters"
)

// kubernetesVersion is that of the scheduler that answers.
const kubernetesVersion = "v1.36.3"

// expect is the scheduler's answer to a fixture.
type expect struct {
	Kubernetes string                 `json:"kubernetes"`
	Verdict    Verdict                `json:"verdict"`
	Total      int                    `json:"total"`
	MaxPlaced  int                    `json:"maxPlaced"`
	MinPlaced  int                    `json:"minPlaced"`
	Workloads  map[string]seriesCount `json:"workloads"`
	// Refused are workloads that the API server refuses, or whose pods it does.
	Refused map[string]string `json:"refused,omitempty"`
}

type seriesCount struct {
	Pods      int `json:"pods"`
	MaxPlaced int `json:"maxPlaced"`
	MinPlaced int `json:"minPlaced"`
}

// answer is what the real scheduler says of a case.
func answer(w *World, nodes, manifests string, states int) (*expect, error) {
	c, err := NewCluster(nodes, manifests)
	if err != nil {
		return nil, err
	}
	t, err := Explore(context.Background(), w, c, states)
	if err != nil {
		return nil, err
	}
	e := &expect{Kubernetes: kubernetesVersion, Verdict: t.Verdict, Total: t.Total, MaxPlaced: t.MaxPlaced, MinPlaced: t.MinPlaced, Workloads: map[string]seriesCount{}}
	for name, s := range t.Series {
		e.Workloads[name] = seriesCount{s.Pods, s.Max, s.Min}
	}
	for name, r := range c.Refused {
		if e.Refused == nil {
			e.Refused = map[string]string{}
		}
		e.Refused[name] = map[bool]string{false: "object", true: "pods"}[r.Pods]
	}
	return e, nil
}

// fixture is the archive of one case with its answer.
func fixture(comment, nodes, manifests string, e *expect) *txtar.Archive {
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		panic(err)
	}
	return &txtar.Archive{Comment: []byte(comment + "\n"), Files: []txtar.File{
		{Name: "manifests.yaml", Data: []byte(manifests)}, {Name: "nodes.yaml", Data: []byte(nodes)}, {Name: "expect.json", Data: append(text, '\n')},
	}}
}

// readFixture takes an archive apart; expect.json may be missing.
func readFixture(path string) (comment, nodes, manifests, expected string, err error) {
	a, err := txtar.ParseFile(path)
	if err != nil {
		return "", "", "", "", err
	}
	files := map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	return string(a.Comment), files["nodes.yaml"], files["manifests.yaml"], files["expect.json"], nil
}

// answerFolder writes the answers of all fixtures of a folder.
func answerFolder(o options, folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		return err
	}
	w := newComparer(o).World
	for _, path := range paths {
		comment, nodes, manifests, _, err := readFixture(path)
		if err != nil {
			return err
		}
		e, err := answer(w, nodes, manifests, 1_000_000)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		a := fixture(trimmed(comment), nodes, manifests, e)
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			return err
		}
		fmt.Printf("%-40s %-16s %d to %d of %d\n", filepath.Base(path), e.Verdict, e.MinPlaced, e.MaxPlaced, e.Total)
	}
	return nil
}

// save writes a shrunk case with its answer.
func save(w *World, folder, name, comment string, c *clusters.Case) error {
	nodes, manifests := c.Text()
	e, err := answer(w, nodes, manifests, 1_000_000)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, name+".txtar"), txtar.Format(fixture(comment, nodes, manifests, e)), 0o644)
}
