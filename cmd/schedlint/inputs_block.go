package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// renderBlock is the key renders of a configuration that names roots.
type renderBlock struct {
	// entries are directories and globs of kustomizations, from the directory of the
	// configuration, and pointers globs of files with GitOps pointers.
	entries, pointers []string
	charts            []chartEntry
	// left is what is not among them.
	left []leftOut
	// ignore are globs of directories of test data for the key ignore, and proposed the
	// same where the configuration has that key, which is the team's.
	ignore, proposed []string
}

// leftOut is something that does not render, with its values file if it is a chart that has
// one.
type leftOut struct{ kind, name, values, why string }

// fewest is how many roots of one directory a glob stands for at least.
const fewest = 3

// block names the roots that can render offline. A directory in which all roots do is
// a glob, which takes in those that are added later.
func (in *inputs) block(conf *config.Config) renderBlock {
	b := renderBlock{ignore: in.testData()}
	if len(conf.Ignore) > 0 {
		b.ignore, b.proposed = nil, b.ignore
	}
	byParent, mixed := map[string][]string{}, map[string]bool{}
	for i, k := range in.Roots {
		name := in.fromBase(k.Dir)
		if b.ignores(name) {
			continue
		}
		why := in.whyNot(i)
		if why == "" && !utf8.ValidString(name) {
			why = "the name of the directory is not UTF-8"
		}
		if parent := path.Dir(name); why == "" {
			byParent[parent] = append(byParent[parent], name)
		} else {
			mixed[parent] = true
			b.left = append(b.left, leftOut{kind: "kustomize", name: name, why: why})
		}
	}
	for parent, names := range byParent {
		if in.whole && !mixed[parent] && len(names) >= fewest && names[0] != "." {
			b.entries = append(b.entries, path.Join(escapeGlob(parent), "*"))
			continue
		}
		for _, name := range names {
			b.entries = append(b.entries, escapeGlob(name))
		}
	}
	slices.Sort(b.entries)
	in.chartEntries(&b)
	b.pointers = in.pointerGlobs()
	return b
}

// testData returns globs for the test data directories, except those that contain a path
// on the command line.
func (in *inputs) testData() (all []string) {
	for _, dir := range in.TestData {
		at := filepath.Join(in.root, filepath.FromSlash(dir))
		named := slices.ContainsFunc(in.paths, func(path string) bool {
			return worktree.Inside(at, path)
		})
		if name := in.fromBase(dir); !named && utf8.ValidString(name) && worktree.Local(name) {
			all = append(all, escapeGlob(name)+"/")
		}
	}
	return all
}

// ignores reports whether a directory is one of test data, or below one.
func (b renderBlock) ignores(name string) bool {
	return slices.ContainsFunc(b.ignore, func(glob string) bool { return strings.HasPrefix(escapeGlob(name)+"/", glob) })
}

// pointerGlobs are the files of the pointers that are rendered and that nothing deploys, or
// one glob for all.
func (in *inputs) pointerGlobs() []string {
	var all []string
	if in.pointed == nil {
		return nil
	}
	for _, d := range in.pointed.Deployments {
		if d.Output != nil && d.Output.Problem == nil {
			all = append(all, escapeGlob(in.fromBase(d.Pointer.File)))
		}
	}
	slices.Sort(all)
	if all = slices.Compact(all); in.whole && len(all) > 0 {
		return []string{"**"}
	}
	return slices.DeleteFunc(all, func(name string) bool { return !utf8.ValidString(name) })
}

// escapeGlob makes a glob that matches nothing but the name; a name without special
// characters is itself.
func escapeGlob(name string) string { return globSpecial.ReplaceAllString(name, `\$0`) }

var globSpecial = regexp.MustCompile(`[*?\[\]{}\\]`)

// empty reports whether the block names nothing.
func (b renderBlock) empty() bool { return b.len()+len(b.ignore) == 0 }

