package source

import (
	"slices"
	"strings"
	"sync"

	"github.com/schedlint/schedlint/lint/limits"
)

// A folded node keeps its place and lets go of what it holds, which is read again from
// the text of its document once something asks. What decides the placement of pods is
// decoded once; after that most trees are needed for the place of a finding, if at all.

// extent is where a document stands in the text of a file.
type extent struct{ start, end, line int }

// maxFolded bounds the text of a document that is read again: whoever asks for one
// value pays for all of it.
const maxFolded = 32 << 10

// foldable is a document that can be read again.
type foldable struct {
	file *File
	extent
	shelf *shelf
	// of is the object, root its tree as it was read, until it is let go.
	of   *Object
	root *Node
	kept *Kept
}

// Kept says which fields the maps of an object keep that Fold lets go of.
type Kept struct {
	// Names are the fields that are kept whole; of the field Through, which may be in
	// each map, these alone are kept.
	Names   []string
	Through string
}

// shelf holds the trees of the documents that were read again last.
type shelf struct {
	mu     sync.Mutex
	keep   func(apiVersion, kind string) bool
	drop   func(field string) bool
	memory *memory
	open   [openTrees]openTree
	next   int
	// kept is for what is kept of documents, one at a time.
	keeping sync.Mutex
	kept    slab
}

type openTree struct {
	of   *foldable
	root *Node
}

// openTrees is how many trees are kept: an object, and those that it is compared with.
const openTrees = 4

// unfoldedPage is how many Nodes of a document that is read again are made at once.
// Those that something keeps hold on to few others.
const unfoldedPage = 8

// newShelf reads documents as they were read first.
func newShelf(keep func(apiVersion, kind string) bool, drop func(field string) bool) *shelf {
	m := newMemory()
	m.slab.page = unfoldedPage
	return &shelf{keep: keep, drop: drop, memory: m}
}

// tree is the tree of a document, read again unless it is at hand.
func (s *shelf) tree(of *foldable) *Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.open {
		if s.open[i].of == of {
			return s.open[i].root
		}
	}
	r := &yamlReader{opts: Options{Drop: s.drop, Keep: s.keep}, most: limits.File, lines: of.line - 1, memory: s.memory}
	if !parseSimple(of.file.Text[of.start:of.end], &r.simple, r.document) || len(r.docs) != 1 {
		panic("source: a document that was read does not read again: " + of.file.Name)
	}
	root := r.docs[0].root
	s.open[s.next] = openTree{of, root}
	s.next = (s.next + 1) % openTrees
	return root
}

// unfolded is what the node at the place of n holds.
func (f *foldable) unfolded(n *Node) *inside {
	at := f.shelf.tree(f)
	for at != nil && (at.Line != n.Line || at.Column != n.Column || at.Kind != n.Kind) {
		var last *Node // the map or list that begins at the place of n or before it
		for _, c := range at.content() {
			if c.Kind != Scalar && (c.Line < n.Line || c.Line == n.Line && c.Column <= n.Column) {
				last = c
			}
		}
		at = last
	}
	if at == nil {
		panic("source: a value that was read is not found again: " + f.file.Name)
	}
	return at.inside
}

// canFold reports whether the text says of the object what its tree says: a copy of it
// may have another.
func (o *Object) canFold() bool {
	return o.text != nil && o.text.of == o && (o.text.root == nil || o.text.root == o.Root)
}

// Fold lets go of the tree of an object but for what is kept; it does nothing if the
// object cannot be read again.
func (o *Object) Fold(kept *Kept) {
	if !o.canFold() || o.text.root == nil {
		return
	}
	o.size, o.text.kept, o.text.root = o.Size(), kept, nil
	o.Root = o.Folded(o.Root)
}

// Folded is a copy of a node of an object that Fold was asked of: it does not hold on to
// the tree around it, nor to what is in it but for fields that are kept. It is n itself
// if the object cannot be read again.
func (o *Object) Folded(n *Node) *Node {
	if !o.canFold() || o.text.root != nil || n == nil {
		return n
	}
	return o.text.folded(n)
}

// folded copies n and what is kept of it.
func (f *foldable) folded(n *Node) *Node {
	f.shelf.keeping.Lock()
	defer f.shelf.keeping.Unlock()
	c := copier{f, &f.shelf.kept}
	root := c.node(n)
	c.fill(root, n)
	return root
}

