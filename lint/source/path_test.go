package source

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// pathText is a manifest in which the comment on each line is the path of the first key or value
// on that line.
const pathText = `apiVersion: apps/v1 # apiVersion
kind: Deployment # kind
spec: # spec
  replicas: 3 # spec.replicas
  template: # spec.template
    spec: # spec.template.spec
      nodeSelector: # spec.template.spec.nodeSelector
        example.com/pool: fast # spec.template.spec.nodeSelector[example.com/pool]
      tolerations: # spec.template.spec.tolerations
      - key: dedicated # spec.template.spec.tolerations[dedicated].key
        effect: NoSchedule # spec.template.spec.tolerations[dedicated].effect
      - operator: Exists # spec.template.spec.tolerations[].operator
      affinity: # spec.template.spec.affinity
        nodeAffinity: # spec.template.spec.affinity.nodeAffinity
          required: # spec.template.spec.affinity.nodeAffinity.required
            terms: # spec.template.spec.affinity.nodeAffinity.required.terms
            - matchExpressions: # spec.template.spec.affinity.nodeAffinity.required.terms[disktype].matchExpressions
              - {operator: Exists, key: disktype} # spec.template.spec.affinity.nodeAffinity.required.terms[disktype].matchExpressions[disktype].operator
        podAntiAffinity: # spec.template.spec.affinity.podAntiAffinity
          preferred: # spec.template.spec.affinity.podAntiAffinity.preferred
          - weight: 100 # spec.template.spec.affinity.podAntiAffinity.preferred[zone].weight
            podAffinityTerm: # spec.template.spec.affinity.podAntiAffinity.preferred[zone].podAffinityTerm
              topologyKey: zone # spec.template.spec.affinity.podAntiAffinity.preferred[zone].podAffinityTerm.topologyKey
              namespaces: # spec.template.spec.affinity.podAntiAffinity.preferred[zone].podAffinityTerm.namespaces
              - shop # spec.template.spec.affinity.podAntiAffinity.preferred[zone].podAffinityTerm.namespaces[shop]
              - "a]b" # spec.template.spec.affinity.podAntiAffinity.preferred[zone].podAffinityTerm.namespaces["a]b"]
`

// onlyObject returns the only object in text.
func onlyObject(t *testing.T, text string) *Object {
	t.Helper()
	set, err := Load(Options{Dir: "/", Root: "/", Stdin: strings.NewReader(text)}, []string{"-"})
	if err != nil || len(set.Objects) != 1 {
		t.Fatalf("%v, %d objects", err, len(set.Objects))
	}
	return set.Objects[0]
}

// paths returns the path of the first key or value on each line.
func paths(o *Object) (all []string) {
	for i := range o.File.LineCount() {
		line := o.File.Line(i + 1)
		column := 1 + len(line) - len(strings.TrimLeft(line, " -{"))
		all = append(all, o.Root.Places().Path(i+1, column).String())
	}
	return all
}

func TestPlaces(t *testing.T) {
	for i, got := range paths(onlyObject(t, pathText)) {
		line := strings.Split(pathText, "\n")[i]
		if _, want, _ := strings.Cut(line, " # "); got != want {
			t.Errorf("line %d: %s, found %q", i+1, line, got)
		}
	}
}

// TestPathStays checks that paths stay the same when list items and fields move.
func TestPathStays(t *testing.T) {
	moved := strings.Replace(pathText, "      - operator: Exists # spec.template.spec.tolerations[].operator\n", "", 1)
	moved = strings.Replace(moved, "      - key: dedicated #", "      - operator: Exists # spec.template.spec.tolerations[].operator\n      - key: dedicated #", 1)
	moved = "\n# moved down\n" + moved
	for i, got := range paths(onlyObject(t, moved)) {
		line := strings.Split(moved, "\n")[i]
		if _, want, ok := strings.Cut(line, " # "); ok && got != want {
			t.Errorf("line %d: %s, found %q", i+1, line, got)
		}
	}
}

func TestPathLongNames(t *testing.T) {
	text := fmt.Sprintf("kind: Pod\nspec:\n  %s: {a: 1}\n", strings.Repeat("x", 1000))
	o := onlyObject(t, text)
	if got := o.Root.Places().Path(3, 3).String(); len(got) > 50 || !strings.Contains(got, "sha256:") {
		t.Errorf("found %q", got)
	}
	if got := o.Root.Places().Path(9, 9); got != nil {
		t.Errorf("a path where nothing is: %q", got)
	}
}

// TestFewPlacesAsMany checks that a walk and the index find the same path for every position of
// the fixtures.
func TestFewPlacesAsMany(t *testing.T) {
	for _, o := range loadTree(t, "../../fixtures") {
		many := o.Root.Places()
		many.asked = fewPlaces
		var walk func(n *Node)
		walk = func(n *Node) {
			one, other := o.Root.Places().Path(int(n.Line), int(n.Column)), many.Path(int(n.Line), int(n.Column))
			if !slices.Equal(one, other) {
				t.Errorf("%s:%d:%d: %v, and of many %v", o.File.Name, n.Line, n.Column, one, other)
			}
			for _, c := range n.content() {
				walk(c)
			}
		}
		walk(o.Root)
	}
}