func (b renderBlock) len() int { return len(b.entries) + len(b.pointers) + len(b.charts) }

// text is the block in YAML with line ends of its file.
func (b renderBlock) text(newline string) string {
	var lines []string
	if len(b.ignore) > 0 {
		lines = append(lines, "ignore:")
	}
	for _, glob := range b.ignore {
		lines = append(lines, "- "+yamlString(glob))
	}
	if b.len() > 0 {
		lines = append(lines, "renders:")
	}
	for _, entry := range b.pointers {
		lines = append(lines, "- pointers: "+yamlString(entry))
	}
	for _, entry := range b.entries {
		lines = append(lines, "- kustomize: "+yamlString(entry))
	}
	for _, c := range b.charts {
		lines = append(lines, "- helm: "+yamlString(c.helm))
		if c.values != "" {
			lines = append(lines, "  name: "+yamlString(c.name), "  values: ["+yamlString(c.values)+"]")
		}
	}
	if len(b.left) > 0 {
		lines = append(lines, "# Roots that do not render offline:")
	}
	for _, l := range b.left {
		name := l.name
		if utf8.ValidString(name) {
			name = escapeGlob(name)
		}
		lines = append(lines, "# - "+l.kind+": "+yamlString(name))
		if l.values != "" {
			lines = append(lines, "#   values: ["+yamlString(l.values)+"]")
		}
		lines = append(lines, "#   "+report.Visible(l.why))
	}
	return strings.Join(lines, newline) + newline
}

// plainName is a text that YAML takes for a string without quotes, but for words.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// yamlWords are plain texts that YAML takes for something else than a string.
func yamlWords() []string {
	return []string{"false", "n", "no", "null", "off", "on", "true", "y", "yes"}
}

// yamlString writes a string in which nothing is hidden. What needs quotes gets those
// of YAML with the escapes of Go, which YAML has as well.
func yamlString(s string) string {
	if plainName.MatchString(s) && !slices.Contains(yamlWords(), strings.ToLower(s)) {
		return s
	}
	return strings.ReplaceAll(strconv.QuoteToASCII(s), "#", `\x23`)
}

// print shows the block for a person who adds it to a file. Taken is set if the file
// has the key already.
func (b renderBlock) print(w io.Writer, target string, taken bool) {
	target = report.Visible(filepath.ToSlash(target))
	if len(b.proposed) > 0 {
		fmt.Fprintf(w, "Directories of test data that %s may ignore as well:\n\n", target)
		for _, glob := range b.proposed {
			fmt.Fprintln(w, "  - "+yamlString(glob))
		}
		fmt.Fprintln(w)
	}
	switch {
	case b.empty():
		fmt.Fprintf(w, "No root can render offline, so there is nothing to add to %s.\n", target)
		return
	case b.len() == 0:
		fmt.Fprintf(w, "To skip test data, add to %s, or run again with --write:\n\n", target)
	case taken:
		fmt.Fprintf(w, "%s has the key renders already. To render all of these and no other, replace it with:\n\n", target)
	default:
		fmt.Fprintf(w, "To render these and no other, add to %s, or run again with --write:\n\n", target)
	}
	io.WriteString(w, b.text("\n"))
}

// target is the configuration that the block belongs to, an absolute path.
func (in *inputs) target(conf *config.Config) string {
	if file, _ := conf.Source(); file != "" {
		return filepath.Join(conf.Dir, filepath.Base(file))
	}
	return filepath.Join(in.base, config.Name)
}