// copier copies what is kept of a document.
type copier struct {
	*foldable
	slab *slab
}

func (c copier) node(of *Node) *Node {
	n := c.slab.node()
	*n = *of
	return n
}

// whole and partly report whether and how a field is kept.
func (k *Kept) whole(name string) bool { return slices.Contains(k.Names, name) }

func (k *Kept) partly(name string) bool { return name != "" && name == k.Through }

// fill gives n what is kept of what another node holds.
func (c copier) fill(n, of *Node) {
	n.inside = nil // what is empty shares a page with what is to be let go
	if of.Len() == 0 {
		return
	}
	fields := 0
	for k := range of.Fields() {
		if c.kept.partly(k.Value) || c.kept.whole(k.Value) {
			fields++
		}
	}
	in := c.slab.inside(2 * fields)
	in.folded = c.foldable
	for k, v := range of.Fields() {
		partly := c.kept.partly(k.Value)
		if !partly && !c.kept.whole(k.Value) {
			continue
		}
		key, value := c.node(k), c.node(v)
		in.nodes = append(in.nodes, key, value)
		if partly {
			c.fill(value, v)
		} else {
			c.copyInside(value, v)
		}
	}
	n.inside = in
}

// kept is a field of a folded map; ok is false if it is not known without reading the
// text again.
func (in *inside) kept(key string) (k, v *Node, ok bool) {
	if in == nil || in.folded == nil {
		return nil, nil, false
	}
	for i := 0; i+1 < len(in.nodes); i += 2 {
		if in.nodes[i].Value == key {
			return in.nodes[i], in.nodes[i+1], true
		}
	}
	return nil, nil, in.folded.kept.partly(key) || in.folded.kept.whole(key)
}

// copyInside gives n copies of all that another node holds.
func (c copier) copyInside(n, of *Node) {
	n.inside = nil
	in := of.opened()
	if in == nil || len(in.nodes) == 0 {
		return
	}
	n.inside = c.slab.inside(len(in.nodes))
	n.inside.index = in.index
	for _, held := range in.nodes {
		at := c.node(held)
		c.copyInside(at, held)
		n.inside.nodes = append(n.inside.nodes, at)
	}
}

// slab makes Nodes and what they hold by the page; what one document leaves is for the
// next one.
type slab struct {
	rest    []Node
	insides []inside
	lists   []*Node
	page    int // how many Nodes are made at once; 0 stands for slabNodes
}

// slabNodes is how many Nodes are made at once, as a rule.
const slabNodes = 64

func (s *slab) size() int {
	if s.page == 0 {
		return slabNodes
	}
	return s.page
}

func (s *slab) node() *Node {
	if len(s.rest) == 0 {
		s.rest = make([]Node, s.size())
	}
	n := &s.rest[0]
	s.rest = s.rest[1:]
	return n
}

// inside is what a map or a sequence holds, with room for so many Nodes.
func (s *slab) inside(nodes int) *inside {
	if len(s.insides) == 0 {
		s.insides = make([]inside, max(1, s.size()/8))
	}
	in := &s.insides[0]
	s.insides = s.insides[1:]
	in.nodes = s.list(nodes)
	return in
}

// list is an empty list with room for so many Nodes. One that is long is made by itself.
func (s *slab) list(nodes int) []*Node {
	if nodes == 0 {
		return nil
	}
	if nodes > len(s.lists) {
		if nodes > s.size()/2 {
			return make([]*Node, 0, nodes)
		}
		s.lists = make([]*Node, s.size())
	}
	list := s.lists[:0:nodes]
	s.lists = s.lists[nodes:]
	return list
}

// wording holds texts of scalars, as most of them stand in many places.
type wording map[string]string

// mostWords bounds the table, longWord the texts in it: long ones hardly repeat.
const mostWords, longWord = 1 << 14, 64

// keep gives an equal text of its own, apart from that of the file.
func (w wording) keep(text string) string {
	if len(text) > longWord {
		return strings.Clone(text)
	}
	if known, ok := w[text]; ok {
		return known
	}
	return w.add(strings.Clone(text))
}

// keepBytes is keep for a text that is no string yet.
func (w wording) keepBytes(text []byte) string {
	if len(text) > longWord {
		return string(text)
	}
	if known, ok := w[string(text)]; ok {
		return known
	}
	return w.add(string(text))
}

func (w wording) add(text string) string {
	if len(w) < mostWords {
		w[text] = text
	}
	return text
}
