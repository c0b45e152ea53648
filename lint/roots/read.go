package roots

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// unread records a file or directory that was not examined, with the reason.
func (f *finder) unread(name, format string, args ...any) {
	f.found.Unread = append(f.found.Unread, Unread{name, fmt.Sprintf(format, args...)})
}

// read reads a file in the tree. If reading fails, it adds the file to Unread and returns nil.
func (f *finder) read(name string) *source.File {
	limit := int64(min(f.most.file, f.most.bytes.Left()))
	text, err := f.reader.ReadFile(filepath.FromSlash(name), limit)
	switch {
	case err != nil && limit < int64(f.most.file) && err.Error() == worktree.TooLarge(limit).Error():
		f.unread(name, "is not read: with it the run has more than %d MiB; name fewer paths", f.most.bytes.Most>>20)
		return nil
	case err != nil:
		why := err.Error()
		if _, after, ok := strings.Cut(why, filepath.FromSlash(name)+": "); ok {
			why = after // the message already contains the name
		}
		f.unread(name, "cannot be read: %s", why)
		return nil
	}
	f.most.bytes.Add(len(text))
	if f.opts.Read != nil {
		f.opts.Read(name, text)
	}
	return source.NewFile(name, name, text)
}

// mayParse adds the size of a file to the total of bytes parsed. If the total exceeds the limit, it
// adds the file to Unread and returns false.
func (f *finder) mayParse(file *source.File) bool {
	if len(file.Text) > f.most.parsed.Left() {
		f.unread(file.Name, "is not parsed: with it the run has more than %d MiB of kustomizations and files that look like what is listed; name fewer paths", f.most.parsed.Most>>20)
		return false
	}
	return f.most.parsed.Add(len(file.Text))
}

// load reads the kustomization in a directory. It returns nil if there is none.
func (f *finder) load(dir string) *Kustomization {
	if k, known := f.dirs[dir]; known {
		return k
	}
	var k *Kustomization
	for _, base := range source.KustomizationFiles() {
		name := path.Join(dir, base)
		n := f.kustomizationFile(name)
		switch {
		case n == nil || n.foreign:
		case k != nil:
			k.because(Broken, name, 1, "two kustomizations in one directory, "+path.Base(k.File)+" and "+base+": keep one")
		default:
			k = &Kustomization{Dir: dir, File: name, Component: n.component, lines: map[string]int{}}
			f.dirs[dir] = k
			p := n.parsed
			if p.broken != "" {
				k.because(Broken, k.File, p.line, p.broken)
			}
			for _, e := range p.entries {
				// Resolving a path costs one file system access for each path element.
				if !f.most.steps.Add(1 + strings.Count(path.Join(k.Dir, e.text), "/")) {
					k.because(Broken, k.File, e.line, fmt.Sprintf("is not looked at: the kustomizations before it name paths of more than %d steps; name fewer paths", f.most.steps.Most))
					break
				}
				f.resolve(k, e)
			}
			for _, c := range p.charts {
				f.inflated[path.Join(k.Dir, p.home, c.text)] = true
				f.chart(k, path.Join(k.Dir, p.home), c)
				k.because(Helm, k.File, c.line, cmp.Or(c.text, "without a name"))
			}
			sorting.Stable(k.Reasons, func(a, b Reason) int { return a.Line - b.Line })
			for _, list := range []*[]string{&k.Dirs, &k.Files, &k.Patches} {
				slices.Sort(*list)
				*list = slices.Compact(*list)
			}
		}
	}
	return k
}

// named is a file with the name of a kustomization file.
type named struct {
	file *source.File
	parsed
}

// kustomizationFile parses a file with the name of a kustomization file. The content may be
// something else. The result is nil if the file is not regular or cannot be parsed.
func (f *finder) kustomizationFile(name string) *named {
	if n, known := f.named[name]; known {
		return n
	}
	var n *named
	if e := f.entry(name); e.Info != nil && e.Info.Mode().IsRegular() {
		if file := f.read(e.Name); file != nil && f.mayParse(file) {
			n = &named{file, parse(file)}
		}
	}
	f.named[name] = n
	return n
}

// entry looks up a name among the files and directories that belong to the input.
func (f *finder) entry(name string) worktree.Entry { return f.lookup.Tracked(name, f.opts.Tracked) }

func (k *Kustomization) because(kind Kind, file string, line int, detail string) {
	k.Reasons = append(k.Reasons, Reason{kind, file, line, detail})
}

