package pointers

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/source"
)

// ExternalArtifact is the kind of the Flux source that an ArtifactGenerator puts together.
const ExternalArtifact = "ExternalArtifact"

const artifactGenerator = "ArtifactGenerator"

// Artifact holds the contents of an ExternalArtifact.
type Artifact struct {
	// Files holds the file of this repository that each file of the artifact is a copy of. Merged
	// holds the files that are merged into a file, in order, including the copied one.
	Files  map[string]string
	Merged map[string][]string
	// Why says why the contents are unknown, or is zero.
	Why Reason
}

// Artifacts returns the contents that ArtifactGenerators give an artifact, one for each generator
// that makes it. The function files returns the sorted files of a source, and the directory of this
// repository that they are relative to.
func (r *Reader) Artifacts(named Repository, files func(Repository) (root string, names []string, why Reason)) (all []Artifact) {
	var open []Artifact
	for _, o := range r.Repositories.generators {
		if o.Namespace != "" && o.Namespace != named.Namespace {
			continue
		}
		c, v := &copier{Reader: r, files: files, sources: map[string]Repository{}}, &view{}
		for _, ref := range o.Root.At("spec", "sources").Items() {
			c.sources[v.text(ref.Get("alias"))] = sourceRef(v, ref, cmp.Or(o.Namespace, named.Namespace))
		}
		captures, why := c.captures(o.Root.At("spec", "pathPattern"))
		for _, item := range o.Root.At("spec", "artifacts").Items() {
			name := v.text(item.Get("name"))
			if v.open {
				why = Reason{What: WhyVariable, Detail: "an ArtifactGenerator holds a variable"}
			}
			if why.Some() {
				open = append(open, Artifact{Why: why}) // it may make any artifact
				break
			}
			for _, captured := range captures {
				if name, ok := captured.fill(name, strings.ToLower); ok && name == named.Name {
					all = append(all, c.copies(item.Get("copy"), captured))
				}
			}
		}
	}
	if len(all) == 0 {
		return open
	}
	return all
}

// copier copies files of sources into an artifact (source-watcher: internal/builder).
type copier struct {
	*Reader
	files    func(Repository) (root string, names []string, why Reason)
	sources  map[string]Repository // by alias
	artifact Artifact
}

// captures holds the directory names that a pathPattern captures.
type captures map[string]string

var capture = lazy.Regexp(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// fill replaces the captures in a text.
func (c captures) fill(text string, change func(string) string) (string, bool) {
	text = capture().ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := c[name[1:len(name)-1]]; ok {
			return change(value)
		}
		return name
	})
	return text, len(c) == 0 || !strings.ContainsAny(text, "{}")
}

// captures returns the captures of each directory that a pathPattern matches. Without a pattern, it
// returns a single element without captures.
func (c *copier) captures(pattern *source.Node) (all []captures, why Reason) {
	if pattern.Text() == "" {
		return []captures{nil}, Reason{}
	}
	_, glob, files, why := c.from(pattern.Text())
	if why.Some() {
		return nil, why
	}
	names := capture().FindAllString(glob, -1)
	slices.Sort(names)
	expression, err := regexp.Compile("^" + regexp.MustCompile(`\\\{(\w+)\\\}`).ReplaceAllString(regexp.QuoteMeta(glob), `(?P<$1>[^/]+)`) + "$")
	if err != nil || strings.ContainsAny(capture().ReplaceAllString(glob, ""), "{}") || len(slices.Compact(slices.Clone(names))) < len(names) {
		return nil, Reason{What: WhyMalformed, Detail: "the pathPattern " + pattern.Text()}
	}
	seen := map[string]bool{}
	for _, name := range files {
		for at := range name {
			if name[at] != '/' || seen[name[:at]] {
				continue
			}
			seen[name[:at]] = true
			if c.matches++; c.matches > limits.Matches {
				return nil, tooManyMatches()
			}
			if m := expression.FindStringSubmatch(name[:at]); m != nil {
				one := captures{}
				for i, name := range expression.SubexpNames()[1:] {
					one[name] = m[i+1]
				}
				all = append(all, one)
			}
		}
	}
	return all, Reason{}
}

// from splits a reference to files, such as @alias/path. It returns the path, and the files of the
// source with their root.
func (c *copier) from(text string) (root, rest string, files []string, why Reason) {
	alias, rest, ok := strings.Cut(strings.TrimPrefix(text, "@"), "/")
	repository, known := c.sources[alias]
	if !ok || !known || !strings.HasPrefix(text, "@") {
		return "", "", nil, Reason{What: WhyMalformed, Detail: text + ", expected the alias of a source and a path, as in @alias/path"}
	}
	root, files, why = c.files(repository)
	return root, rest, files, why
}

// copies makes the contents of one artifact.
func (c *copier) copies(list *source.Node, captured captures) Artifact {
	c.artifact = Artifact{Files: map[string]string{}, Merged: map[string][]string{}}
	for _, item := range list.Items() {
		text := func(field string) string {
			text, ok := captured.fill(item.Get(field).Text(), strings.Clone)
			if !ok || source.IsVariable(text) {
				c.artifact.Why = Reason{What: WhyVariable, Detail: "an ArtifactGenerator has " + item.Get(field).Text()}
			}
			return text
		}
		from, to, strategy := text("from"), text("to"), cmp.Or(text("strategy"), "Overwrite")
		exclude := lists.Of(item.Get("exclude").Items(), (*source.Node).Text)
		if c.artifact.Why.Some() {
			break
		}
		if c.artifact.Why = c.copy(from, to, strategy, exclude); c.artifact.Why.Some() {
			break
		}
	}
	return c.artifact
}

