package vendor

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/pointers"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/revision"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/thirdparty"
	"github.com/schedlint/schedlint/lint/vendored"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Options holds the input of Run.
type Options struct {
	// Folder is the absolute path of the folder, and Lock is its lock.
	Folder string
	Lock   *thirdparty.Lock
	// Find returns what is wanted, given the entries that match their copies.
	Find func(l *thirdparty.Lock) ([]pointers.Wanted, error)
	// Print prints the commands of the first round and runs none. Check compares the folder with
	// what is wanted and runs none.
	Print, Check bool
	// Update fetches copies again that match the lock: all of them, or those of Names.
	Update bool
	Names  []string
	// Local allows addresses of this machine and unencrypted ones.
	Local bool
	Out   io.Writer
}

// maxRounds limits how often copies reveal what else is wanted.
const maxRounds = 10

type run struct {
	Options
	before  []thirdparty.Entry
	lock    map[string]thirdparty.Entry // by name
	ok      map[string]bool             // whether the unit of a path has the digest, by both
	failed  map[string]bool             // by key
	fetched map[string]bool             // by name
	told    map[string]bool             // by note
	errs    []error
	helm    helm
	git     git
}

// Run copies what is wanted. It returns what cannot be copied, or what Check finds wrong, as problems.
// An error means that nothing more was tried.
func Run(o Options) (problems []error, err error) {
	r := &run{Options: o, before: o.Lock.Entries, lock: map[string]thirdparty.Entry{}, ok: map[string]bool{}, failed: map[string]bool{}, fetched: map[string]bool{}, told: map[string]bool{}, git: git{local: o.Local}}
	defer r.git.close()
	for _, e := range r.before {
		r.lock[e.Name] = e
	}
	for range maxRounds {
		wanted, err := o.Find(thirdparty.New(r.copies()))
		if err != nil {
			return nil, err
		}
		for _, name := range o.Names {
			if !slices.ContainsFunc(wanted, func(w pointers.Wanted) bool { return named(&w, name) }) {
				return nil, fmt.Errorf("nothing takes %s from elsewhere; expected an address or the name of a chart", name)
			}
		}
		// What is wanted and has no copy that matches the lock.
		var left []pointers.Wanted
		for i := range wanted {
			w := &wanted[i]
			switch e, has := r.lock[w.Name]; {
			case r.failed[key(w)]:
			case w.Plain && strings.HasPrefix(w.URL, "oci://"):
				r.note(fmt.Sprintf("not vendored, OCI artifact of manifests: %s:%d: %s", w.File, w.Line, command("flux", "pull", "artifact", artifact(w), "--output", "DIR")))
			case w.Plain:
				r.note(fmt.Sprintf("not vendored, file: %s:%d: %s", w.File, w.Line, command("curl", "-fsSLO", pointers.Masked(w.URL))))
			case has && !r.stale(w) && r.matches(e) && (!w.Git || r.has(e, w)):
			default:
				if err := checked(w, r.Local); err != nil {
					r.fail(w, err)
					continue
				}
				left = append(left, *w)
			}
		}
		switch {
		case o.Check:
			// How the folder differs from what is wanted.
			for i := range left {
				why := "not in the lock"
				if e, ok := r.lock[left[i].Name]; ok {
					why = r.shown(e.Path) + " is missing or differs from the lock"
				}
				r.fail(&left[i], fmt.Errorf("%s: %s", why, diag.Vendor))
			}
			for _, name := range r.unwanted(wanted) {
				r.errs = append(r.errs, fmt.Errorf("%s: in the lock as %s, and nothing wants it any more: %s", pointers.Masked(name), r.shown(r.lock[name].Path), diag.Vendor))
			}
			for _, name := range r.unlocked() {
				r.errs = append(r.errs, fmt.Errorf("%s is not in the lock, and files in this folder are not checked on their own: remove it", r.shown(name)))
			}
			return r.errs, nil
		case o.Print:
			// The commands that fetch what is left.
			for _, w := range left {
				args := append([]string{"helm"}, helmPull(&w, "", "DIR")...)
				switch {
				case w.Git && w.Semver:
					args = []string{"git", "fetch", "--depth=1", "--", w.URL, "TAG"}
					r.note(command("git", "ls-remote", "--tags", "--", w.URL) + " # the highest TAG in " + w.Ref)
				case w.Git:
					args = []string{"git", "fetch", "--depth=1", "--", w.URL, cmp.Or(w.Ref, "HEAD")}
				}
				r.note(command(args...))
			}
			return r.errs, nil
		case len(left) == 0:
			return r.errs, r.finish(wanted)
		}
		if err := r.round(wanted, left); err != nil {
			return nil, err
		}
	}
	return append(r.errs, fmt.Errorf("copies name more copies in more than %d rounds; run again", maxRounds)), nil
}