// resolve adds the file or directory in an entry to k. If the entry cannot be used, resolve adds
// the reason.
func (f *finder) resolve(k *Kustomization, e entry) {
	name := path.Join(k.Dir, e.text)
	vendored, isVendored := f.opts.Remotes[e.text]
	remote := f.remote(k.Dir, e)
	if remote {
		w := repository(e.text)
		w.File, w.Line = k.File, e.line
		f.found.Wanted = append(f.found.Wanted, w)
	}
	switch {
	case remote && isVendored:
		name = vendored
	case remote:
		k.because(Remote, k.File, e.line, e.text)
		return
	case path.IsAbs(e.text):
		k.because(Outside, k.File, e.line, e.text)
		return
	}
	switch to := f.entry(name); {
	case to.Outside:
		k.because(Outside, k.File, e.line, e.text)
	case to.Info == nil:
		k.because(Missing, k.File, e.line, e.text)
	case !to.Info.IsDir() && e.use == directory:
		k.because(Broken, k.File, e.line, e.field+" names a file, expected a directory: "+e.text)
	case !to.Info.IsDir():
		if k.Files = append(k.Files, to.Name); e.use == patch {
			k.Patches = append(k.Patches, to.Name)
		}
	case e.use == patch || e.use == data:
		k.because(Broken, k.File, e.line, e.field+" names a directory, expected a file: "+e.text)
	default:
		has := slices.ContainsFunc(source.KustomizationFiles(), func(base string) bool {
			n := f.kustomizationFile(path.Join(to.Name, base))
			return n != nil && !n.foreign
		})
		if !has {
			k.because(Missing, k.File, e.line, "a kustomization in "+e.text)
			return
		}
		k.Dirs = append(k.Dirs, to.Name)
		k.lines[to.Name] = cmp.Or(k.lines[to.Name], e.line)
	}
}

// remote reports whether an entry is a URL. If kustomize reads the entry as a file, only the
// schemes http and https make it a URL. The name of a file may look like a repository address.
func (f *finder) remote(dir string, e entry) bool {
	switch {
	case !IsRemote(e.text):
		return false
	case strings.HasPrefix(strings.ToLower(e.text), "http"):
		return true
	case e.use == data || e.use == patch:
		return false
	}
	to := f.entry(path.Join(dir, e.text))
	return to.Info == nil || to.Info.IsDir()
}

// user matches the user in the short form of SSH addresses, git@host:path.
var user = lazy.Regexp(`^[a-zA-Z][a-zA-Z0-9-]*@`)

