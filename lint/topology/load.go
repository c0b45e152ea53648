package topology

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
)

// loader collects the nodes of a topology. It also collects errors, so that all of them are
// reported at once.
type loader struct {
	decoder *source.Decoder
	topo    *Topology
	where   Where
	beside  Beside
	byName  map[string]*Node
	from    map[string]*source.Object                // the object that declares each node
	pooled  map[string]string                        // the location where each pool is declared
	limits  map[string]map[corev1.ResourceName]int64 // Node.Volumes by the name of the node
	// nodeSizes says what nodes offer.
	nodeSizes []nodeSize
	errs      []error
	said      map[string]bool // the texts of errs
	objects   []*source.Object
	// machined is the first object with machines of a cluster, whose control plane is declared apart
	// from them. controls is set if a control plane is declared.
	machined *source.Object
	controls bool
	// features is set if nodes may have labels of Node Feature Discovery that their pool does not
	// declare.
	features bool
}

// Where returns the file and the span for a location in an object, for use in messages. A rendered
// object is not in any file, so Where returns the corresponding location in the sources.
type Where func(o *source.Object, s diag.Span) (file string, at diag.Span)

// Beside returns the file that an object names, relative to the directory of its own file, or nil
// if it cannot be read.
type Beside func(o *source.Object, name string) *source.File

// reader reads the node documents of a group and kind.
type reader struct {
	read func(*loader, *source.Object)
	// version is the only supported apiVersion, or empty if all are.
	version string
	// named is set if the documents count only in files that are named as node files. A manifest
	// tree may hold the configuration of clusters that its manifests are not meant for.
	named bool
}

// readers returns the readers by group and kind.
func readers() map[[2]string]reader {
	return map[[2]string]reader{
		{"", "Node"}:                                    {read: (*loader).node},
		{"storage.k8s.io", "CSINode"}:                   {read: (*loader).drivers},
		{"schedlint.dev", "NodeTopology"}:               {read: (*loader).pools, version: "schedlint.dev/v1alpha1"},
		{"kind.x-k8s.io", "Cluster"}:                    {read: (*loader).kind, version: "kind.x-k8s.io/v1alpha4", named: true},
		{"eksctl.io", "ClusterConfig"}:                  {read: (*loader).eksctl, version: "eksctl.io/v1alpha5", named: true},
		{capi, "MachineDeployment"}:                     {read: (*loader).machines, named: true},
		{capi, "MachineSet"}:                            {read: (*loader).machines, named: true},
		{capi, "MachinePool"}:                           {read: (*loader).machines, named: true},
		{capi, "Cluster"}:                               {read: (*loader).capiCluster, named: true},
		{"controlplane." + capi, "KubeadmControlPlane"}: {read: (*loader).controlPlanes, named: true},
		{openshift, "MachineSet"}:                       {read: (*loader).openshift, named: true},
		{talosGroup, "MachineConfig"}:                   {read: (*loader).talos, named: true},
		{talosGroup, "TalConfig"}:                       {read: (*loader).talhelper, named: true},
		{"karpenter.sh", "NodePool"}:                    {read: (*loader).karpenter, named: true},
	}
}

// Kindless names the kind of a node file whose documents have none.
func Kindless(root *source.Node) (apiVersion, kind string) {
	switch {
	case root.Get("clusterName") != nil && len(root.Get("nodes").Items()) > 0:
		return talosGroup + "/v1", "TalConfig"
	case root.Get("version").Text() == "v1alpha1" && root.Get("machine") != nil:
		return talosGroup + "/v1alpha1", "MachineConfig"
	}
	return "", ""
}

// Declares reports whether an object declares nodes, wherever it is.
func Declares(o *source.Object) bool {
	row := readers()[[2]string{o.Group(), o.Kind}]
	return row.read != nil && !row.named && o.APIVersion != "" && o.Kind != "CSINode" // a CSINode only adds to a Node
}

