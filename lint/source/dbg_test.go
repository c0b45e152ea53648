package source

import (
	"fmt"
	"go.yaml.in/yaml/v3"
	"os"
	"strconv"
	"testing"
)

func TestDbg(t *testing.T) {
	text, err := strconv.Unquote(os.Getenv("T"))
	if err != nil {
		t.Skip()
	}
	docs, errs := documents([]byte(text), everything)
	fmt.Printf("%+v\n", errs)
	for _, d := range docs {
		walk(d.root, map[*Node]bool{}, func(n *Node, key bool) {
			f := &File{Text: []byte(text)}
			fmt.Printf("%d:%d %v key %t %q type %d quoted %t span %v\n", n.Line, n.Column, n.Kind, key, n.Value, n.Type, n.Quoted, f.Span(n))
		})
	}
	var n yaml.Node
	fmt.Println(yaml.Unmarshal([]byte(text), &n))
	for _, b := range checkPlaces("x", []byte(text)) {
		fmt.Println("BAD", b)
	}
}
