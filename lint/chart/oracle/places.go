package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/fixtures/charts"
	ours "github.com/schedlint/schedlint/lint/chart"
	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// sources are the files of a case, as traces name them.
type sources struct {
	c      *charts.Case
	lines  map[string][]string
	values map[string]*positions
}

// text is a file of the chart or a values file. Files of an archive follow its name and a
// colon.
func (s *sources) text(name string) ([]byte, bool) {
	for _, v := range s.c.Values {
		if v.Name == name {
			return v.Data, true
		}
	}
	for _, f := range s.c.Files {
		if f.Name == name {
			return f.Data, true
		}
		if inside, ok := strings.CutPrefix(name, f.Name+":"); ok {
			return unpacked(f.Data, inside)
		}
	}
	return nil, false
}

func unpacked(data []byte, name string) ([]byte, bool) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, false
	}
	t := tar.NewReader(z)
	for h, err := t.Next(); err == nil; h, err = t.Next() {
		if _, rest, _ := strings.Cut(h.Name, "/"); h.Name == name || rest == name {
			text, err := io.ReadAll(t)
			return text, err == nil
		}
	}
	return nil, false
}

func (s *sources) line(name string, n int) (string, bool) {
	if s.lines[name] == nil {
		text, ok := s.text(name)
		if !ok {
			return "", false
		}
		s.lines[name] = strings.Split(string(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))), "\n")
	}
	if n > len(s.lines[name]) {
		return "", false
	}
	return s.lines[name][n-1], true
}

// positions are the scalars and keys of a values file by line and column.
type positions map[[2]int]*yaml3.Node

func newPositions(text []byte) *positions {
	p := positions{}
	var doc yaml3.Node
	if yaml3.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &doc) == nil {
		p.walk(&doc)
	}
	return &p
}

func (p positions) walk(n *yaml3.Node) {
	if n.Kind != yaml3.DocumentNode && p[[2]int{n.Line, n.Column}] == nil {
		p[[2]int{n.Line, n.Column}] = n
	}
	for _, below := range n.Content {
		p.walk(below)
	}
}

// wrong says why a place cannot be that of a line of the output, or "".
func (s *sources) wrong(at ours.Place, line string) string {
	if strings.HasPrefix(at.File, "--set") {
		return ""
	}
	if s.values[at.File] == nil {
		text, ok := s.text(at.File)
		if !ok {
			return "there is no such file"
		}
		s.values[at.File] = newPositions(text)
	}
	n := (*s.values[at.File])[[2]int{at.Line, at.Column}]
	if n == nil {
		return "nothing begins there"
	}
	if n.Kind == yaml3.AliasNode {
		n = n.Alias
	}
	for n.Kind == yaml3.SequenceNode && len(n.Content) > 0 || n.Kind == yaml3.MappingNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	if n.Kind != yaml3.ScalarNode {
		if strings.Contains(line, "[]") || strings.Contains(line, "{}") {
			return ""
		}
		return "it is empty"
	}
	if printed(n, line) {
		return ""
	}
	return fmt.Sprintf("it is %.100q there", n.Value)
}

// printed is whether a line of the output holds a scalar in one of the ways that templates
// print one.
func printed(n *yaml3.Node, line string) bool {
	spellings := []string{n.Value, strings.TrimSpace(n.Value), strings.Trim(strconv.Quote(n.Value), `"`), strings.ReplaceAll(n.Value, "'", "''")}
	for part := range strings.Lines(n.Value) {
		if part = strings.TrimSpace(part); part != "" && strings.Contains(line, part) {
			return true
		}
	}
	var value any
	if yaml.Unmarshal([]byte(n.Value), &value) == nil && n.Style == 0 {
		switch v := value.(type) {
		case float64:
			spellings = append(spellings, fmt.Sprint(v), strconv.FormatFloat(v, 'f', -1, 64), strconv.Itoa(int(v)))
		case bool:
			spellings = append(spellings, fmt.Sprint(v))
		case nil:
			spellings = append(spellings, "null", `""`)
		}
	}
	for _, text := range spellings {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}