// shown returns the name of a copy relative to the working directory.
func (r *run) shown(name string) string {
	return filepath.ToSlash(worktree.Here(filepath.Join(r.Folder, filepath.FromSlash(name))))
}

// copies returns the entries that match their copies.
func (r *run) copies() (all []thirdparty.Entry) {
	for _, e := range r.lock {
		if r.matches(e) {
			all = append(all, e)
		}
	}
	return all
}

// matches reports whether the digest of a copy matches its lock entry.
func (r *run) matches(e thirdparty.Entry) bool {
	key := thirdparty.Unit(e.Path) + " " + e.SHA256
	if _, known := r.ok[key]; !known {
		digest, err := r.digest(e.Path)
		r.ok[key] = err == nil && digest == e.SHA256
	}
	return r.ok[key]
}

func (r *run) digest(name string) (string, error) {
	folder, err := os.OpenRoot(r.Folder)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	return thirdparty.Digest(folder.FS(), name)
}

// artifact returns the address of an artifact with its tag or digest.
func artifact(w *pointers.Wanted) string {
	switch {
	case w.Version == "":
		return w.URL
	case digestForm().MatchString(w.Version):
		return w.URL + "@" + w.Version
	}
	return w.URL + ":" + w.Version
}

// stale reports whether --update asks for what is wanted, and it was not fetched yet.
func (r *run) stale(w *pointers.Wanted) bool {
	return r.Update && !r.fetched[w.Name] && (len(r.Names) == 0 || slices.ContainsFunc(r.Names, func(name string) bool { return named(w, name) }))
}

// named reports whether the user means w by a name: its address with or without the version, or the
// name of its chart.
func named(w *pointers.Wanted, name string) bool {
	return slices.Contains([]string{w.Name, w.Name[:max(0, strings.LastIndexByte(w.Name, '@'))], w.URL, path.Base(cmp.Or(w.Chart, w.URL))}, name)
}

// has reports whether a copy of a repository has the directory.
func (r *run) has(e thirdparty.Entry, w *pointers.Wanted) bool {
	return worktree.IsDir(filepath.Join(r.Folder, filepath.FromSlash(path.Join(thirdparty.Unit(e.Path), w.Path))))
}

// note prints a line once. A line never begins with a name from the tree, because a CI runner might
// execute it as a command.
func (r *run) note(text string) {
	if !r.told[text] {
		r.told[text] = true
		fmt.Fprintln(r.Out, report.Visible(text))
	}
}

// key identifies what is wanted. Several directories of a repository have the same name.
func key(w *pointers.Wanted) string { return w.Name + "\x00" + w.Path }

func (r *run) fail(w *pointers.Wanted, err error) {
	r.failed[key(w)] = true
	r.errs = append(r.errs, fmt.Errorf("%s:%d: %s: %w", w.File, w.Line, pointers.Masked(w.Name), err))
}

// round fetches what is left and writes the lock.
func (r *run) round(wanted, left []pointers.Wanted) error {
	for i := range left {
		if w := &left[i]; !w.Git && !r.failed[key(w)] {
			if err := r.chart(w); err != nil {
				r.fail(w, err)
			}
		}
	}
	r.directories(wanted, left)
	return r.write()
}

// chart pulls a chart and writes it.
func (r *run) chart(w *pointers.Wanted) error {
	asked, e := *w, r.lock[w.Name]
	again := e.Name != "" && !r.stale(w)
	if again && w.Semver && w.Digest == "" { // restore what was locked
		asked.Version = e.Resolved
	}
	if err := checked(&asked, r.Local); err != nil {
		return err
	}
	c, err := r.helm.pull(&asked)
	if err != nil {
		return err
	}
	digest := vendored.SHA256(c.text)
	if again && digest != e.SHA256 {
		return fmt.Errorf("version %s has changed in the repository: the lock has the SHA-256 %s, helm pulled %s; --update takes it", c.version, e.SHA256, digest)
	}
	e = thirdparty.Entry{Name: w.Name, Path: "charts/" + c.name + "-" + c.version + ".tgz", Resolved: c.version, SHA256: digest}
	for _, other := range r.lock {
		if other.Path == e.Path && other.SHA256 != digest && other.Name != w.Name {
			e.Path = strings.TrimSuffix(e.Path, ".tgz") + "-" + vendored.SHA256([]byte(w.URL))[:8] + ".tgz"
			break
		}
	}
	if err = e.Check(); err == nil && !r.matches(e) {
		err = r.put(e.Path, c.text)
	}
	if err != nil {
		return err
	}
	r.took(w, e)
	return nil
}

