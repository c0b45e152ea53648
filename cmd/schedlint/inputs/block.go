package inputs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Block holds entries for the keys "renders" and "ignore" of the configuration. The entries name
// the inputs that were found.
type Block struct {
	conf   *config.Config
	target string // absolute path of the configuration file to add the block to
	// entries holds kustomization directories and globs for them, relative to the configuration's
	// directory. pointers holds globs for files with GitOps pointers.
	entries, pointers []string
	charts            []chartEntry
	// left lists the inputs without an entry.
	left []leftOut
	// ignore holds globs for test data directories, to write under the ignore key. If the
	// configuration already has an ignore key, the globs are in proposed instead, and the block
	// does not change the key.
	ignore, proposed []string
}

// leftOut is an input that does not render. For a chart, values is the name of the values file, or
// "" for the default values.
type leftOut struct{ kind, name, values, why string }

// chartEntry is a chart's entry under the renders key.
type chartEntry struct{ helm, name, values string }

// fewest is the minimum number of subdirectories to replace with a glob.
const fewest = 3

// Block returns a block that names every input that renders offline. If all roots in a directory
// render, Block uses a glob, which also matches roots added later.
func (in *Found) Block() *Block {
	b := &Block{conf: in.conf, target: filepath.Join(in.base, config.Name), ignore: in.testData()}
	if file, _ := in.conf.Source(); file != "" {
		b.target = filepath.Join(in.conf.Dir, filepath.Base(file))
	}
	if len(in.conf.Ignore) > 0 {
		b.ignore, b.proposed = nil, b.ignore
	}
	kept := parents{}
	for i, k := range in.Roots {
		name := in.fromBase(k.Dir)
		if b.ignores(name) {
			continue
		}
		why := in.whyNot(in.outputs[i])
		if why == "" && !utf8.ValidString(name) {
			why = "the name of the directory is not UTF-8"
		}
		kept.add(name, why == "")
		if why != "" {
			b.left = append(b.left, leftOut{kind: "kustomize", name: name, why: why})
		}
	}
	b.entries = kept.globs(in.whole())
	slices.Sort(b.entries)
	in.chartEntries(b)
	b.pointers = in.pointerGlobs()
	return b
}

// parents maps each directory to the names of its subdirectories. A subdirectory without an entry
// in the configuration is listed as "".
type parents map[string][]string

func (p parents) add(name string, named bool) {
	parent := path.Dir(name)
	if !named {
		name = ""
	}
	p[parent] = append(p[parent], name)
}

// globs returns the subdirectories' names as globs, escaping special characters. If whole is true,
// a single glob can replace the names of all subdirectories of a parent. There must be at least
// three of them, and each must have an entry.
func (p parents) globs(whole bool) (all []string) {
	for parent, names := range p {
		if whole && !slices.Contains(names, "") && len(names) >= fewest && names[0] != "." {
			names = []string{path.Join(escapeGlob(parent), "*")}
		} else {
			names = slices.DeleteFunc(names, func(name string) bool { return name == "" })
			for i := range names {
				names[i] = escapeGlob(names[i])
			}
		}
		all = append(all, names...)
	}
	return all
}

