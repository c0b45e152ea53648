package source

import "sigs.k8s.io/kustomize/kyaml/yaml"

// flow reads a flow collection that ends on its line.
func (s *simple) flow(depth int) *yaml.Node {
	if depth > maxSimple {
		return nil
	}
	kind, end := yaml.SequenceNode, byte(']')
	if s.text[s.at] == '{' {
		kind, end = yaml.MappingNode, '}'
	}
	n := s.node(kind, s.at)
	n.Style = yaml.FlowStyle
	from := len(s.open)
	s.at++
	s.spaces()
	for first := true; s.at < len(s.text); first = false {
		if s.text[s.at] == end && (first || len(s.open) > from) {
			s.at++
			return s.close(n, from)
		}
		if !first {
			if s.text[s.at] != ',' {
				return nil
			}
			s.at++
			s.spaces()
		}
		if kind == yaml.MappingNode && !s.flowKey() {
			return nil
		}
		value := s.flowValue(depth)
		if value == nil {
			return nil
		}
		s.open = append(s.open, value)
		s.spaces()
	}
	return nil
}

// flowKey reads a key of a flow map and what stands before its value.
func (s *simple) flowKey() bool {
	begin := s.at
	key := s.flowWord()
	if key == nil || !s.colon(begin) {
		return false
	}
	s.open = append(s.open, key)
	s.spaces()
	return true
}

func (s *simple) flowValue(depth int) *yaml.Node {
	if s.at < len(s.text) && (s.text[s.at] == '[' || s.text[s.at] == '{') {
		return s.flow(depth + 1)
	}
	return s.flowWord()
}

func (s *simple) flowWord() *yaml.Node {
	if s.at == len(s.text) {
		return nil
	}
	if c := s.text[s.at]; c == '"' || c == '\'' {
		return s.quoted()
	}
	return s.plain(true)
}