// put writes a file of the folder in one step.
func (r *run) put(name string, text []byte) error {
	at := filepath.Join(r.Folder, filepath.FromSlash(name))
	parent, _, err := vendored.Parent(at)
	if err != nil {
		return err
	}
	parent.Close()
	return worktree.WriteFile(at, func(to io.Writer) error {
		_, err := to.Write(text)
		return err
	})
}

// took records an entry.
func (r *run) took(w *pointers.Wanted, e thirdparty.Entry) {
	if old := r.lock[w.Name]; old != e {
		r.note(fmt.Sprintf("wrote %s: %s (%.12s)", r.shown(e.Path), pointers.Masked(w.Name), e.Resolved))
	} else if !r.Update {
		r.note("restored " + r.shown(thirdparty.Unit(e.Path)))
	}
	r.fetched[w.Name], r.lock[w.Name] = true, e
	r.ok[thirdparty.Unit(e.Path)+" "+e.SHA256] = true
}

// commit is a commit with the sources that name directories in it.
type commit struct {
	ref  revision.Ref
	all  []*pointers.Wanted
	left bool
}

// directories copies directories of git repositories. The directories of a commit are copied
// together, because its kustomizations may refer to each other.
func (r *run) directories(wanted, left []pointers.Wanted) {
	missing := lists.SetOf(left, func(w pointers.Wanted) string { return key(&w) })
	units := map[string]*commit{}
	var order []string
	for i := range wanted {
		w := &wanted[i]
		isMissing := missing[key(w)]
		e, locked := r.lock[w.Name]
		if !w.Git || r.failed[key(w)] || !isMissing && !locked {
			continue
		}
		ref := revision.Ref{Name: e.Resolved, Commit: e.Resolved}
		if !revision.IsCommit(e.Resolved) || isMissing && r.stale(w) {
			var err error
			if ref, err = r.git.resolve(w); err != nil {
				r.fail(w, err)
				continue
			}
		}
		unit := path.Join(thirdparty.GitDir, folderOf(w.URL)+"@"+ref.Commit[:12])
		if units[unit] == nil {
			units[unit] = &commit{ref: ref}
			order = append(order, unit)
		}
		c := units[unit]
		c.all, c.left = append(c.all, w), c.left || isMissing
	}
	for _, unit := range order {
		c := units[unit]
		if !c.left {
			continue
		}
		err := r.commit(unit, c)
		if absent, ok := err.(noDirectories); ok { // the others may be there
			c.all = slices.DeleteFunc(c.all, func(w *pointers.Wanted) bool {
				gone := slices.Contains(absent, path.Clean(w.Path))
				if gone {
					r.fail(w, noDirectories{w.Path})
				}
				return gone
			})
			if err = nil; len(c.all) > 0 {
				err = r.commit(unit, c)
			}
		}
		for _, w := range c.all {
			if err != nil && missing[key(w)] {
				r.fail(w, err)
			}
		}
	}
}

// commit fetches a commit and replaces its folder.
func (r *run) commit(unit string, c *commit) error {
	dirs := lists.Of(c.all, func(w *pointers.Wanted) string { return path.Clean(w.Path) })
	slices.Sort(dirs)
	files, err := r.git.files(c.all[0], c.ref, slices.Compact(dirs))
	if err != nil {
		return err
	}
	var entries []thirdparty.Entry
	for _, w := range c.all {
		e := thirdparty.Entry{Name: w.Name, Path: unit, Resolved: c.ref.Commit, SHA256: whole(files)}
		if !w.Below {
			e.Path = path.Join(unit, w.Path)
		}
		if err := e.Check(); err != nil {
			return err
		}
		entries = append(entries, e)
	}
	if err := vendored.Replace(filepath.Join(r.Folder, filepath.FromSlash(unit)), files); err != nil {
		return err
	}
	clear(r.ok)
	if digest, err := r.digest(unit); err != nil || digest != entries[0].SHA256 {
		return cmp.Or(err, errors.New("this system cannot store all files of the repository"))
	}
	for i, w := range c.all {
		r.took(w, entries[i])
	}
	return nil
}