// chartEntries adds an entry for each of a chart's values files, except values files for tests. If
// no values file remains, chartEntries adds one entry with the default values.
func (in *Found) chartEntries(b *Block) {
	kept := parents{}
	for _, c := range in.charts {
		dir := in.fromBase(c.Dir)
		if b.ignores(dir) {
			continue
		}
		if c.why != "" && c.Installs() || len(c.renders) > 1 {
			kept.add(dir, false)
		}
		hasEnvironment := slices.ContainsFunc(c.Values, func(name string) bool { return !c.IsTest(name) })
		for _, r := range c.renders {
			if r.values == "" && hasEnvironment {
				continue
			}
			why := in.whyNot(r.out)
			switch {
			case why != "":
			case !utf8.ValidString(dir) || !utf8.ValidString(r.values):
				why = "the name of the directory or of the values file is not UTF-8"
			case r.values != "" && escapeGlob(dir) != dir:
				why = "the name of the directory has characters of a glob, and values files need one directory"
			case r.values == "":
				kept.add(dir, true)
			default:
				b.charts = append(b.charts, chartEntry{dir, r.name, in.valuesPath(c, r.values)})
			}
			if why != "" {
				kept.add(dir, false)
				b.left = append(b.left, leftOut{"helm", dir, in.valuesPath(c, r.values), why})
			}
		}
	}
	for _, dir := range kept.globs(in.whole()) {
		b.charts = append(b.charts, chartEntry{helm: dir})
	}
	sorting.Stable(b.charts, func(x, y chartEntry) int { return strings.Compare(x.helm, y.helm) })
}

// testData returns globs for the test data directories. It omits directories that contain a path
// given on the command line.
func (in *Found) testData() (all []string) {
	for _, dir := range in.TestData {
		at := under(in.root, dir)
		holds := slices.ContainsFunc(in.paths, func(path string) bool { return worktree.Inside(at, path) })
		if name := in.fromBase(dir); !holds && utf8.ValidString(name) && worktree.Local(name) {
			all = append(all, escapeGlob(name)+"/")
		}
	}
	return all
}

// ignores reports whether a directory is a test data directory or inside one.
func (b *Block) ignores(name string) bool {
	return slices.ContainsFunc(b.ignore, func(glob string) bool { return strings.HasPrefix(escapeGlob(name)+"/", glob) })
}

// pointerGlobs returns globs for the files whose pointers render. It returns a single glob for all
// files if the searched paths cover the configuration's whole directory.
func (in *Found) pointerGlobs() []string {
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
	if all = slices.Compact(all); in.whole() && len(all) > 0 {
		return []string{"**"}
	}
	return slices.DeleteFunc(all, func(name string) bool { return !utf8.ValidString(name) })
}

// escapeGlob returns a glob that matches only the given name. It changes only names with special
// characters.
func escapeGlob(name string) string { return globSpecial().ReplaceAllString(name, `\$0`) }

var globSpecial = lazy.Regexp(`[*?\[\]{}\\]`)

// empty reports whether the block has no entries.
func (b *Block) empty() bool { return b.len()+len(b.ignore) == 0 }

func (b *Block) len() int { return len(b.entries) + len(b.pointers) + len(b.charts) }