// IsRemote reports whether an entry of a kustomization, such as a resource, is a URL (kustomize:
// api/internal/git/repospec.go, NewRepoSpecFromURL, and api/internal/loader/fileloader.go,
// IsRemoteFile). It also returns true for schemes that kustomize does not support. Kustomize would
// treat such an entry as a file, but the author meant a URL.
func IsRemote(entry string) bool {
	text := strings.ToLower(entry)
	text = strings.TrimPrefix(text, "git::")
	for _, prefix := range []string{"http:", "https:", "github.com/", "github.com:"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	scheme, _, ok := strings.Cut(text, "://")
	return ok && !strings.ContainsAny(scheme, "/\n ") || user().MatchString(text)
}

// chart records a chart of a chart repository, unless the directory for charts has it.
func (f *finder) chart(k *Kustomization, home string, c entry) {
	versioned := c.text + "-" + c.version
	if c.repo == "" || slices.ContainsFunc([]string{c.text, c.text + ".tgz", versioned + ".tgz", path.Join(versioned, c.text), path.Join(versioned, versioned+".tgz")}, func(name string) bool {
		return f.entry(path.Join(home, name)).Info != nil
	}) {
		return
	}
	w := pointers.RemoteChart(c.repo, c.text, c.version)
	w.File, w.Line = k.File, c.line
	f.found.Wanted = append(f.found.Wanted, w)
}

var (
	manifest = lazy.Regexp(`(?i)^https?://[^?]+\.(?:ya?ml|json)$`)
	inRepo   = lazy.Regexp(`(_git/[^/]+)/|//|\.git(?:/|$)`) // where the path in the repository begins
)

// repository splits a URL of a kustomization into the address of the git repository, the directory
// and the revision (kustomize: api/internal/git/repospec.go, NewRepoSpecFromURL). A URL that looks
// like that of a file is Plain.
func repository(text string) pointers.Wanted {
	w := pointers.Wanted{Name: text, URL: text, Git: true}
	rest, query, _ := strings.Cut(text, "?")
	if manifest().MatchString(text) && !inRepo().MatchString(text[len("https://"):]) {
		w.Git, w.Plain = false, true
		return w
	}
	values, _ := url.ParseQuery(query)
	w.Ref = cmp.Or(values.Get("ref"), values.Get("version"))
	if len(rest) > 5 && strings.EqualFold(rest[:5], "git::") {
		rest = rest[5:]
	}
	scheme, address, schemed := strings.Cut(rest, "://")
	switch {
	case schemed:
		scheme += "://"
	case strings.HasPrefix(strings.ToLower(rest), "github.com"):
		scheme, address = "https://", "github.com/"+rest[min(len(rest), len("github.com/")):]
	default: // user@host:path
		scheme, address = "", rest
	}
	host := strings.IndexAny(address, "/:") + 1
	if schemed {
		host = strings.IndexByte(address, '/') + 1
	}
	address, below := address[:host], address[host:]
	switch at := inRepo().FindStringSubmatchIndex(below); {
	case at == nil && scheme != "file://":
		parts := strings.SplitN(below, "/", 3)
		w.Path = strings.Join(parts[min(2, len(parts)):], "/")
		below = strings.Join(parts[:min(2, len(parts))], "/")
	case at == nil:
	case at[2] >= 0: // _git/repository
		below, w.Path = below[:at[3]], below[at[1]:]
	case below[at[0]] == '/':
		below, w.Path = below[:at[0]], below[at[1]:]
	default: // repository.git
		below, w.Path = below[:at[0]+len(".git")], below[at[1]:]
	}
	w.URL, w.Path = scheme+address+below, path.Clean("./"+strings.TrimLeft(w.Path, "/"))
	return w
}

// valuesPlaces describes where values files for environments may be and how they are named.
// Directories are relative to the chart or to a directory near it.
var valuesPlaces = []valuesPlace{
	{dir: ".", named: func(stem string) bool {
		return !strings.HasSuffix(stem, ".schema") && slices.ContainsFunc([]string{"-", "."}, func(mark string) bool {
			return strings.HasPrefix(stem, "values"+mark) || strings.HasSuffix(stem, mark+"values")
		})
	}},
	{dir: "values"}, {dir: "env"}, {dir: "envs"}, {dir: "environments"},
	{dir: ciDir, named: func(stem string) bool { return strings.HasSuffix(stem, "-values") }, inside: true},
}

// ciDir is the chart directory that contains values files for tests.
const ciDir = "ci"

type valuesPlace struct {
	dir string
	// named reports whether a file is a values file. stem is the file's name without the extension.
	// If named is nil, all files are values files.
	named func(stem string) bool
	// inside is set if the directory must be inside a chart.
	inside bool
}

// IsTest reports whether a values file is for the chart's tests. Other values files are for
// environments.
func (c *Chart) IsTest(name string) bool { return path.Dir(name) == path.Join(c.Dir, ciDir) }

// Installs reports whether the chart can be installed on its own. Libraries and subcharts cannot be
// installed.
func (c *Chart) Installs() bool { return !c.Library && !c.Subchart }

// environments finds the values files of charts. A file outside a chart must meet two conditions.
// Its directory is near no other chart, and the file sets a key in the chart's values.yaml.
func (f *finder) environments() {
	below := map[string]int{}
	for i := range f.found.Charts {
		for _, dir := range f.near(&f.found.Charts[i]) {
			below[dir]++
		}
	}
	for i := range f.found.Charts {
		c := &f.found.Charts[i]
		if !c.Installs() {
			continue
		}
		c.Values = f.valuesIn(c.Dir, nil)
		for _, dir := range f.near(c) {
			if below[dir] == 1 {
				keys, own := map[string]bool{}, path.Join(c.Dir, "values.yaml")
				if slices.Contains(f.yaml[c.Dir], own) {
					keys, _ = f.fields(own)
				}
				c.Values = append(c.Values, f.valuesIn(dir, keys)...)
			}
		}
		slices.Sort(c.Values)
		c.Values = slices.Compact(c.Values)
	}
}

// near returns the two nearest directories above a chart. It returns none if the chart cannot be
// installed on its own.
func (f *finder) near(c *Chart) (all []string) {
	for dir := c.Dir; c.Installs() && dir != "." && len(all) < 2; dir = path.Dir(dir) {
		all = append(all, path.Dir(dir))
	}
	return all
}

// valuesIn returns the values files for environments in a directory. If keys is not nil, each file
// must contain at least one of the keys.
func (f *finder) valuesIn(dir string, keys map[string]bool) (all []string) {
	for _, place := range valuesPlaces {
		if keys != nil && place.inside {
			continue
		}
		for _, name := range f.yaml[path.Join(dir, place.dir)] {
			base := path.Base(name)
			if stem := strings.TrimSuffix(base, path.Ext(base)); (place.named == nil || place.named(stem)) && base != chartName && f.holdsValues(name, keys) {
				all = append(all, name)
			}
		}
	}
	return all
}

// holdsValues reports whether a file looks like chart values. The file must contain a map that is
// neither encrypted nor a Kubernetes object. If keys is not nil, the map must contain one of the
// keys. A file in a chart may also be invalid YAML, so that the render reports the error.
func (f *finder) holdsValues(name string, keys map[string]bool) bool {
	if source.IsKustomizationFile(path.Base(name)) {
		return false
	}
	found, ok := f.fields(name)
	if !ok || found["sops"] || found["apiVersion"] && found["kind"] {
		return false
	}
	for key := range found {
		if keys[key] {
			return true
		}
	}
	return keys == nil
}

// fields returns the keys of the map in a file. ok is false if the file contains anything else. An
// empty or invalid file counts as an empty map.
func (f *finder) fields(name string) (all map[string]bool, ok bool) {
	all = map[string]bool{}
	file := f.read(name)
	if file == nil || !f.mayParse(file) {
		return all, false
	}
	docs := file.Roots()
	if len(docs) == 0 || len(docs) == 1 && docs[0].IsNull() {
		return all, true
	}
	if len(docs) > 1 || docs[0].Kind != source.Map {
		return all, false
	}
	for k := range docs[0].Fields() {
		all[k.Value] = true
	}
	return all, true
}
