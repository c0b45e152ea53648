package kinds

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/source"
)

// TestRows evaluates each row for a custom resource in testdata, whose second document has the expected
// pods. SCHEDLINT_UPDATE=1 rewrites them.
func TestRows(t *testing.T) {
	t.Parallel()
	for id, row := range Builtin() {
		if row.Project == "" || row.Version == "" || len(row.Source) == 0 {
			t.Errorf("%s: it does not say what it was read from", id)
		}
		if len(row.Pods) == 0 {
			continue
		}
		name := filepath.Join("testdata", row.Group+"_"+row.Kind+".yaml")
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		resource, want, _ := strings.Cut(string(text), "\n---\n")
		file := source.NewFile(name, name, []byte(resource))
		objects := file.ObjectsOf(file.Roots()[0])
		if len(objects) != 1 || objects[0].Group() != row.Group || objects[0].Kind != row.Kind {
			t.Errorf("%s: not one %s", name, row.Kind)
			continue
		}
		type pods struct {
			Name     string `json:"name,omitempty"`
			N        int    `json:"pods"`
			Known    bool   `json:"known"`
			Exact    bool   `json:"exactTolerations"`
			Template any    `json:"template"`
		}
		var got []pods
		for _, m := range row.Made(objects[0]) {
			got = append(got, pods{m.Name, m.N, m.Known, !m.OpenTolerations, m.Template.Decoded(typed)})
		}
		made, err := json.MarshalIndent(got, "", "  ")
		if err != nil || len(got) == 0 {
			t.Errorf("%s: nothing is known (%v)", name, err)
			continue
		}
		if os.Getenv("SCHEDLINT_UPDATE") != "" {
			if err := os.WriteFile(name, []byte(resource+"\n---\n"+string(made)+"\n"), 0o644); err != nil {
				t.Error(err)
			}
			continue
		}
		if !bytes.Equal(bytes.TrimSpace([]byte(want)), made) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, made, want)
		}
	}
}

// TestOpen checks that nothing is said about objects in which something is open.
func TestOpen(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: shop.example/v1\nkind: Shop\nmetadata: {name: a, namespace: b, labels: {from.example/x: y}}\nspec: "
	row := &Row{Unless: map[string][]string{"spec.override": {"*"}, "spec.paused": {"true"}}, Pods: []Pods{
		{Name: "{.name}", Each: "spec.pools", Replicas: Number{Path: ".size"}, Fields: map[string]string{"affinity.podAntiAffinity": ".apart", "tolerations": ".placement.tolerations"},
			Labels: Labels{From: []string{".labels"}, Add: map[string]string{"x": "{metadata.labels[from.example/x]}", "none": "{spec.none}"}}},
	}}
	for _, test := range []struct{ spec, want string }{
		{"{pools: [{name: p, size: 2}]}", `p 2 true {"metadata":{"labels":{"x":"y"}},"spec":{}}`},
		{"{pools: [{name: p}, {name: q, size: 0}]}", `p 0 false {"metadata":{"labels":{"x":"y"}},"spec":{}} q 0 true {"metadata":{"labels":{"x":"y"}},"spec":{}}`},
		{"{pools: [{name: p, size: 1, labels: {x: z, team: c}, apart: {a: b}}]}", `p 1 true {"metadata":{"labels":{"team":"c"}},"spec":{"affinity":{"podAntiAffinity":{"a":"b"}}}}`},
		{"{pools: [{name: p, size: 1, labels: {x: '${X}'}}]}", `p 1 true {"metadata":{"labels":{}},"spec":{}}`},
		{"{pools: [{name: p, size: -1}]}", `p 0 false {"metadata":{"labels":{"x":"y"}},"spec":{}}`},
		{"{pools: [{name: p}], override: {}}", ""},
		{"{pools: [{name: p}], paused: true}", ""},
		{"{pools: [{name: p}], paused: '${P}'}", ""},
		{"{pools: [{size: 1}]}", ""},
		{"{pools: [{name: p, size: 1, labels: '${LABELS}'}]}", ""},
		{"{pools: [{name: p, size: 1, placement: '${PLACEMENT}'}]}", ""},
		{"{pools: [{name: p, size: 1, placement: {tolerations: '${ALL}'}}]}", `p 1 true {"metadata":{"labels":{"x":"y"}},"spec":{"tolerations":"${ALL}"}}`},
		{"{pools: [{name: p, size: 1, placement: }]}", `p 1 true {"metadata":{"labels":{"x":"y"}},"spec":{}}`},
		{"'${SPEC}'", ""},
		{"{pools: [{name: p}, {name: p}]}", ""},
		{"{pools: '${POOLS}'}", ""},
		{"{pools: [" + strings.Repeat("{name: p}, ", 101) + "]}", ""},
		{"{}", ""},
	} {
		file := source.NewFile("a.yaml", "a.yaml", []byte(head+test.spec))
		var got []string
		for _, m := range row.Made(file.ObjectsOf(file.Roots()[0])[0]) {
			template, _ := json.Marshal(m.Template.Decoded(typed))
			n, _ := json.Marshal([]any{m.N, m.Known})
			got = append(got, m.Name+" "+strings.ReplaceAll(strings.Trim(string(n), "[]"), ",", " ")+" "+string(template))
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.spec, text, test.want)
		}
	}
}