// text returns the block as YAML, using the given line ending.
func (b *Block) text(newline string) string {
	var lines []string
	list := func(key string, values []string) {
		lines = append(lines, lists.Of(values, func(value string) string { return "- " + key + yamlString(value) })...)
	}
	if len(b.ignore) > 0 {
		lines = append(lines, "ignore:")
	}
	list("", b.ignore)
	if b.len() > 0 {
		lines = append(lines, "renders:")
	}
	list("pointers: ", b.pointers)
	list("kustomize: ", b.entries)
	for _, c := range b.charts {
		list("helm: ", []string{c.helm})
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

// plainName matches strings that need no quotes in YAML. Words in yamlWords also match, but need
// quotes.
var plainName = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_./-]*$`)

// yamlWords lists words that must be quoted in YAML to be strings.
var yamlWords = []string{"false", "n", "no", "null", "off", "on", "true", "y", "yes"}

// yamlString returns s as a YAML scalar without invisible characters. If s needs quotes, yamlString
// quotes it like a Go string, whose escapes are also valid in YAML.
func yamlString(s string) string {
	if plainName().MatchString(s) && !slices.Contains(yamlWords, strings.ToLower(s)) {
		return s
	}
	return strings.ReplaceAll(strconv.QuoteToASCII(s), "#", `\x23`)
}

// mostLines is the maximum number of lines of the block that Print writes unless verbose is set.
const mostLines = 30

// Print writes the block with instructions for adding it to the configuration by hand. It only counts
// the entries of a long block unless verbose is set.
func (b *Block) Print(w io.Writer, verbose bool) {
	target := report.Visible(filepath.ToSlash(worktree.Here(b.target)))
	if len(b.proposed) > 0 {
		fmt.Fprintf(w, "Directories of test data that %s may ignore as well:\n\n", target)
		for _, glob := range b.proposed {
			fmt.Fprintln(w, "  - "+yamlString(glob))
		}
		fmt.Fprintln(w)
	}
	text := b.text("\n")
	switch n := strings.Count(text, "\n"); {
	case b.empty():
		fmt.Fprintf(w, "No root can render offline, so there is nothing to add to renders: in %s.\n", target)
		return
	case n > mostLines && !verbose && b.conf.Discovers():
		fmt.Fprintf(w, "To render these and no other, run again with --write, which adds %d lines to %s; --verbose shows them.\n", n, target)
		return
	case b.len() == 0:
		fmt.Fprintf(w, "To skip test data, add to %s, or run again with --write:\n\n", target)
	case !b.conf.Discovers():
		fmt.Fprintf(w, "%s has the key renders already. To render all of these and no other, replace it with:\n\n", target)
	default:
		fmt.Fprintf(w, "To render these and no other, add to %s, or run again with --write:\n\n", target)
	}
	io.WriteString(w, text)
}

// Write adds the block to the configuration, or creates a configuration with the block. It prints a
// message about the change to the writer "told". If it cannot add the block, it prints the block to
// the writer "out" and returns the reason as an error.
func (b *Block) Write(out, told io.Writer) error {
	shown := filepath.ToSlash(worktree.Here(b.target))
	shortened := func(doing string, err error) error { // drop the file's path, which the message already has
		return fmt.Errorf("%s %s: %s", doing, shown, strings.ReplaceAll(worktree.Named(err, "").Error(), b.target, config.Name))
	}
	if b.empty() {
		return fmt.Errorf("%s: nothing is written, as no root can render offline", shown)
	}
	if file, _ := b.conf.Source(); file == "" {
		err := worktree.WriteFile(b.target, func(w io.Writer) error {
			_, err := io.WriteString(w, b.text("\n"))
			return err
		})
		if err != nil {
			return shortened("writing", err)
		}
	} else {
		before, err := b.conf.Read(filepath.Base(b.target))
		if err != nil {
			return shortened("reading", err)
		}
		after, err := b.appended(before)
		if err != nil {
			b.Print(out, true)
			return fmt.Errorf("%s: %w", shown, err)
		}
		if err := worktree.ReplaceFile(b.target, before, after); err != nil {
			return shortened("writing", err)
		}
	}
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
	_, err := fmt.Fprintf(told, "schedlint: wrote %s to %s\n", strings.Join(keys, " and "), report.Visible(shown))
	return err
}

// appended returns the configuration with the block added at the end.
func (b *Block) appended(before []byte) ([]byte, error) {
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

// reads reports whether text parses to exactly the previous documents plus the block.
func (b *Block) reads(text []byte, before []*source.Node) bool {
	after := source.NewFile(config.Name, config.Name, text).Roots()
	if len(after) != 1 || after[0].Kind != source.Map {
		return false
	}
	fields := min(b.len(), 1) + min(len(b.ignore), 1)
	if len(before) > 0 && before[0].Kind == source.Map {
		fields += before[0].Len()
		for k, v := range before[0].Fields() {
			if !source.Equal(v, after[0].Get(k.Value)) {
				return false
			}
		}
	}
	var read Block
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
	return after[0].Len() == fields && slices.Equal(read.entries, b.entries) && slices.Equal(read.pointers, b.pointers) &&
		slices.Equal(read.charts, b.charts) && slices.Equal(read.ignore, b.ignore)
}