// copy does one copy operation. A directory is copied as a directory, and "dir/**" stands for its
// contents. As in the controller, other stars match within one directory.
func (c *copier) copy(from, to, strategy string, exclude []string) Reason {
	root, pattern, files, why := c.from(from)
	at, toArtifact := strings.CutPrefix(to, "@artifact/")
	_, ok := within(at)
	switch {
	case why.Some():
		return why
	case !toArtifact || !ok || strategy != "Overwrite" && strategy != "Merge" && strategy != "Extract":
		return Reason{What: WhyMalformed, Detail: fmt.Sprintf("an ArtifactGenerator copies to %s with the strategy %s", to, strategy)}
	case strategy == "Extract":
		return Reason{What: WhySource, Detail: from + ", which an ArtifactGenerator extracts"}
	}
	isGlob := strings.ContainsAny(pattern, "*?[]")
	if !isGlob {
		pattern = path.Clean(pattern)
	}
	base := pattern // the part before the first segment with a glob
	for strings.ContainsAny(base, "*?[]") {
		base = path.Dir(base)
	}
	if _, isFile := slices.BinarySearch(files, base); isFile && !isGlob {
		files, base = []string{base}, "."
	} else if base != "." {
		files = files[sort.SearchStrings(files, base+"/"):]
		files = files[:sort.Search(len(files), func(i int) bool { return !strings.HasPrefix(files[i], base+"/") })]
	}
	depth, copied := strings.Count(pattern, "/")+1, 0
	for _, name := range files {
		if c.matches += perCopy + len(exclude); c.matches > limits.Matches {
			return Reason{What: WhyTooMany, Detail: "ArtifactGenerators copy too many files", Refused: true}
		}
		// The pattern matches the file itself, or a directory that contains it.
		match, rest := name, ""
		if segments := strings.SplitN(name, "/", depth+1); pattern == "." {
			match, rest = ".", name
		} else if len(segments) > depth {
			match, rest = strings.Join(segments[:depth], "/"), segments[depth]
		}
		if ok, err := path.Match(pattern, match); err != nil {
			return Reason{What: WhyMalformed, Detail: "the glob " + from}
		} else if isGlob && !ok || excluded(match, rest, base, exclude, isGlob || rest == "") {
			continue
		}
		copied++
		to := path.Join(at, path.Base(match))
		if dir, ok := strings.CutSuffix(pattern, "/**"); isGlob && ok {
			to = path.Join(at, strings.TrimPrefix(match, dir+"/"))
		} else if isGlob {
			to = path.Join(at, match)
		} else if rest == "" && at != "" && !strings.HasSuffix(at, "/") && !c.isDir(at) {
			to = path.Clean(at)
		}
		c.put(path.Join(to, rest), path.Join(root, name), strategy == "Merge" && rest == "")
	}
	if copied == 0 && (isGlob || len(files) == 0) {
		return Reason{What: WhyMissing, Detail: from + ", which an ArtifactGenerator copies"}
	}
	return Reason{}
}

// perCopy is the number of matches that a copied file counts for, because it takes more memory.
const perCopy = 10

// excluded reports whether patterns exclude a file, or a directory between what was matched and the
// file. The argument "whole" includes what was matched. Patterns match names in the source, names
// below base, and, without a slash, the last part of a name.
func excluded(match, rest, base string, patterns []string, whole bool) bool {
	names := []string{}
	if whole {
		names = append(names, match)
	}
	for i := range rest {
		if rest[i] == '/' {
			names = append(names, path.Join(match, rest[:i]))
		}
	}
	if rest != "" {
		names = append(names, path.Join(match, rest))
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			forms := []string{name, strings.TrimPrefix(name, base+"/")}
			if !strings.Contains(pattern, "/") {
				forms = append(forms, path.Base(name))
			}
			return slices.ContainsFunc(forms, func(form string) bool {
				ok, err := doublestar.Match(pattern, form)
				return ok && err == nil
			})
		})
	})
}

// isDir reports whether the artifact contains a directory.
func (c *copier) isDir(dir string) bool {
	c.matches += len(c.artifact.Files)
	for name := range c.artifact.Files {
		if strings.HasPrefix(name, path.Clean(dir)+"/") {
			return true
		}
	}
	return false
}

// put adds a copy of a file to the artifact. The argument "merge" merges it into the file that is
// there, as Helm merges values files.
func (c *copier) put(to, name string, merge bool) {
	was, ok := c.artifact.Files[to]
	switch merged := c.artifact.Merged[to]; {
	case !merge || !ok:
		delete(c.artifact.Merged, to)
		c.artifact.Files[to] = name
	case merged == nil:
		c.artifact.Merged[to] = []string{was, name}
	default:
		c.artifact.Merged[to] = append(merged, name)
	}
}