// TestNodeLabels checks that a required label is in each node selector term.
func TestNodeLabels(t *testing.T) {
	t.Parallel()
	const (
		head   = "apiVersion: shop.example/v1\nkind: Shop\nmetadata: {name: a, namespace: b}\nspec: "
		terms  = "nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
		exists = `{"key":"zone","operator":"Exists"}`
	)
	row := &Row{Pods: []Pods{{Fields: map[string]string{"affinity": "spec.affinity"}, NodeLabels: []NodeLabel{
		{Key: "spec.rack.key", When: map[string][]string{"spec.rack.type": {"", "label"}}},
		{Key: "spec.room"},
	}}}}
	for _, test := range []struct{ spec, want string }{
		{"{}", "null"},
		{"{rack: {key: zone}}", `[{"matchExpressions":[` + exists + `]}]`},
		{"{rack: {key: zone, type: label}}", `[{"matchExpressions":[` + exists + `]}]`},
		{"{rack: {key: zone, type: variable}}", "null"},
		{"{rack: {key: zone, type: '${T}'}}", "null"},
		{"{rack: {key: '${KEY}'}}", "null"},
		{"{rack: {key: ''}}", "null"},
		{"{rack: {key: [zone]}}", "null"},
		{"{rack: {key: zone}, room: room}", `[{"matchExpressions":[` + exists + `,{"key":"room","operator":"Exists"}]}]`},
		{"{rack: {key: zone}, affinity: {" + terms + "[{matchExpressions: [{key: a, operator: Exists}]}, {matchFields: []}, ]}}}}", `[{"matchExpressions":[{"key":"a","operator":"Exists"},` + exists + `]},{"matchExpressions":[` + exists + `],"matchFields":[]}]`},
		{"{rack: {key: zone}, affinity: {" + terms + "['${TERM}', {matchExpressions: '${ALL}'}]}}}}", `[{"matchExpressions":[` + exists + `]},{"matchExpressions":[` + exists + `]}]`},
		{"{rack: {key: zone}, affinity: {" + terms + "'${TERMS}'}}}}", `[{"matchExpressions":[` + exists + `]}]`},
		{"{rack: {key: zone}, affinity: '${AFFINITY}'}", `[{"matchExpressions":[` + exists + `]}]`},
		{"{affinity: {" + terms + "[{matchExpressions: [{key: a, operator: Exists}]}]}}}}", `[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]`},
	} {
		file := source.NewFile("a.yaml", "a.yaml", []byte(head+test.spec))
		made := row.Made(file.ObjectsOf(file.Roots()[0])[0])[0].Template.At("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
		text := []byte("null")
		if made != nil {
			text, _ = json.Marshal(made.Decoded(typed))
		}
		if string(text) != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.spec, text, test.want)
		}
		key := file.Roots()[0].At("spec", "rack", "key")
		for _, term := range made.Items() {
			for _, requirement := range term.Get("matchExpressions").Items() {
				if at := requirement.Get("key"); at.Text() == "zone" && (at.Line != key.Line || at.Column != key.Column) {
					t.Errorf("%s: the requirement is not at the field's place", test.spec)
				}
			}
		}
	}
}

