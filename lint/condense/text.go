package condense

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
)

type object = map[string]any

// Text returns the cluster as YAML documents, and the topology that they declare. The error says why
// they would not declare the same nodes.
func (c *Cluster) Text() ([]byte, *topology.Topology, error) {
	var b bytes.Buffer
	for _, line := range c.about() {
		comment(&b, "", line)
	}
	if len(c.pools) > 0 {
		b.WriteString("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n")
	}
	for _, p := range c.pools {
		for _, line := range p.comments {
			comment(&b, "", line)
		}
		lead := "- "
		for line := range strings.Lines(fields(reflect.ValueOf(*p.PoolSpec))) {
			b.WriteString(lead + line)
			lead = "  "
		}
	}
	if text := fields(reflect.ValueOf(c.storage)); text != "" {
		b.WriteString("storage:\n")
		for line := range strings.Lines(text) {
			b.WriteString("  " + line)
		}
	}
	for _, o := range append(c.documents(), c.storedDocuments()...) {
		b.WriteString("---\n" + encoded(o))
	}
	set := source.LoadText(source.Options{}, "the condensed nodes", b.Bytes())
	topo, err := topology.Load(set.Objects)
	switch {
	case err != nil:
		return nil, nil, err
	case slices.ContainsFunc(c.from.Open(), func(key string) bool { return !slices.Contains(topo.Open(), key) }), len(set.Problems) > 0 || len(topo.Nodes) != len(c.from.Nodes) || len(topo.Growth) != len(c.from.Growth):
		return nil, nil, fmt.Errorf("the condensed nodes are not those of the input: name the input itself with --topology")
	}
	return b.Bytes(), topo, nil
}

// about returns what the comment at the top says.
func (c *Cluster) about() []string {
	lines := []string{"Made by schedlint nodes."}
	if c.renamed > 0 {
		lines = append(lines, fmt.Sprintf("The names of %s are left out. Where a manifest names one, by nodeName or kubernetes.io/hostname,", plural(c.renamed, "node")),
			"declare that node as a v1 Node.")
	}
	if c.counted > 0 {
		lines = append(lines, fmt.Sprintf("The requests of %s are reserved in pools, and left out of the resources of Nodes.", plural(c.counted, "pod")))
	}
	if c.counted > 0 && !c.excepted {
		lines = append(lines, "If manifests make some of these pods, name the manifests with --except: else their pods count twice.")
	}
	const most = 5
	kubelets := sorting.Keys(c.kubelets)
	for _, version := range kubelets[:min(len(kubelets), most)] {
		lines = append(lines, fmt.Sprintf("Kubelet %s: %s", version, plural(c.kubelets[version], "node")))
	}
	if more := len(kubelets) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s of the kubelet", plural(more, "other version")))
	}
	if len(kubelets) > 0 {
		lines = append(lines, "The API server may be newer: kubernetes: in .schedlint.yaml sets its version.")
	}
	for _, kind := range sorting.Keys(c.left) {
		lines = append(lines, fmt.Sprintf("Left out: %d of kind %s", c.left[kind], kind))
	}
	return lines
}

// comment writes a comment of one line.
func comment(b *bytes.Buffer, indent, line string) {
	fmt.Fprintf(b, "%s# %s\n", indent, strings.Map(func(r rune) rune {
		if r < ' ' || r == '\x7f' || r == '\u0085' || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(line, "?")))
}

// fields returns the fields of a struct that are set, in their order.
func fields(v reflect.Value) string {
	var b strings.Builder
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		f := v.Field(i)
		if empty := f.IsZero() || f.Kind() == reflect.Map && f.Len() == 0; name != "-" && !empty {
			b.WriteString(encoded(object{name: f.Interface()}))
		}
	}
	return b.String()
}

func encoded(o object) string {
	text, err := yaml.Marshal(o)
	if err != nil {
		panic(err) // values of these types can always be encoded
	}
	return string(text)
}

// documents returns the Nodes that are in no pool, and their CSINodes.
func (c *Cluster) documents() (all []object) {
	for _, n := range c.nodes {
		labels := maps.Clone(n.Labels)
		delete(labels, topology.Cluster)
		meta := object{"name": n.Name, "labels": labels}
		if n.Live {
			meta["uid"] = n.Name // says that the list of labels is complete, and does not change
		}
		o := object{"apiVersion": "v1", "kind": "Node", "metadata": meta}
		spec := object{}
		if n.Unschedulable {
			spec["unschedulable"] = true
		}
		if list := taints(n); len(list) > 0 {
			spec["taints"] = list
		}
		if len(spec) > 0 {
			o["spec"] = spec
		}
		if n.Allocatable != nil {
			left, _ := topology.Reserve(n.Allocatable, c.reserved[n.Name])
			o["status"] = object{"allocatable": left}
		}
		all = append(all, o)
		drivers := []object{}
		for _, name := range sorting.Keys(n.Volumes) {
			drivers = append(drivers, object{"name": topology.Driver(name), "nodeID": n.Name, "allocatable": object{"count": n.Volumes[name]}})
		}
		if len(drivers) > 0 {
			all = append(all, object{"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": object{"name": n.Name}, "spec": object{"drivers": drivers}})
		}
	}
	return all
}

// storedDocuments returns the objects about volumes, without what only the API server needs.
func (c *Cluster) storedDocuments() (all []object) {
	for _, o := range c.stored {
		doc, _ := o.Root.Decoded((*source.Node).Plain).(object)
		meta, _ := doc["metadata"].(object)
		for _, key := range []string{"managedFields", "uid", "resourceVersion", "creationTimestamp", "generation", "selfLink", "finalizers", "ownerReferences"} {
			delete(meta, key)
		}
		annotations, _ := meta["annotations"].(object)
		maps.DeleteFunc(annotations, func(key string, _ any) bool {
			return key != corev1.BetaStorageClassAnnotation && !strings.HasSuffix(key, "/is-default-class")
		})
		if len(annotations) == 0 {
			delete(meta, "annotations")
		}
		all = append(all, doc)
	}
	return all
}
