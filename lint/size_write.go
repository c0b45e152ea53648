package lint

import (
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sizing"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/worktree"
)

// writeSizes returns the node files with the sizes that were found: the fields count and zones of
// pools in a NodeTopology. Everything else stays. It returns an error if a pool that needs another
// size is declared elsewhere, or if a file has changed.
func (r *run) writeSizes(asked *sizing.Options, topo *topology.Topology, one *diag.Sizing) (all []FixedFile, err error) {
	edits, files := map[*source.File][]diag.Edit{}, []*source.File(nil)
	for i := range one.Pools {
		p, row := topo.Pools[i], &one.Pools[i]
		file, item := p.Declaration.File, p.Declaration.Node
		count, zones := item.Get("count"), item.Get("zones")
		switch {
		case row.Nodes == row.Declared:
			continue
		case asked.Candidate(p):
			return nil, fmt.Errorf("--write: pool %s is a candidate: declare it in the node file", p.Name)
		case p.Spec.Max != nil && row.Nodes > int(*p.Spec.Max):
			return nil, fmt.Errorf("--write: pool %s needs %d nodes, but its max is %d", p.Name, row.Nodes, int(*p.Spec.Max))
		case item.Get("name").Text() != p.Name || count == nil && zones == nil:
			return nil, fmt.Errorf("--write: pool %s has no count or zones in a NodeTopology", p.Name)
		}
		if edits[file] == nil {
			files = append(files, file)
		}
		set := func(n *source.Node, to int) {
			edits[file] = append(edits[file], diag.Edit{Location: file.Span(n), OldText: n.Value, NewText: strconv.Itoa(to)})
		}
		if count != nil {
			set(count, row.Nodes)
		}
		for k, v := range zones.Fields() {
			at := slices.IndexFunc(row.Zones, func(z diag.ZoneSize) bool { return z.Zone == k.Value })
			set(v, row.Zones[at].Nodes)
		}
	}
	for _, file := range files {
		of := edits[file]
		f := FixedFile{Name: file.Name, Path: worktree.Absolute(r.opts.Dir, r.files.Display(file.Name)), Edits: of}
		if file.Display != "" {
			f.Path = worktree.Absolute(r.opts.Dir, file.Display)
		}
		if f.Before, err = os.ReadFile(f.Path); err == nil {
			f.After, err = apply(file.Name, f.Before, of)
		}
		if err != nil {
			return nil, fmt.Errorf("--write: %s: %w", file.Display, err)
		}
		all = append(all, f)
	}
	return all, nil
}
