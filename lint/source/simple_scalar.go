package source

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// word parses a plain scalar or a quoted text, inside or outside flow collections.
func (s *simple) word(flow bool) *yaml.Node {
	if s.at == len(s.text) {
		return nil
	}
	if c := s.text[s.at]; c == '"' || c == '\'' {
		return s.quoted()
	}
	return s.plain(flow)
}

// plain parses a plain scalar up to a colon, a comment or the end of the line.
func (s *simple) plain(flow bool) *yaml.Node {
	begin := s.at
	if !plainStart[s.text[begin]] && (s.text[begin] != '-' || flow || s.blank(begin+1)) {
		return nil
	}
	end := begin // after the last character that is not a space
scan:
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ':
			continue
		case '\n':
			break scan
		case '\t':
			return nil
		case '#':
			if s.text[s.at-1] == ' ' && s.at > begin {
				break scan
			}
		case ':':
			if s.blank(s.at + 1) {
				break scan
			}
			if flow && strings.IndexByte(",?[]{}", s.text[s.at+1]) >= 0 {
				return nil
			}
		case '?':
			if flow {
				return nil
			}
		case ',', '[', ']', '{', '}':
			if flow {
				break scan
			}
		}
		end = s.at + 1
	}
	if s.at < len(s.text) && s.text[s.at] == ':' && end < s.at {
		return nil // a space before the colon
	}
	s.at = end
	value := s.text[begin:end]
	if value == "<<" || begin == s.start && (strings.HasPrefix(value, "---") || strings.HasPrefix(value, "...")) {
		return nil
	}
	return s.scalar(0, begin, value)
}

// plainStart holds the characters with which a plain scalar may begin, except a dash.
var plainStart = func() (table [256]bool) {
	for c := range table {
		table[c] = c > ' ' && strings.IndexByte("-?:,[]{}#&*!|>'\"%@`", byte(c)) < 0
	}
	return table
}()

// quoted reads text in quotes that ends on its line.
func (s *simple) quoted() *yaml.Node {
	begin, quote := s.at, s.text[s.at]
	escaped := false
	for i := begin + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\n' || c == '\t':
			return nil
		case c == '\\' && quote == '"':
			escaped = true
			i++
		case c == quote && quote == '\'' && i+1 < len(s.text) && s.text[i+1] == quote:
			escaped = true
			i++
		case c == quote:
			s.at = i + 1
			return s.unescaped(begin, s.text[begin+1:i], escaped)
		}
	}
	return nil
}

// unescaped is the scalar of text in quotes.
func (s *simple) unescaped(begin int, value string, escaped bool) *yaml.Node {
	style := yaml.SingleQuotedStyle
	if s.text[begin] == '"' {
		style = yaml.DoubleQuotedStyle
	}
	switch {
	case escaped && style == yaml.SingleQuotedStyle:
		value = strings.ReplaceAll(value, "''", "'")
	case escaped:
		var b strings.Builder
		for i := 0; i < len(value); i++ {
			c := value[i]
			if c == '\\' {
				i++
				if c = simpleEscapes[value[i]]; c == 0 {
					return nil
				}
			}
			b.WriteByte(c)
		}
		value = b.String()
	}
	return s.scalar(style, begin, value)
}

// simpleEscapes are characters behind a backslash, and what they stand for.
var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'n': '\n', 't': '\t'}

// literal reads the text below a vertical bar.
func (s *simple) literal(indent int) *yaml.Node {
	n := s.scalar(yaml.LiteralStyle, s.at, "")
	s.at++
	strip := s.at < len(s.text) && s.text[s.at] == '-'
	if strip {
		s.at++
	}
	s.spaces()
	if s.at == len(s.text) || s.text[s.at] != '\n' {
		return nil
	}
	s.newline()
	breaks := s.at
	for s.at < len(s.text) && s.text[s.at] == '\n' {
		s.newline()
	}
	var b strings.Builder
	b.WriteString(s.text[breaks:s.at])
	s.spaces()
	depth := s.at - s.start
	if depth <= indent || s.at == len(s.text) || s.text[s.at] == '\n' || s.text[s.at] == '\t' {
		return nil // without text, or of an unclear indentation
	}
	if !s.literalLines(&b, depth) {
		return nil
	}
	n.Value = b.String()
	if text := strings.TrimRight(n.Value, "\n"); len(text) < len(n.Value) {
		if !strip {
			text = n.Value[:len(text)+1]
		}
		n.Value = text
	}
	return n
}

// literalLines reads lines of literal text from behind the indentation of the first
// up to a line with a smaller one.
func (s *simple) literalLines(b *strings.Builder, depth int) bool {
	for {
		end := strings.IndexByte(s.text[s.at:], '\n')
		if end < 0 {
			b.WriteString(s.text[s.at:])
			s.at = len(s.text)
			return true
		}
		b.WriteString(s.text[s.at : s.at+end+1])
		s.at += end
		s.newline()
		for s.at < len(s.text) && s.at-s.start < depth && s.text[s.at] == ' ' {
			s.at++
		}
		if s.at == len(s.text) {
			return s.at == s.start
		}
		if s.at-s.start < depth && s.text[s.at] != '\n' {
			break
		}
	}
	blank := s.text[s.at] != '\t'
	s.at = s.start
	return blank
}

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
		if kind == yaml.MappingNode {
			begin := s.at
			key := s.word(true)
			if key == nil || !s.colon(begin) {
				return nil
			}
			s.open = append(s.open, key)
			s.spaces()
		}
		var value *yaml.Node
		if s.at < len(s.text) && (s.text[s.at] == '[' || s.text[s.at] == '{') {
			value = s.flow(depth + 1)
		} else {
			value = s.word(true)
		}
		if value == nil {
			return nil
		}
		s.open = append(s.open, value)
		s.spaces()
	}
	return nil
}