// write adds the block to the configuration, which is created if there is none.
func (b renderBlock) write(cmd *cobra.Command, conf *config.Config, target string) error {
	shown := filepath.ToSlash(here(target))
	if b.empty() {
		return fmt.Errorf("%s: nothing is written, as no root can render offline", shown)
	}
	file, _ := conf.Source()
	if file == "" {
		if err := writeFile(target, []byte(b.text("\n"))); err != nil {
			return fmt.Errorf("writing %s: %w", shown, shortened(err, target))
		}
		return b.written(cmd, shown)
	}
	before, err := conf.Read(filepath.Base(target))
	if err != nil {
		return fmt.Errorf("reading %s: %w", shown, shortened(err, target))
	}
	after, err := b.appended(before)
	if err != nil {
		b.print(cmd.OutOrStdout(), shown, !conf.Discovers())
		return fmt.Errorf("%s: %w", shown, err)
	}
	if err := replaceFile(target, before, after); err != nil {
		return fmt.Errorf("writing %s: %w", shown, shortened(err, target))
	}
	return b.written(cmd, shown)
}

func (b renderBlock) written(cmd *cobra.Command, shown string) error {
	var keys []string
	for _, key := range []struct {
		name string
		n    int
	}{{"ignore", len(b.ignore)}, {"renders", b.len()}} {
		switch {
		case key.n == 1:
			keys = append(keys, key.name+": with 1 entry")
		case key.n > 1:
			keys = append(keys, fmt.Sprintf("%s: with %d entries", key.name, key.n))
		}
	}
	_, err := fmt.Fprintf(cmd.ErrOrStderr(), "schedlint: wrote %s to %s\n", strings.Join(keys, " and "), report.Visible(shown))
	return err
}

// shortened is an error without the path of the file, which the reader has.
func shortened(err error, target string) error {
	return errors.New(strings.ReplaceAll(worktree.Named(err, "").Error(), target, config.Name))
}

// appended is a configuration with the block at its end.
func (b renderBlock) appended(before []byte) ([]byte, error) {
	file := source.NewFile(config.Name, config.Name, before)
	docs := file.Roots()
	if len(docs) > 0 {
		if key, value := docs[0].Field("renders"); key != nil {
			at := file.FieldSpan(key, value)
			return nil, fmt.Errorf("line %d has the key renders already, which is left as it is: change it by hand", at.Line)
		}
	}
	newline := "\n"
	if bytes.Contains(before, []byte("\r\n")) {
		newline = "\r\n"
	}
	text := slices.Clone(before)
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, newline...)
	}
	text = append(text, b.text(newline)...)
	if file.Recoded || !b.reads(text, docs) {
		return nil, errors.New("the key renders cannot be added at the end of the file: add it by hand")
	}
	return text, nil
}

// reads reports whether a text says what the documents before said, and the block.
func (b renderBlock) reads(text []byte, before []*source.Node) bool {
	after := source.NewFile(config.Name, config.Name, text).Roots()
	if len(after) != 1 || after[0].Kind != source.Map {
		return false
	}
	fields := 0
	for _, added := range []int{b.len(), len(b.ignore)} {
		if added > 0 {
			fields++
		}
	}
	if len(before) > 0 && before[0].Kind == source.Map {
		fields += before[0].Len()
		for k, v := range before[0].Fields() {
			if !source.Equal(v, after[0].Get(k.Value)) {
				return false
			}
		}
	}
	var read renderBlock
	if len(b.ignore) > 0 {
		for _, item := range after[0].Get("ignore").Items() {
			read.ignore = append(read.ignore, item.Text())
		}
	}
	for _, item := range after[0].Get("renders").Items() {
		switch pointers, chart := item.Get("pointers"), item.Get("helm"); {
		case pointers != nil:
			read.pointers = append(read.pointers, pointers.Text())
		case chart != nil:
			c := chartEntry{helm: chart.Text(), name: item.Get("name").Text()}
			for _, file := range item.Get("values").Items() {
				c.values += file.Text()
			}
			read.charts = append(read.charts, c)
		default:
			read.entries = append(read.entries, item.Get("kustomize").Text())
		}
	}
	return after[0].Len() == fields && slices.Equal(read.entries, b.entries) && slices.Equal(read.pointers, b.pointers) && slices.Equal(read.charts, b.charts) && slices.Equal(read.ignore, b.ignore)
}
