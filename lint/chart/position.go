package chart

import (
	"bytes"

	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// lineOfKey is the first line that starts with a key, or 1.
func lineOfKey(text []byte, key string) int {
	line := 0
	for l := range bytes.Lines(text) {
		line++
		if bytes.HasPrefix(l, []byte(key+":")) {
			return line
		}
	}
	return 1
}

// lineOfPath is the line of an item of a list of a YAML text, or 1.
func lineOfPath(text []byte, key string, index int) int {
	var doc kyaml.Node
	if kyaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return 1
	}
	root := doc.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key && index < len(root.Content[i+1].Content) {
			return root.Content[i+1].Content[index].Line
		}
	}
	return 1
}