// DeclaresIfNamed reports whether an object declares nodes in a file that is named as a node file, or
// belongs to such an object.
func DeclaresIfNamed(o *source.Object) bool {
	return Declares(o) || readers()[[2]string{o.Group(), o.Kind}].named || within(o.Group(), capi, "autoscaling.openshift.io")
}

// Offers reports whether a document with some objects declares nodes, but only in a file that is
// named as a node file.
func Offers(root *source.Node, objects []*source.Object) bool {
	_, kindless := Kindless(root)
	return kindless != "" && root.Get("kind") == nil || slices.ContainsFunc(objects, func(o *source.Object) bool { return DeclaresIfNamed(o) && !Declares(o) && o.Kind != "CSINode" })
}

// Mentions reports whether a text may have a document that Offers means.
func Mentions(text []byte) bool {
	has := func(word string) bool { return bytes.Contains(text, []byte(word)) }
	for of, row := range readers() {
		if row.named && has(of[0]+"/") && has(of[1]) {
			return true
		}
	}
	return has(capi+"/") || has("autoscaling.openshift.io/") || has("clusterName") && has("nodes") || has("v1alpha1") && has("machine")
}

// Load reads the nodes that the objects declare and ignores all other objects. The returned error
// joins all problems, each with its location.
func Load(objects []*source.Object) (*Topology, error) {
	return LoadFrom(objects, func(o *source.Object, s diag.Span) (string, diag.Span) { return o.File.Display, s }, func(*source.Object, string) *source.File { return nil })
}

