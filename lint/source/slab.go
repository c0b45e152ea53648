package source

import "strings"

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
