package source

import (
	"slices"
	"strings"
	"sync"

	"github.com/schedlint/schedlint/lint/limits"
)

// A folded node keeps its position and releases its contents, which are parsed again when needed.
// After an object has been decoded, only findings need its tree, to find their locations. Most
// trees are therefore never parsed again.

// extent is the range of a document in the text of a file.
type extent struct{ start, end, line int }

// maxFolded is the maximum size of a folded document. It is limited because looking up a single
// value parses the whole document again.
const maxFolded = 32 << 10

// foldable describes a document that can be parsed again.
type foldable struct {
	file *File
	extent
	shelf *shelf
	// of is the object in the document. root is the object's tree, or nil once the object has been
	// folded.
	of   *Object
	root *Node
	kept *Kept
}

// Kept selects the fields that stay in memory when an object is folded.
type Kept struct {
	// Names lists the fields that are kept completely. Through names a field, such as spec. In this
	// field, only the fields in Names are kept. A field with this name may occur at several levels.
	Names   []string
	Through string
}

// shelf caches the trees of the documents that were most recently parsed again.
type shelf struct {
	mu     sync.Mutex
	keep   func(apiVersion, kind string) bool
	drop   func(field string) bool
	memory *memory
	open   [openTrees]openTree
	next   int
	// kept is the memory for kept fields. keeping ensures that it is used for only one document at
	// a time.
	keeping sync.Mutex
	kept    slab
}

type openTree struct {
	of   *foldable
	root *Node
}

// openTrees is the number of cached trees. It is enough for an object and the objects that it is
// compared with.
const openTrees = 4

// unfoldedPage is the number of Nodes per allocation when a document is parsed again. It is small
// because each Node in use keeps the other Nodes of its allocation in memory.
const unfoldedPage = 8

// newShelf returns a shelf. keep and drop must be the same as when the documents were first parsed.
func newShelf(keep func(apiVersion, kind string) bool, drop func(field string) bool) *shelf {
	m := newMemory()
	m.slab.page = unfoldedPage
	return &shelf{keep: keep, drop: drop, memory: m}
}

// tree returns the tree of a document, from the cache or by parsing the document again.
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

// canFold reports whether the tree of the object still corresponds to its text. The tree of a
// copied object may have been modified.
func (o *Object) canFold() bool {
	return o.text != nil && o.text.of == o && (o.text.root == nil || o.text.root == o.Root)
}

// Fold releases the tree of an object except for the kept fields. It does nothing if the object
// cannot be parsed again.
func (o *Object) Fold(kept *Kept) {
	if !o.canFold() || o.text.root == nil {
		return
	}
	o.size, o.text.kept, o.text.root = o.Size(), kept, nil
	o.Root = o.Folded(o.Root)
}

// Folded returns a folded copy of a node in a folded object. The copy keeps only the kept fields of
// the node in memory, and does not refer to the surrounding tree. Folded returns n itself if the
// object cannot be parsed again.
func (o *Object) Folded(n *Node) *Node {
	if !o.canFold() || o.text.root != nil || n == nil {
		return n
	}
	return o.text.folded(n)
}

// folded copies n and its kept fields.
func (f *foldable) folded(n *Node) *Node {
	f.shelf.keeping.Lock()
	defer f.shelf.keeping.Unlock()
	c := copier{f, &f.shelf.kept}
	root := c.node(n)
	c.fill(root, n)
	return root
}

// copier copies the kept fields of a document.
type copier struct {
	*foldable
	slab *slab
}

func (c copier) node(of *Node) *Node {
	n := c.slab.node()
	*n = *of
	return n
}

// whole reports whether a field is kept completely.
func (k *Kept) whole(name string) bool { return slices.Contains(k.Names, name) }

func (k *Kept) partly(name string) bool { return name != "" && name == k.Through }

// fill gives n a copy of another node's kept contents.
func (c copier) fill(n, of *Node) {
	n.inside = nil // even an empty slice would keep a page of the old tree alive
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

// kept returns a field of a folded map. ok is false if the text must be parsed again to find the
// field.
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

// copyInside gives n a complete copy of another node's contents.
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

// slab allocates Nodes and their contents in pages. Consecutive documents may share a page.
type slab struct {
	rest    []Node
	insides []inside
	lists   []*Node
	page    int // number of Nodes per allocation; 0 means slabNodes
}

// slabNodes is the default number of Nodes per allocation.
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

// inside returns empty contents for a map or a list, with capacity for the given number of Nodes.
func (s *slab) inside(nodes int) *inside {
	if len(s.insides) == 0 {
		s.insides = make([]inside, max(1, s.size()/8))
	}
	in := &s.insides[0]
	s.insides = s.insides[1:]
	in.nodes = s.list(nodes)
	return in
}

// list returns an empty slice with the given capacity. A long slice gets its own allocation.
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

// wording interns scalar values, because most of them occur many times.
type wording map[string]string

// mostWords is the maximum number of interned strings, and longWord is their maximum length.
// Longer strings are rarely repeated.
const mostWords, longWord = 1 << 14, 64

// keep returns a copy of text that does not share the memory of the file. Equal short strings share
// one copy.
func (w wording) keep(text string) string {
	if len(text) > longWord {
		return strings.Clone(text)
	}
	if known, ok := w[text]; ok {
		return known
	}
	return w.add(strings.Clone(text))
}

// keepBytes is like keep, but takes a byte slice.
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