// LoadFrom is like Load, but takes functions for locating errors and for reading other files.
func LoadFrom(objects []*source.Object, where Where, beside Beside) (*Topology, error) {
	l := &loader{
		decoder: &source.Decoder{Open: map[reflect.Type]bool{
			reflect.TypeFor[nodeObject](): true, reflect.TypeFor[nodeMeta](): true,
			reflect.TypeFor[nodeSpec](): true, reflect.TypeFor[nodeStatus](): true,
			reflect.TypeFor[eksctlMeta](): true, reflect.TypeFor[karpenterMeta](): true, reflect.TypeFor[csiNodeObject](): true, reflect.TypeFor[csiNodeSpec](): true, reflect.TypeFor[csiDriver](): true, reflect.TypeFor[csiCount](): true,
		}},
		topo: &Topology{Extended: &Extended{listed: map[corev1.ResourceName]bool{}}, open: map[string]map[string]bool{}, opened: map[string]int{}, ruled: map[string][][]karpenterRequirement{}}, where: where, beside: beside, objects: objects,
		byName: map[string]*Node{}, from: map[string]*source.Object{}, pooled: map[string]string{}, limits: map[string]map[corev1.ResourceName]int64{}, said: map[string]bool{},
	}
	table := readers()
	for _, o := range objects {
		row := table[[2]string{o.Group(), o.Kind}]
		switch {
		case row.read == nil || o.APIVersion == "":
		case row.version != "" && o.APIVersion != row.version:
			l.fail(o, diag.Span{}, "a %s has the apiVersion %s, found %s", o.Kind, row.version, o.APIVersion)
		default:
			if row.read(l, o); row.named {
				l.topo.mayHave(&Node{}, operatorLabels...)
			}
		}
	}
	if l.machined != nil && !l.controls && len(l.errs) == 0 {
		l.fail(l.machined, diag.Span{}, "the control plane is not declared: name its KubeadmControlPlane, its Nodes or a NodeTopology with them, too")
	}
	// The first entry for a node that does not say what it offers counts.
	complete := len(l.errs) == 0
	for _, s := range l.nodeSizes {
		found := false
		for _, n := range l.topo.Nodes {
			differs := func(key string) bool { value, has := n.Labels[key]; return !has || value != s.Labels[key] }
			if n.Pool != nil || slices.ContainsFunc(slices.Collect(maps.Keys(s.Labels)), differs) {
				continue
			}
			if found = true; n.Allocatable == nil {
				n.Allocatable, n.Whole = s.Allocatable, isWhole(n.Live, s.Allocatable)
			}
		}
		if l.topo.Extended.add(s.Allocatable); !found && complete {
			l.fail(s.o, s.o.File.Span(s.item), "no node outside of pools has these labels")
		}
	}
	for name, limits := range l.limits {
		if n := l.byName[name]; n != nil {
			n.Volumes = limits
		}
	}
	slices.SortFunc(l.topo.Nodes, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	sorting.Stable(l.topo.Growth, func(a, b Growth) int { return strings.Compare(a.Node.Name, b.Node.Name) })
	// Nodes with the same hostname label form a single kubernetes.io/hostname domain (R-S3, R-A17).
	by := map[string][]string{}
	for _, n := range l.topo.Nodes {
		if h, ok := n.Labels[corev1.LabelHostname]; ok {
			by[h] = append(by[h], n.Name)
		}
	}
	for _, h := range sorting.Keys(by) {
		if names := by[h]; len(names) > 1 {
			if more := len(names) - 3; more > 0 {
				names = append(names[:3:3], fmt.Sprintf("%d more", more))
			}
			l.topo.Notes = append(l.topo.Notes, fmt.Sprintf("nodes %s have the same hostname label %s, so rules on kubernetes.io/hostname treat them as one node", strings.Join(names, " and "), h))
		}
	}
	if all := l.topo.All(); len(all) > 0 && !slices.ContainsFunc(all, func(n *Node) bool { return n.Pool == nil || n.Labels[NodePool] == "" }) {
		l.topo.Notes = append(l.topo.Notes, "only NodePools are declared: pods that run on other nodes, such as Karpenter's own, need those nodes in a node file, too")
	}
	if l.features {
		keys := map[string]bool{}
		for _, labels := range l.topo.AllNodeLabels() {
			for key := range labels {
				keys[key] = true
			}
		}
		l.topo.open[featureLabels+"*"] = keys
	}
	if pooled := func(n *Node) bool { return n.Pool != nil }; slices.ContainsFunc(l.topo.All(), pooled) {
		l.topo.named = map[string]bool{}
		for _, n := range l.topo.Nodes {
			if !pooled(n) {
				l.topo.named[n.Name], l.topo.named[n.Labels[corev1.LabelHostname]] = true, true
			}
		}
	}
	l.topo.keys = l.topo.labelKeys()
	return l.topo, errors.Join(l.errs...)
}

type nodeObject struct {
	Metadata nodeMeta   `json:"metadata"`
	Spec     nodeSpec   `json:"spec"`
	Status   nodeStatus `json:"status"`
}

type nodeMeta struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

type nodeSpec struct {
	Taints        []corev1.Taint `json:"taints"`
	Unschedulable bool           `json:"unschedulable"`
}

type nodeStatus struct {
	Allocatable corev1.ResourceList `json:"allocatable"`
	Capacity    corev1.ResourceList `json:"capacity"`
}

type csiNodeObject struct {
	Metadata nodeMeta    `json:"metadata"`
	Spec     csiNodeSpec `json:"spec"`
}

type csiNodeSpec struct {
	Drivers []csiDriver `json:"drivers"`
}

type csiDriver struct {
	Name        string   `json:"name"`
	Allocatable csiCount `json:"allocatable"`
}

type csiCount struct {
	Count *int64 `json:"count"`
}

// drivers reads the limits of a CSINode, which has the name of its node
// (plugins/nodevolumelimits/csi.go, getVolumeLimits; R-N45).
func (l *loader) drivers(o *source.Object) {
	var in csiNodeObject
	if found := l.decoder.Decode(o.Root, &in); len(found) > 0 {
		l.misfits(o, found)
		return
	}
	limits := map[corev1.ResourceName]int64{}
	for i, d := range in.Spec.Drivers {
		switch count := d.Allocatable.Count; {
		case count == nil:
		case *count < 0:
			l.fail(o, o.File.Span(o.Root.At("spec", "drivers").Items()[i]), "driver %s has the count %d: expected a number from 0", d.Name, *count)
		default:
			limits[Attachable(d.Name)] = *count
		}
	}
	if was, twice := l.limits[o.Name]; twice && !maps.Equal(was, limits) {
		l.fail(o, diag.Span{}, "CSINode %s is declared twice with different limits", o.Name)
	}
	l.limits[o.Name] = limits
}

func (l *loader) fail(o *source.Object, span diag.Span, format string, args ...any) {
	if span.IsZero() {
		span = o.NameSpan()
	}
	file, at := l.where(o, span)
	text := fmt.Sprintf("%s:%d:%d: %s", file, at.Line, at.Column, fmt.Sprintf(format, args...))
	if strings.Contains(text, "${") {
		text += "; replace the variable first, for example with " + substitutes(o)
	}
	if !l.said[text] { // a setting may count for several nodes
		l.said[text], l.errs = true, append(l.errs, errors.New(text))
	}
}

// substitutes names a command that replaces variables in an object.
func substitutes(o *source.Object) string {
	switch {
	case within(o.Group(), capi):
		return "clusterctl generate yaml or flux build kustomization"
	case o.Group() == talosGroup:
		return "talhelper genconfig"
	}
	return "envsubst"
}

// place formats a location as file and line, for messages that mention a second location.
func (l *loader) place(o *source.Object, span diag.Span) string {
	file, at := l.where(o, span)
	return fmt.Sprintf("%s:%d", file, at.Line)
}

// misfits adds errors about unknown fields and values of the wrong type.
func (l *loader) misfits(o *source.Object, found []source.Mismatch) {
	l.misfitsAt(o, o.File.Span, found)
}

// decides decodes the fields that decide nodes. Others are ignored unless they resemble one.
func (l *loader) decides(o *source.Object, at func(*source.Node) diag.Span, n *source.Node, out any) (ok bool) {
	found := slices.DeleteFunc(l.decoder.Decode(n, out), foreign)
	l.misfitsAt(o, at, found)
	return len(found) == 0
}

// foreign reports whether a field is unknown and resembles none that decides nodes.
func foreign(m source.Mismatch) bool { return m.Unknown && m.Suggestion == "" }

func (l *loader) misfitsAt(o *source.Object, at func(*source.Node) diag.Span, found []source.Mismatch) {
	for _, m := range found {
		span := at(cmp.Or(m.Key, m.Value))
		switch {
		case m.Unknown && m.Suggestion != "":
			l.fail(o, span, "unknown field %s; did you mean %s?", m.Path, m.Suggestion)
		case m.Unknown:
			l.fail(o, span, "unknown field %s", m.Path)
		case storage.Words(m.Want) != "":
			l.fail(o, span, "%s: expected one of %s", m.Path, storage.Words(m.Want))
		case strings.Contains(m.Value.Text(), "${"):
			l.fail(o, span, "%s: expected a %s, found %s", m.Path, m.Want, m.Value.Text())
		default:
			l.fail(o, span, "%s: expected a %s", m.Path, m.Want)
		}
	}
}

func (l *loader) node(o *source.Object) {
	var in nodeObject
	if found := l.decoder.Decode(o.Root, &in); len(found) > 0 {
		l.misfits(o, found)
		return
	}
	if in.Metadata.Name == "" {
		l.fail(o, diag.Span{}, "a Node needs metadata.name")
		return
	}
	n := &Node{
		Name: in.Metadata.Name, Labels: in.Metadata.Labels, Taints: withCordonTaint(in.Spec.Taints, in.Spec.Unschedulable), Unschedulable: in.Spec.Unschedulable,
		Allocatable: in.Status.Allocatable, Span: o.NameSpan(), Declaration: Declaration{o.File, o.Root},
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[Cluster] = Cluster
	if len(n.Allocatable) == 0 {
		n.Allocatable = in.Status.Capacity
	}
	if len(n.Allocatable) == 0 {
		n.Allocatable = nil
	}
	n.Live = o.Root.At("metadata", "uid").Text() != ""
	n.Whole = isWhole(n.Live, n.Allocatable)
	l.topo.Extended.add(n.Allocatable)
	l.taints(o, o.Root.At("spec", "taints"), in.Spec.Taints)
	l.add(o, n)
}

// withCordonTaint adds the taint that the node lifecycle controller puts on every cordoned node
// (pkg/controller/nodelifecycle/node_lifecycle_controller.go, doNoScheduleTaintingPass; R-S10).
func withCordonTaint(taints []corev1.Taint, unschedulable bool) []corev1.Taint {
	taint := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if !unschedulable || slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }) {
		return taints
	}
	return append(slices.Clip(taints), taint)
}