// TestNodeLabelMistakes checks what is said about rows that name no field.
func TestNodeLabelMistakes(t *testing.T) {
	t.Parallel()
	row := &Row{Group: "a.b", Kind: "C", Pods: []Pods{{Spec: "spec", NodeLabels: []NodeLabel{{Key: "spec.zone"}, {}, {Key: ".zone"}, {Key: "spec.zone", When: map[string][]string{"spec.a": nil}}}}}}
	var got []string
	row.Mistakes(func(at Place, why string) { got = append(got, fmt.Sprint(at)) })
	if want := []string{"[pods 0 node-labels 1 key]", "[pods 0 node-labels 2 key]", "[pods 0 node-labels 3 when spec.a]"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestOpenTemplate checks that nothing is said about a pod template that a variable sets.
func TestOpenTemplate(t *testing.T) {
	t.Parallel()
	row := &Row{Pods: []Pods{{Template: "spec.template", Tolerations: true}}}
	for spec, want := range map[string]int{"{template: '${T}'}": 0, "'${S}'": 0, "{}": 1, "{template: }": 1, "{template: {spec: '${S}'}}": 1} {
		file := source.NewFile("a.yaml", "a.yaml", []byte("apiVersion: shop.example/v1\nkind: Shop\nmetadata: {name: a}\nspec: "+spec))
		if got := row.Made(file.ObjectsOf(file.Roots()[0])[0]); len(got) != want {
			t.Errorf("%s: %d pods, want %d", spec, len(got), want)
		}
	}
}

// TestOwnRequests checks that limits say nothing about requests that the operator may set.
func TestOwnRequests(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: shop.example/v1\nkind: Shop\nmetadata: {name: a}\nspec: "
	for _, test := range []struct {
		pods       Pods
		spec, want string
	}{
		{Pods{Fields: map[string]string{"resources": "spec.resources"}, OwnRequests: true}, "{resources: {requests: {cpu: 1}, limits: {cpu: 2, memory: 3Gi}}}", `{"containers":[{"name":"main","resources":{"limits":{},"requests":{"cpu":1}}}]}`},
		{Pods{Fields: map[string]string{"resources": "spec.resources"}}, "{resources: {limits: {cpu: 2}}}", `{"containers":[{"name":"main","resources":{"limits":{"cpu":2}}}]}`},
		{Pods{Spec: "spec", OwnRequests: true}, "{containers: [{name: a, resources: {limits: '${L}'}}, {name: b}], initContainers: [{name: c, resources: {limits: {cpu: 1}}}], resources: {limits: {cpu: 4}}}",
			`{"containers":[{"name":"a","resources":{"limits":{}}},{"name":"b"}],"initContainers":[{"name":"c","resources":{"limits":{}}}],"resources":{"limits":{}}}`},
		{Pods{Spec: "spec", OwnRequests: true}, "{containers: '${C}'}", `{"containers":"${C}"}`},
	} {
		file := source.NewFile("a.yaml", "a.yaml", []byte(head+test.spec))
		row := &Row{Pods: []Pods{test.pods}}
		got, _ := json.Marshal(row.Made(file.ObjectsOf(file.Roots()[0])[0])[0].Template.Get("spec").Decoded(typed))
		if string(got) != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.spec, got, test.want)
		}
	}
}

// typed converts scalars to the types that encoding/json uses.
func typed(n *source.Node) any {
	if i, ok := n.Int(); ok && !n.Quoted {
		return i
	}
	if b, ok := n.Bool(); ok {
		return b
	}
	return n.Value
}

// recordedPods are pods that the code of an operator made of a resource.
type recordedPods struct {
	Name     string            `json:"name"`
	Replicas int               `json:"replicas"`
	Labels   map[string]string `json:"labels"`
	corev1.PodSpec
	Requests corev1.ResourceList `json:"requests"`
}