// whole returns the digest of a folder with these files.
func whole(files []vendored.File) string {
	sums := lists.Of(files, func(f vendored.File) vendored.Locked {
		return vendored.Locked{Path: f.Name, SHA256: vendored.SHA256(f.Text)}
	})
	return vendored.Whole(sums)
}

// write writes the lock if it has changed. Without entries there is no lock.
func (r *run) write() error {
	l := thirdparty.New(slices.Collect(maps.Values(r.lock)))
	if slices.Equal(l.Entries, r.Lock.Entries) {
		return nil
	}
	if r.Lock = l; len(l.Entries) == 0 {
		return r.remove(thirdparty.LockName)
	}
	return r.put(thirdparty.LockName, l.Text())
}

// finish removes what nothing wants any more, unless something failed that may want it.
func (r *run) finish(wanted []pointers.Wanted) error {
	if len(r.errs) > 0 {
		return nil
	}
	for _, name := range r.unwanted(wanted) {
		delete(r.lock, name)
	}
	if err := r.trim(wanted); err != nil {
		return err
	}
	if err := r.write(); err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, e := range r.lock {
		kept[thirdparty.Unit(e.Path)] = true
	}
	removed := map[string]bool{}
	for _, e := range r.before {
		unit := thirdparty.Unit(e.Path)
		if kept[unit] || removed[unit] {
			continue
		}
		removed[unit] = true
		if digest, err := r.digest(e.Path); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil || digest != e.SHA256 {
			r.note("left " + r.shown(unit) + ": nothing wants it any more, but it differs from the lock")
			continue
		}
		if err := r.remove(unit); err != nil {
			return err
		}
		r.note("removed " + r.shown(unit) + ": nothing wants it any more")
	}
	if len(r.lock) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(r.Out, "%s in %s\n", report.Count(len(r.lock), "source"), report.Visible(r.shown(thirdparty.LockName)))
	return err
}

// trim removes the files of commits that nothing refers to any more. What refers to them is in the
// copy.
func (r *run) trim(wanted []pointers.Wanted) error {
	dirs := map[string][]string{}
	for _, w := range wanted {
		if e, ok := r.lock[w.Name]; ok && w.Git {
			unit := thirdparty.Unit(e.Path)
			dirs[unit] = append(dirs[unit], path.Clean(w.Path))
		}
	}
	for _, unit := range sorting.Keys(dirs) {
		at := filepath.Join(r.Folder, filepath.FromSlash(unit))
		files, err := read(at, dirs[unit])
		if err != nil {
			return fmt.Errorf("%s: %w", r.shown(unit), err)
		}
		digest := whole(files)
		if r.ok[unit+" "+digest] {
			continue
		}
		if err := vendored.Replace(at, files); err != nil {
			return err
		}
		r.note("removed files of " + r.shown(unit) + ": nothing refers to them any more")
		for name, e := range r.lock {
			if thirdparty.Unit(e.Path) == unit {
				e.SHA256 = digest
				r.lock[name] = e
			}
		}
	}
	return nil
}

// unwanted returns the sorted names of the entries that nothing wants.
func (r *run) unwanted(wanted []pointers.Wanted) []string {
	all := maps.Clone(r.lock)
	for _, w := range wanted {
		delete(all, w.Name)
	}
	return sorting.Keys(all)
}

// maxUnlocked is the maximum number of files to report that the lock does not have.
const maxUnlocked = 20

// unlocked returns files in the folder that the lock does not have.
func (r *run) unlocked() (all []string) {
	units := lists.SetOf(r.before, func(e thirdparty.Entry) string { return thirdparty.Unit(e.Path) })
	folder, err := os.OpenRoot(r.Folder)
	if err != nil {
		return nil // without the folder, every copy is missing
	}
	defer folder.Close()
	_ = fs.WalkDir(folder.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case len(all) == maxUnlocked:
			return fs.SkipAll
		case err != nil || units[name] && d.IsDir():
			return fs.SkipDir
		case !d.IsDir() && !units[name] && name != thirdparty.LockName:
			all = append(all, name)
		}
		return nil
	})
	return all
}

// remove removes a copy and the folders that it leaves empty.
func (r *run) remove(unit string) error {
	for at := unit; at != "."; at = path.Dir(at) {
		parent, name, err := vendored.Parent(filepath.Join(r.Folder, filepath.FromSlash(at)))
		if err != nil {
			return err
		}
		if at == unit {
			err = parent.RemoveAll(name)
		} else if parent.Remove(name) != nil { // not empty
			at = "."
		}
		if parent.Close(); err != nil {
			return err
		}
	}
	return nil
}