// taints checks the taint fields that the scheduler compares (R-V31).
func (l *loader) taints(o *source.Object, node *source.Node, taints []corev1.Taint) {
	for i, t := range taints {
		span := diag.Span{}
		if items := node.Items(); i < len(items) {
			span = o.File.Span(items[i])
		}
		l.taint(o, span, t)
	}
}

// taintList reads a list of taints. It returns nil for null.
func (l *loader) taintList(o *source.Object, at func(*source.Node) diag.Span, n *source.Node) (taints []corev1.Taint) {
	found := slices.DeleteFunc(l.decoder.Decode(n, &taints), foreign)
	for i := range found {
		found[i].Path = "taints" + found[i].Path
	}
	l.misfitsAt(o, at, found)
	for i, t := range taints {
		if len(found) == 0 {
			l.taint(o, at(n.Items()[i]), t)
		}
	}
	return taints
}

// taintMap reads taints as a map from keys to effect or value:effect.
func (l *loader) taintMap(o *source.Object, at func(*source.Node) diag.Span, n *source.Node) (taints []corev1.Taint) {
	for k, v := range n.Fields() {
		t := corev1.Taint{Key: k.Value}
		value, effect, two := strings.Cut(v.Text(), ":")
		if t.Value, t.Effect = value, corev1.TaintEffect(effect); !two {
			t.Value, t.Effect = "", corev1.TaintEffect(value)
		}
		l.taint(o, at(k), t)
		taints = append(taints, t)
	}
	return taints
}