// TestRecorded compares rows with recordings of what the code of operators makes of random resources:
// the pods have all that a row says.
func TestRecorded(t *testing.T) {
	t.Parallel()
	rows := Builtin()
	for _, operator := range []string{"cnpg", "eck", "kuberay", "psmdb"} {
		file, err := os.Open(filepath.Join("testdata", "recorded-"+operator+".jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := gzip.NewReader(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(unpacked)
		lines.Buffer(nil, 1<<20)
		lines.Scan() // the version
		resources, compared, numbers := 0, 0, 0
		for lines.Scan() {
			var record struct {
				Resource json.RawMessage `json:"resource"`
				Pods     []recordedPods  `json:"pods"`
			}
			if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
				t.Fatal(err)
			}
			resources++
			f := source.NewFile("a.yaml", "a.yaml", record.Resource)
			o := f.ObjectsOf(f.Roots()[0])[0]
			for _, m := range rows[[2]string{o.Group(), o.Kind}].Made(o) {
				var made corev1.PodTemplateSpec
				text, err := json.Marshal(m.Template.Decoded(typed))
				if err == nil {
					err = json.Unmarshal(text, &made)
				}
				if err != nil {
					t.Fatalf("%s: %v in %s", operator, err, text)
				}
				n := 0
				for i := range record.Pods {
					p := &record.Pods[i]
					if names := []string{"-" + m.Name, "-" + m.Name + "-worker", "-es-" + m.Name}; m.Name != "" && !slices.Contains(names, strings.TrimPrefix(p.Name, o.Name)) {
						continue
					}
					n += p.Replicas
					compared++
					if why := p.lacks(&made, !m.OpenTolerations); why != "" {
						t.Fatalf("%s: %s: %s of\n%s\n%s", operator, p.Name, why, text, lines.Bytes())
					}
				}
				if numbers++; n == 0 && m.N > 0 || m.Known && n != m.N {
					t.Fatalf("%s: %s: %d pods, want %d (%v) of\n%s", operator, m.Name, n, m.N, m.Known, record.Resource)
				}
			}
		}
		t.Logf("%s: %d resources, %d pods, %d numbers", operator, resources, compared, numbers)
		if resources != 200 || compared < 200 {
			t.Errorf("%s: %d resources, %d pods", operator, resources, compared)
		}
	}
}

func includes(all, some map[string]string) bool {
	for key, value := range some {
		if got, has := all[key]; !has || got != value {
			return false
		}
	}
	return true
}

// lacks says what recorded pods lack of a template.
func (p *recordedPods) lacks(made *corev1.PodTemplateSpec, exact bool) string {
	if !includes(p.Labels, made.Labels) {
		return "the labels differ"
	}
	if exact && !equality.Semantic.DeepEqual(made.Spec.Tolerations, p.Tolerations) {
		return "the tolerations differ"
	}
	if !includes(p.NodeSelector, made.Spec.NodeSelector) {
		return "the nodeSelector differs"
	}
	for _, c := range made.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable == corev1.DoNotSchedule && !slices.ContainsFunc(p.TopologySpreadConstraints, func(o corev1.TopologySpreadConstraint) bool { return equality.Semantic.DeepEqual(c, o) }) {
			return "a constraint is missing"
		}
	}
	affinity := func(s *corev1.PodSpec) (all []string) {
		a := s.Affinity
		if a == nil {
			return nil
		}
		add := func(what string, terms []corev1.PodAffinityTerm) {
			for _, term := range terms {
				selector, _ := metav1.LabelSelectorAsSelector(term.LabelSelector)
				text := regexp.MustCompile(` in \((\w+)\)`).ReplaceAllString(selector.String(), "=$1")
				all = append(all, what+","+term.TopologyKey+","+text+","+strings.Join(term.Namespaces, ","))
			}
		}
		if a.PodAffinity != nil {
			add("near", a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		if a.PodAntiAffinity != nil {
			add("apart", a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		return all
	}
	there := affinity(&p.PodSpec)
	for _, term := range affinity(&made.Spec) {
		part := func(whole string) bool { // a label that two sources set is not known
			return !slices.ContainsFunc(strings.Split(term, ","), func(one string) bool { return !slices.Contains(strings.Split(whole, ","), one) })
		}
		if !slices.ContainsFunc(there, part) {
			return "a term is missing: " + term
		}
	}
	if a := made.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		if p.Affinity == nil || p.Affinity.NodeAffinity == nil || p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
			return "the node affinity is missing"
		}
	}
	for _, c := range made.Spec.Containers {
		for name, amount := range c.Resources.Requests {
			if got := p.Requests[name]; got.Cmp(amount) < 0 {
				return fmt.Sprintf("%s is %s, not %s", name, got.String(), amount.String())
			}
		}
	}
	return ""
}

// TestDocumented compares the rows with the page about limits.
func TestDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Operators\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, row := range Builtin() {
		named := slices.ContainsFunc(strings.Split(section, "\n"), func(line string) bool {
			return strings.HasPrefix(line, "| "+row.Project+" "+row.Version+" |") && strings.Contains(line+",", " "+row.Kind) || len(row.Pods) == 0 && strings.Contains(line, row.Kind)
		})
		if !named {
			t.Errorf("the page does not name %s of %s %s", row.Kind, row.Project, row.Version)
		}
	}
}

// TestText checks that the text of each row reads back as the row.
func TestText(t *testing.T) {
	t.Parallel()
	two := 2
	rows := []*Row{{Group: "a.b", Kind: "C"}, {Group: "a.b", Kind: "yes", Unless: map[string][]string{"\"\n": {"", "*", "true"}}, Pods: []Pods{{}, {Name: "{.a}: b", Replicas: Number{Default: &two}}}}}
	for _, row := range Builtin() {
		rows = append(rows, row)
	}
	for _, row := range rows {
		file := source.NewFile("a.yaml", "a.yaml", []byte(row.Text()))
		var got []*Row
		decoder := source.Decoder{}
		found := decoder.Decode(file.Roots()[0], &got)
		if len(found) > 0 || len(got) != 1 || !equality.Semantic.DeepEqual(got[0], row) {
			t.Errorf("%s: %v\n%s", row.Kind, found, row.Text())
		}
	}
}
