package roots

import (
	"slices"
	"strings"
)

// rootsOf gives the kustomizations that are rendered on their own. They are taken from
// the strongly connected parts of the references, in an order in which each part comes
// after those that refer to it: a part that no root reaches yet gives its first
// kustomization that may be one.
func (f *finder) rootsOf(parts [][]*Kustomization) (roots []*Kustomization) {
	reached := map[*Kustomization]bool{}
	for _, part := range parts {
		at := slices.IndexFunc(part, func(k *Kustomization) bool { return k.Below && !k.Component })
		if at < 0 || reached[part[at]] {
			continue
		}
		roots = append(roots, part[at])
		f.visit(part[at], reached, f.next, func(*Kustomization) {})
	}
	slices.SortFunc(roots, byDir)
	return roots
}

func byDir(a, b *Kustomization) int { return strings.Compare(a.Dir, b.Dir) }

// parts are the strongly connected parts of the references, each sorted, those that refer to
// others first (Kosaraju, Sharir: in the order of finishing, backwards, each part is what
// reaches its first member and is not in an earlier part).
func (f *finder) parts() (parts [][]*Kustomization) {
	var finished []*Kustomization
	seen := map[*Kustomization]bool{}
	for _, k := range f.found.Kustomizations {
		f.visit(k, seen, f.next, func(k *Kustomization) { finished = append(finished, k) })
	}
	back := f.referrers()
	taken := map[*Kustomization]bool{}
	for _, k := range slices.Backward(finished) {
		if taken[k] {
			continue
		}
		var part []*Kustomization
		f.visit(k, taken, func(k *Kustomization) []*Kustomization { return back[k] }, func(k *Kustomization) { part = append(part, k) })
		slices.SortFunc(part, byDir)
		parts = append(parts, part)
	}
	return parts
}

// cycles notes kustomizations that refer to themselves, which kustomize refuses.
func (f *finder) cycles(parts [][]*Kustomization) {
	for _, part := range parts {
		first := part[0]
		for _, to := range f.next(first) {
			if _, inPart := slices.BinarySearchFunc(part, to, byDir); inPart {
				first.because(Broken, first.File, first.lines[to.Dir], "refers to itself, by "+to.Dir)
				break
			}
		}
	}
}

// next are the kustomizations that one refers to.
func (f *finder) next(k *Kustomization) []*Kustomization {
	all := make([]*Kustomization, 0, len(k.Dirs))
	for _, dir := range k.Dirs {
		if to := f.dirs[dir]; to != nil {
			all = append(all, to)
		}
	}
	return all
}

// referrers are, for each kustomization, those that refer to it.
func (f *finder) referrers() map[*Kustomization][]*Kustomization {
	back := map[*Kustomization][]*Kustomization{}
	for _, k := range f.found.Kustomizations {
		for _, to := range f.next(k) {
			back[to] = append(back[to], k)
		}
	}
	return back
}

// visit goes through everything that can be reached and was not seen, and calls leave
// for each once all behind it is done. It keeps its own stack: how deep references go
// is up to whoever writes them.
func (f *finder) visit(from *Kustomization, seen map[*Kustomization]bool, next func(*Kustomization) []*Kustomization, leave func(*Kustomization)) {
	if seen[from] {
		return
	}
	type step struct {
		at   *Kustomization
		rest []*Kustomization
	}
	seen[from] = true
	stack := []step{{from, next(from)}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(top.rest) == 0 {
			leave(top.at)
			stack = stack[:len(stack)-1]
			continue
		}
		to := top.rest[0]
		top.rest = top.rest[1:]
		if !seen[to] {
			seen[to] = true
			stack = append(stack, step{to, next(to)})
		}
	}
}

// block gives every kustomization the first reason of each kind that it has or that
// is on the way to what it refers to: the nearest, and of those the first by name.
func (f *finder) block() {
	back := f.referrers()
	for kind := range kinds {
		var queue []*Kustomization
		has := map[*Kustomization]Reason{}
		for _, k := range f.found.Kustomizations {
			if i := slices.IndexFunc(k.Reasons, func(r Reason) bool { return r.Kind == kind }); i >= 0 {
				has[k] = k.Reasons[i]
				queue = append(queue, k)
			}
		}
		for ; len(queue) > 0; queue = queue[1:] {
			for _, k := range back[queue[0]] {
				if _, known := has[k]; !known {
					has[k] = has[queue[0]]
					queue = append(queue, k)
				}
			}
		}
		for k, reason := range has {
			k.Blocked = append(k.Blocked, reason)
		}
	}
}