func (l *loader) taint(o *source.Object, span diag.Span, t corev1.Taint) {
	switch t.Effect {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		l.fail(o, span, "taint %s has the effect %q: expected NoSchedule, PreferNoSchedule or NoExecute", t.Key, t.Effect)
	}
	if t.Key == "" {
		l.fail(o, span, "a taint needs a key")
	}
}

// add adds a node. If a node is declared several times, all of its declarations must be identical.
func (l *loader) add(o *source.Object, n *Node) {
	if was := l.byName[n.Name]; was != nil {
		equal := was.Unschedulable == n.Unschedulable && was.Pool == n.Pool && maps.Equal(was.Labels, n.Labels) && slices.Equal(was.Taints, n.Taints) &&
			maps.EqualFunc(was.Allocatable, n.Allocatable, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
		if !equal {
			l.fail(o, n.Span, "node %s is declared differently at %s: declare every node once", n.Name, l.place(l.from[n.Name], was.Span))
		}
		return
	}
	l.controls = l.controls || controls(n.Labels)
	n.Extended = l.topo.Extended
	l.byName[n.Name], l.from[n.Name] = n, o
	l.topo.Nodes = append(l.topo.Nodes, n)
}

// controls reports whether nodes with the labels are of a control plane.
func controls(labels map[string]string) bool {
	_, control := labels[controlPlane]
	_, old := labels[LabelMaster]
	return control || old
}
