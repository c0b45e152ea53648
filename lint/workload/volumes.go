package workload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
)

// Claim is a PersistentVolumeClaim that the pods of a workload use.
type Claim struct {
	// Name is the name of the claim. If Template is set, each pod of the StatefulSet has a claim of
	// its own, and the name continues with a hyphen and the pod's ordinal (R-W13). If Ephemeral is
	// set, each pod has a claim that exists as long as the pod.
	Name                string
	Template, Ephemeral bool
	// Span is the location of the name in the pod template, or of the template of the claim. Node is
	// the volume of the pod template, or the template of the claim.
	Span diag.Span
	Node *source.Node
	// Object is the declared claim, or nil. For a Template or an Ephemeral volume it is nil.
	Object *source.Object
	// Modes lists the access modes. It is empty if they are not known.
	Modes []string
	// Class is the name of the StorageClass. It is empty if the claim names none and no default class
	// is declared, or if nothing is known about the claim.
	Class string
	// Open names what is not known, such as a StorageClass, if it is not known where the volume can be
	// used once it exists, and if that matters.
	Open string
	// Assumed names what is not declared if the cloud of the nodes says where its disks can be used.
	Assumed string
	// TracksCapacity is set if the scheduler compares the size of a new volume with free space that
	// is not declared (R-N48).
	TracksCapacity bool
	// Size is the requested size as written, or "".
	Size string
	// Bound is set if the claim is bound to a volume. Volume is the name of that PersistentVolume, or
	// "" if it is not known.
	Bound  bool
	Volume string
	// Behavior says where the volume can be used once it exists, as far as this is known.
	storage.Behavior
	// Driver is the CSI driver that attaches the volume, or "" if none does. OpenDriver names what is
	// not known, if the driver is not known.
	Driver, OpenDriver string
	// Static is the set of PersistentVolumes of which the claim gets one, or nil (R-N46).
	Static *Static

	spec   *source.Node   // of the declared claim or of the template
	volume *source.Object // the declared PersistentVolume named Volume, or nil
}

// Reach restricts the nodes that can run a pod to those that can use one of its claims.
type Reach struct {
	// Claim is the name of the claim. By is the PersistentVolume that it is bound to, or the
	// StorageClass whose allowedTopologies say where its volume is made.
	Claim string
	By    *source.Object
	// Affinity is nil if every node can use the volume.
	Affinity *corev1.NodeSelector
	// Zones holds the values of the volume's zone and region labels by key. They do not apply to
	// nodes without any such label.
	Zones map[string][]string
	// Open explains why it is not known which nodes can use the claim. It is empty if this is known.
	Open string
	// First is set if only the first pod that uses the claim is restricted. Chosen is set if Affinity
	// is one of the places where the volume may be made, so that it names nodes as they are here.
	First, Chosen bool
}

// Early is a claim whose volume is made before the pods that use it are scheduled (R-N35).
type Early struct {
	Claim *Claim
	// Class is the StorageClass of the claim, whose volumeBindingMode is Immediate.
	Class *source.Object
	// Key is the node label whose value the pods have to have, as the volume is made for one value.
	// It is a guess if the claim is Open. Values lists the values that the class allows, or is nil if
	// it allows those of all nodes.
	Key    string
	Values []string
	// Made holds the ordinals whose volume exists, if the claim is a Template. Differs is set if some
	// ordinal has a claim of another class.
	Made    map[int]bool
	Differs bool
}

// String says what is not known as long as the volume does not exist.
func (e *Early) String() string {
	return "StorageClass " + e.Class.Name + ", which makes volumes before their pods are scheduled"
}

// storageGroup is the API group of StorageClasses.
const storageGroup = "storage.k8s.io"

// Stores reports whether an object says where the volumes of pods can be used.
func Stores(o *source.Object) bool { return o.APIVersion != "" && stores(o.Group(), o.Kind) }

func stores(group, kind string) bool {
	switch kind {
	case "PersistentVolume", "PersistentVolumeClaim":
		return group == ""
	case "StorageClass", "CSIDriver", "CSIStorageCapacity":
		return group == storageGroup
	case "DataVolume":
		return group == "cdi.kubevirt.io"
	}
	return false
}

// readClaims returns the claims that a workload's pods name and those that its controller makes for
// them.
func (w *Workload) readClaims() []*Claim {
	var all []*Claim
	templates := map[string]bool{}
	if w.Kind.Kind == "StatefulSet" {
		for _, t := range w.TemplateOwner().Get("volumeClaimTemplates").Items() {
			name := t.At("metadata", "name")
			templates[name.Text()] = true
			all = append(all, &Claim{
				Name: name.Text() + "-" + w.Object.Name, Template: true, Span: w.File().Span(name), Node: t, spec: specOf(t),
			})
		}
	}
	for _, v := range w.SpecNode.Get("volumes").Items() {
		if templates[v.Get("name").Text()] { // the claim of the template replaces the volume
			continue
		}
		name := v.At("persistentVolumeClaim", "claimName")
		if w.Kind.VM && name.IsNull() {
			name = v.At("dataVolume", "name")
		}
		switch t := v.At("ephemeral", "volumeClaimTemplate"); {
		case !name.IsNull():
			c := &Claim{Name: name.Text(), Span: w.File().Span(name), Node: v}
			if made := w.dataVolumeTemplate(c.Name); made != nil && w.Kind.Kind == "VirtualMachinePool" {
				c.Template, c.spec = true, claimSpec(made)
			}
			all = append(all, c)
		case !t.IsNull():
			all = append(all, &Claim{Ephemeral: true, Name: v.Get("name").Text(), Span: w.File().Span(v.Get("name")), Node: v, spec: specOf(t)})
		}
	}
	return all
}

// readInline returns what decides about pods with a disk that the pod spec names itself: it is in a
// zone, of which the scheduler does not know, or pods that use it must not share a node unless they
// only read (R-N47).
func (w *Workload) readInline() string {
	for _, v := range w.SpecNode.Get("volumes").Items() {
		for source, by := range v.Fields() {
			at := " volume " + v.Get("name").Text() + " (" + source.Value + ")"
			switch source.Value {
			case "awsElasticBlockStore", "azureDisk", "cinder", "gcePersistentDisk", "vsphereVolume":
				return "the zone of" + at
			case "iscsi", "rbd":
				if readOnly, _ := by.Get("readOnly").Bool(); !readOnly {
					return "which other pods use" + at
				}
			}
		}
	}
	return ""
}

// binder finds the volumes that claims are bound to.
type binder struct {
	*Reader
	storage storage.Declared
	// claims and dataVolumes are by namespace and name.
	claims, dataVolumes map[[2]string]*source.Object
	volumes             map[string]*source.Object
	// free maps classes to their volumes that no claim holds.
	free map[string][]*source.Object
	// classless is set if claims that are not declared one by one ask for volumes of no class.
	classless bool
	statics
	// numbered holds the ordinals at the ends of the names of claims, by namespace and the rest of the
	// name.
	numbered map[[2]string]map[int]bool
	classes  map[string]*source.Object
	// drivers holds the CSIDrivers, and tracked the names of the classes with CSIStorageCapacities.
	drivers map[string]*source.Object
	tracked map[string]bool
	// held maps the namespace and name of a claim to the volumes whose claimRef names it.
	held map[[2]string][]*source.Object
	// standard is the default class, or nil.
	standard *source.Object
	// differing holds objects of which another declaration differs.
	differing map[*source.Object]bool
}

// Bind resolves the claims of all workloads in a set. The argument stored lists the volumes, claims
// and StorageClasses that the cluster has. Its volumes and its bound claims win over those of the
// set, and of other claims and classes the set's win. The argument declared wins over Storage. Bind
// returns the number of objects that it looked at.
func (r *Reader) Bind(set *Set, stored []*source.Object, declared storage.Declared) int {
	if !slices.ContainsFunc(set.Workloads, func(w *Workload) bool { return len(w.Claims) > 0 || w.Kind.VM }) {
		return 0
	}
	b := &binder{
		Reader: r, storage: declared.Over(r.Storage), claims: map[[2]string]*source.Object{}, dataVolumes: map[[2]string]*source.Object{}, drivers: map[string]*source.Object{}, tracked: map[string]bool{}, volumes: map[string]*source.Object{}, classes: map[string]*source.Object{},
		held: map[[2]string][]*source.Object{}, free: map[string][]*source.Object{}, statics: newStatics(), differing: map[*source.Object]bool{},
	}
	objects := map[[3]string]*source.Object{}
	for i, o := range slices.Concat(set.storing, stored) {
		id, exists := [3]string{o.Kind, Space(o.Namespace), o.Name}, i >= len(set.storing)
		switch same := objects[id]; {
		case same == nil, exists && (o.Kind == "PersistentVolume" || o.Root.At("spec", "volumeName").Text() != ""):
			objects[id] = o
		case !exists:
			b.differing[same] = b.differing[same] || !alike(same, o)
		}
	}
	ids := slices.Collect(maps.Keys(objects))
	sort.Slice(ids, func(i, j int) bool { return slices.Compare(ids[i][:], ids[j][:]) < 0 })
	for _, id := range ids {
		switch o := objects[id]; o.Kind {
		case "PersistentVolumeClaim":
			b.claims[[2]string{id[1], o.Name}] = o
		case "CSIDriver":
			b.drivers[o.Name] = o
		case "CSIStorageCapacity":
			b.tracked[o.Root.Get("storageClassName").Text()] = true
		case "DataVolume":
			b.dataVolumes[[2]string{id[1], o.Name}] = o
		case "StorageClass":
			// A class that the manifests add is younger than those of the cluster, so it is the default.
			if b.classes[o.Name] = o; standardClass(o) && (b.standard == nil || slices.Contains(stored, b.standard) && !slices.Contains(stored, o)) {
				b.standard = o
			}
		default:
			b.volumes[o.Name] = o
			class := specOf(o.Root).Get("storageClassName").Text()
			if o.Root.At("spec", "claimRef").IsNull() {
				b.free[class] = append(b.free[class], o)
			}
			if d, handle := o.Root.At("spec", "csi", "driver").Text(), o.Root.At("spec", "csi", "volumeHandle").Text(); handle != "" {
				b.handles[[2]string{d, handle}]++
			}
			if ref := o.Root.At("spec", "claimRef"); ref.Get("name").Text() != "" {
				key := [2]string{Space(ref.Get("namespace").Text()), ref.Get("name").Text()}
				b.held[key] = append(b.held[key], o)
			}
		}
	}
	if class := b.classes[b.storage.Default]; class != nil {
		b.standard = class
	}
	for _, o := range stored { // the file lists all volumes that the cluster has; a tree may list examples
		if o.Kind == "PersistentVolume" {
			b.listed[specOf(o.Root).Get("storageClassName").Text()] = true
		}
	}
	for _, o := range b.claims {
		b.named[o.Root.At("spec", "volumeName").Text()] = true
	}
	b.classless = slices.ContainsFunc(set.Workloads, func(w *Workload) bool {
		return slices.ContainsFunc(w.Claims, func(c *Claim) bool { return (c.Template || c.Ephemeral) && classless(c.spec) })
	})
	users, own := map[[2]string][]*Workload{}, map[[3]string]bool{}
	for _, w := range slices.Concat(set.Workloads, set.Elsewhere) {
		id := [3]string{w.Kind.Kind, Space(w.Object.Namespace), w.Object.Name}
		if !w.Elsewhere {
			own[id] = id[2] != ""
			b.resolve(w)
			b.disks(w)
		} else if own[id] { // a cluster has one object of this name
			continue
		}
		for _, c := range w.Claims {
			none := w.Count.Known && w.Count.N == 0 && w.Scale == nil && !w.Kind.PerNode()
			if key := [2]string{id[1], c.Name}; c.named() && !w.Copy && !w.Superseded && !none {
				users[key] = append(users[key], w)
			}
		}
	}
	b.separate(set.Workloads)
	for _, w := range set.Workloads {
		for _, c := range w.Claims {
			if c.named() {
				all := users[[2]string{Space(w.Object.Namespace), c.Name}]
				w.SharesClaim = w.SharesClaim || len(all) > 1
				if slices.Contains(w.OncePod, c.Name) && !w.Running {
					w.OpenOnce = cmp.Or(w.OpenOnce, openOnce(c.Name, all))
				}
			}
		}
	}
	return len(set.storing) + len(stored)
}

// named reports whether a claim is one that other pods can use, too.
func (c *Claim) named() bool { return !c.Template && !c.Ephemeral && !source.Placeholder(c.Name) }

// openOnce says why it is not known whether the users of a claim keep each other Pending, or returns
// "". Only the scheduler checks that one pod uses the claim, and it preempts a pod of lower priority
// (plugins/volumerestrictions/volume_restrictions.go; R-N36).
func openOnce(claim string, users []*Workload) string {
	for _, w := range users {
		switch {
		case w.Elsewhere:
			return "claim " + claim + ", which other deployments may use"
		case w.Spec.NodeName != "" && !w.Running:
			return "claim " + claim + ", which a pod uses that the scheduler does not place"
		case slices.ContainsFunc(users, w.MayPreempt):
			return "claim " + claim + ", whose users may preempt each other"
		}
	}
	return ""
}

// alike reports whether two declarations of an object say the same about where volumes can be used.
func alike(a, b *source.Object) bool {
	if a.Kind != "StorageClass" {
		return source.Equal(a.Root, b.Root)
	}
	return standardClass(a) == standardClass(b) && behaviorOf(a) == behaviorOf(b) &&
		!slices.ContainsFunc([]string{"provisioner", "volumeBindingMode", "allowedTopologies"}, func(field string) bool {
			return !source.Equal(a.Root.Get(field), b.Root.Get(field))
		})
}

// specOf returns the spec of a claim or PersistentVolume with its class, which an annotation may name
// (R-N43).
func specOf(n *source.Node) *source.Node {
	spec, class := n.Get("spec"), n.At("metadata", "annotations", corev1.BetaStorageClassAnnotation)
	switch {
	case spec == nil || class.IsNull():
		return spec
	case spec.Get("storageClassName") == nil:
		return spec.With("storageClassName", class, class)
	}
	return spec.Replace("storageClassName", class)
}

// standardClass reports whether claims that name no class get this one (R-N43).
func standardClass(o *source.Object) bool {
	a := o.Root.At("metadata", "annotations")
	return a.Get("storageclass.kubernetes.io/is-default-class").Text() == "true" ||
		a.Get("storageclass.beta.kubernetes.io/is-default-class").Text() == "true"
}

// resolve sets the fields of a workload that depend on declared claims, volumes and classes. A pod
// that is already running has volumes that it can use.
func (b *binder) resolve(w *Workload) {
	w.Reaches, w.OrdinalReaches, w.Pin, w.OpenPin, w.SharedPin, w.Early, w.OncePod, w.OpenOnce, w.SharesClaim = nil, nil, "", "", false, nil, nil, "", false
	ns := Space(w.Object.Namespace)
	claims := make([]*Claim, len(w.Claims)) // each set resolves its own copies
	for i, c := range w.Claims {
		own := &Claim{Name: c.Name, Template: c.Template, Ephemeral: c.Ephemeral, Span: c.Span, Node: c.Node}
		if c.Template || c.Ephemeral {
			own.spec = c.spec
		} else if own.Object = b.claims[[2]string{ns, c.Name}]; own.Object != nil && !b.differing[own.Object] {
			own.spec = specOf(own.Object.Root)
		} else if w.Kind.VM {
			own.spec = b.dataVolume(w, c.Name)
		}
		c, claims[i] = own, own
		c.Modes, c.Size = accessModes(c.spec), c.spec.At("resources", "requests", "storage").Text()
		if slices.Contains(c.Modes, string(corev1.ReadWriteOncePod)) && c.named() && !slices.Contains(w.OncePod, c.Name) {
			w.OncePod = append(w.OncePod, c.Name)
		}
		held := b.held[[2]string{ns, c.Name}]
		if c.Volume = c.spec.Get("volumeName").Text(); c.Volume == "" && len(held) == 1 {
			c.Volume = held[0].Name
		}
		c.volume = b.volumes[c.Volume]
		c.Driver, c.OpenDriver = b.driver(c)
		if w.Running {
			c.Volume, c.volume = "", nil
			continue
		}
		b.behave(w, c, len(held) > 0 || c.Template && b.allBound(w, c))
		if c.Static != nil && !c.Template {
			continue
		}
		if !c.Template {
			if c.Object != nil && deleted(c.Object) {
				w.Reaches = append(w.Reaches, Reach{Claim: c.Name, By: c.Object, Open: "claim " + c.Name + ", which is being deleted"})
			}
			if r := b.reach(c.Name, c.spec, b.held[[2]string{ns, c.Name}]); r != nil && !c.Ephemeral {
				r.First = r.Open == "" && r.By.Kind == "StorageClass" && waits(r.By)
				w.Reaches = append(w.Reaches, *r)
			} else if c.Ephemeral {
				w.Reaches = append(w.Reaches, b.allowed(c.Name, c.spec)...)
			}
			continue
		}
		if w.Kind.VM { // of a pool, whose machines have volumes of their own
			w.Reaches = append(w.Reaches, b.allowed(c.Name, c.spec)...)
			continue
		}
		bound, drivers, made, differs := map[int]*Reach{}, map[int][2]string{}, map[int]bool{}, false
		start, n, _ := w.ordinalRange()
		b.ordinals(ns, c, func(ordinal int, name string, declared *source.Object) {
			spec := c.spec
			if declared != nil {
				spec = specOf(declared.Root)
			}
			if ordinal >= start && ordinal-start < n {
				if spec.Get("volumeName").Text() != "" || len(b.held[[2]string{ns, name}]) > 0 {
					made[ordinal] = true
				} else {
					differs = differs || b.className(spec) != c.Class
				}
			}
			if declared != nil && deleted(declared) {
				bound[ordinal] = &Reach{Claim: name, By: declared, Open: "claim " + name + ", which is being deleted"}
				return
			}
			held := b.held[[2]string{ns, name}]
			bound[ordinal] = b.reach(name, spec, held)
			one := &Claim{Name: name, spec: spec, Volume: spec.Get("volumeName").Text()}
			if one.Volume == "" && len(held) == 1 {
				one.Volume = held[0].Name
			}
			one.volume = b.volumes[one.Volume]
			name, open := b.driver(one)
			drivers[ordinal] = [2]string{name, open}
		})
		w.sameDriver(c, drivers)
		for _, e := range w.Early {
			if e.Claim == c {
				e.Made, e.Differs = made, differs
			}
		}
		rest := b.allowed(c.Name, c.spec)
		if len(bound) > 0 {
			c.Static = nil // the pods differ in the volumes that they ask for
		} else if c.Static != nil {
			continue
		}
		if len(bound) == 0 {
			w.Reaches = append(w.Reaches, rest...)
			continue
		}
		if w.OrdinalReaches == nil {
			w.OrdinalReaches = &OrdinalReaches{Of: map[int][]Reach{}}
		}
		w.OrdinalReaches.add(bound, rest)
	}
	w.Claims, w.Attached, w.AttachedBy = claims, diag.Never, nil
	for _, c := range claims {
		if is := c.Exclusive(); !w.Running && (is == diag.Always || is == diag.Unknown && w.Attached == diag.Never) {
			w.Attached, w.AttachedBy = is, c
		}
	}
	if start, n, known := w.ordinalRange(); known && w.OrdinalReaches != nil {
		all := w.OrdinalReaches.Among(start, n)
		if slices.ContainsFunc(all, func(r []Reach) bool { return ReachText(r) != ReachText(all[0]) }) {
			return
		}
		if len(all) > 0 {
			w.Reaches = append(w.Reaches, all[0]...)
		}
		w.OrdinalReaches = nil
	}
}

// allBound reports whether the claims that a StatefulSet makes from a template are all bound.
func (b *binder) allBound(w *Workload, c *Claim) bool {
	ns := Space(w.Object.Namespace)
	start, n, known := w.ordinalRange()
	if !known || n == 0 {
		return false
	}
	b.ordinals(ns, c, func(ordinal int, name string, declared *source.Object) {
		named := declared != nil && declared.Root.At("spec", "volumeName").Text() != ""
		if ordinal >= start && ordinal-start < w.Count.N && (named || len(b.held[[2]string{ns, name}]) > 0) {
			n--
		}
	})
	return n == 0
}

// ordinalRange returns the first ordinal of a StatefulSet and the number of its pods. If either may
// vary, known is false.
func (w *Workload) ordinalRange() (start, n int, known bool) {
	start, known = w.FirstOrdinal()
	return start, w.Count.N, known && w.Count.Known && w.Scale == nil
}

// FirstOrdinal returns the ordinal of a StatefulSet's first pod, and whether it is known.
func (w *Workload) FirstOrdinal() (start int, known bool) {
	at := w.Object.Root.At("spec", "ordinals", "start")
	n, known := at.Int()
	return int(n), known || at.IsNull()
}

// OpenDefault is the Open of a claim that names no class if no default class is known.
const OpenDefault = "the default StorageClass" + Undeclared

// Undeclared ends the text of what is not known because no object declares it.
const Undeclared = ", which is not declared"

// unsettled says why a declared object, or one that may be nil, does not settle a question.
func (b *binder) unsettled(kind, name string, o *source.Object) string {
	if b.differing[o] {
		return kind + " " + name + ", which is declared in different ways"
	}
	return kind + " " + name + Undeclared
}

// behave sets where the volume of a claim can be used once it exists, and what that means for the
// workload's pods (R-W35).
func (b *binder) behave(w *Workload, c *Claim, held bool) {
	c.Bound = held || c.spec.Get("volumeName").Text() != ""
	name, class := c.spec.Get("storageClassName"), b.class(c.spec)
	if c.spec != nil && !source.Placeholder(c.Name) {
		c.Class = b.className(c.spec)
	}
	unknown := b.unsettled("StorageClass", c.Class, b.classes[c.Class])
	switch {
	case c.spec == nil:
		unknown = b.unsettled("PersistentVolumeClaim", c.Name, c.Object)
	case class != nil:
		c.Behavior, unknown = behaviorOf(class), "StorageClass "+class.Name+" (provisioner "+class.Root.Get("provisioner").Text()+")"
	case c.Class == "" && name.IsNull():
		unknown = OpenDefault
	case c.Class == "":
		unknown = "the PersistentVolume for claim " + c.Name + ", which is not known"
	}
	if c.volume != nil { // the volume need not be made by the class
		c.Attach = storage.Of(c.volume.Root.At("spec", "csi", "driver").Text(), nil).Attach
	}
	if c.Static = b.static(w, c); c.Static != nil {
		c.Behavior = storage.Behavior{Pinned: storage.PinNode, Attach: storage.AttachFree}
		if c.Static.Anywhere() {
			c.Behavior = storage.Behavior{Pinned: storage.PinFree}
		}
	}
	if class != nil && waits(class) && !c.Bound {
		c.TracksCapacity = b.tracksCapacity(class)
		if w.Spec.NodeName != "" { // R-N35
			w.OpenVolume = cmp.Or(w.OpenVolume, "claim "+c.Name+", which stays unbound unless the scheduler places a pod with it: spec.nodeName bypasses the scheduler")
		}
	}
	if c.Class != "" {
		c.Behavior = b.storage.Classes[c.Class].Or(c.Behavior)
	}
	early, is := &Early{Claim: c, Class: class}, class != nil && !waits(class)
	if is {
		unknown = early.String()
	}
	if c.Bound || c.Ephemeral && !is || c.Pinned == storage.PinFree {
		return
	}
	if c.Pinned == storage.PinUnknown && slices.Contains(c.Modes, string(corev1.ReadWriteMany)) {
		return // a disk of a zone cannot be written by several nodes
	}
	if c.Pinned == storage.PinUnknown && b.storage.Cloud && strings.HasSuffix(unknown, Undeclared) {
		if c.Pinned, c.Assumed = storage.PinZone, unknown; c.Class == "" || storage.BuiltIn(c.Class) {
			c.Attach = cmp.Or(c.Attach, storage.AttachSingleNode)
		}
	}
	pin, open := pinLabel(c.Pinned), ""
	if is {
		early.Key, early.Values = pin, b.places(class)
		w.Early = append(w.Early, early)
	}
	switch c.Pinned {
	case storage.PinTwoZones:
		open = "which two zones the volumes of StorageClass " + c.Class + " are in"
	case storage.PinUnknown:
		open, c.Open = unknown, unknown
	}
	if c.Ephemeral { // the next pod has another volume
		return
	}
	if w.Pin == "" || w.OpenPin != "" && open == "" || pin == corev1.LabelHostname || w.Pin == corev1.LabelTopologyRegion {
		w.Pin, w.OpenPin = pin, open
	}
	w.SharedPin = w.SharedPin || !c.Template && !slices.Contains(w.OncePod, c.Name)
}

// pinLabel returns the node label that a pin is about.
func pinLabel(p storage.Pin) string {
	switch p {
	case storage.PinNode:
		return corev1.LabelHostname
	case storage.PinRegion:
		return corev1.LabelTopologyRegion
	}
	return corev1.LabelTopologyZone
}

// behaviorOf returns where the volumes of a class can be used, as far as its provisioner is known.
func behaviorOf(class *source.Object) storage.Behavior {
	parameters := map[string]string{}
	for k, v := range class.Root.Get("parameters").Fields() {
		parameters[k.Value] = v.Text()
	}
	return storage.Of(class.Root.Get("provisioner").Text(), parameters)
}

// tracksCapacity reports whether the scheduler looks at the free space for the volumes of a class.
func (b *binder) tracksCapacity(class *source.Object) bool {
	provisioner := class.Root.Get("provisioner").Text()
	if driver := b.drivers[provisioner]; driver != nil {
		tracks, known := driver.Root.At("spec", "storageCapacity").Bool()
		return tracks || !known && !driver.Root.At("spec", "storageCapacity").IsNull()
	}
	return b.tracked[class.Name] || storage.TracksCapacity(provisioner)
}

// waits reports whether a class makes the volume of a claim when its first pod has a node.
func waits(class *source.Object) bool {
	return class.Root.Get("volumeBindingMode").Text() == "WaitForFirstConsumer"
}

// places returns the values that the allowedTopologies of a class allow for the label of its pin. It
// returns nil if they allow all of them, or are about something else. A provisioner may choose any of
// them for a volume that no pod waits for (external-provisioner, pkg/controller/topology.go).
func (b *binder) places(class *source.Object) (values []string) {
	pin := b.storage.Classes[class.Name].Or(behaviorOf(class)).Pinned
	if pin != storage.PinNode && pin != storage.PinZone && pin != storage.PinRegion {
		return nil
	}
	allowed := class.Root.Get("allowedTopologies")
	if open(allowed) {
		return nil
	}
	for _, t := range allowed.Items() {
		all := t.Get("matchLabelExpressions").Items()
		if len(all) != 1 {
			return nil
		}
		if key := all[0].Get("key").Text(); key != pinLabel(pin) && storage.TopologyKey(key) != pinLabel(pin) {
			return nil
		}
		for _, v := range all[0].Get("values").Items() {
			values = append(values, v.Text())
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// open reports whether a node contains a placeholder.
func open(n *source.Node) bool {
	if n.Placeholder() || slices.ContainsFunc(n.Items(), open) {
		return true
	}
	for k, v := range n.Fields() {
		if k.Placeholder() || open(v) {
			return true
		}
	}
	return false
}

// accessModes returns the access modes of a claim or of a volume.
func accessModes(spec *source.Node) (modes []string) {
	for _, m := range spec.Get("accessModes").Items() {
		modes = append(modes, m.Text())
	}
	return modes
}

// Exclusive says whether pods on a second node cannot start while a pod on another node uses the
// claim, because the volume is attached to one node at a time (R-N44). The answer is "never" if the
// question does not arise: each pod has a volume of its own, pods can use the volume on one node
// only, or only one pod can use it (ReadWriteOncePod).
func (c *Claim) Exclusive() diag.Outcome {
	modes := c.Modes
	if c.volume != nil {
		modes = accessModes(c.volume.Root.Get("spec"))
	}
	several := []string{string(corev1.ReadWriteMany), string(corev1.ReadOnlyMany), string(corev1.ReadWriteOncePod)}
	switch {
	case c.Template || c.Ephemeral || c.Pinned == storage.PinNode || c.Attach == storage.AttachFree:
		return diag.Never
	case slices.ContainsFunc(modes, func(m string) bool { return slices.Contains(several, m) }):
		return diag.Never
	case source.Placeholder(c.Name) || c.Attach == storage.AttachUnknown || c.Bound && c.volume == nil || len(modes) == 0:
		return diag.Unknown
	case slices.ContainsFunc(modes, func(m string) bool { return m != string(corev1.ReadWriteOnce) }):
		return diag.Unknown // such as a variable
	}
	return diag.Always
}

// deleted reports whether a claim is being deleted. No new pod can use it then.
func deleted(o *source.Object) bool { return !o.Root.At("metadata", "deletionTimestamp").IsNull() }

// OrdinalReaches holds what restricts the pods of a StatefulSet whose claims differ. Of maps
// ordinals to reaches. Rest restricts all pods with other ordinals.
type OrdinalReaches struct {
	Of   map[int][]Reach
	Rest []Reach
}

// add adds the reaches of one claim template, which may be bound for some ordinals only.
func (o *OrdinalReaches) add(bound map[int]*Reach, rest []Reach) {
	for ordinal := range bound {
		if _, known := o.Of[ordinal]; !known {
			o.Of[ordinal] = slices.Clone(o.Rest)
		}
	}
	for ordinal, own := range o.Of {
		switch r, is := bound[ordinal]; {
		case is && r != nil:
			o.Of[ordinal] = append(own, *r)
		case !is:
			o.Of[ordinal] = append(own, rest...)
		}
	}
	o.Rest = append(slices.Clip(o.Rest), rest...)
}

// Among returns what restricts n pods from the ordinal start on, by ordinal. Pods without reaches of
// their own are listed once, last.
func (o *OrdinalReaches) Among(start, n int) (all [][]Reach) {
	for _, ordinal := range sorting.Keys(o.Of) {
		if ordinal >= start && ordinal-start < n {
			all = append(all, o.Of[ordinal])
		}
	}
	if len(all) < n {
		all = append(all, o.Rest)
	}
	return all
}

// AllReaches returns what restricts any of the workload's pods to nodes that can use their volumes,
// one reach for each claim.
func (w *Workload) AllReaches() []Reach {
	all := slices.Clone(w.Reaches)
	if of := w.OrdinalReaches; of != nil {
		start, _ := w.FirstOrdinal()
		for _, own := range of.Among(start, w.Count.N) {
			for _, r := range own {
				if !slices.ContainsFunc(all, func(o Reach) bool { return o.Claim == r.Claim }) {
					all = append(all, r)
				}
			}
		}
	}
	return all
}

// Source names the object that restricts where the claim can be used, or says why none is known.
func (r *Reach) Source() string {
	if r.By == nil {
		return r.Open
	}
	return r.By.Kind + " " + r.By.Name
}

// At returns what restricts the pod with an ordinal.
func (o *OrdinalReaches) At(ordinal int) []Reach {
	if own, ok := o.Of[ordinal]; ok {
		return own
	}
	return o.Rest
}

// ordinals calls f for each ordinal whose claim from a template is declared or held by a volume.
func (b *binder) ordinals(ns string, c *Claim, f func(ordinal int, name string, declared *source.Object)) {
	if b.numbered == nil {
		b.numbered = map[[2]string]map[int]bool{}
		add := func(key [2]string) {
			if i := strings.LastIndexByte(key[1], '-'); i >= 0 {
				if n, err := strconv.Atoi(key[1][i+1:]); err == nil && strconv.Itoa(n) == key[1][i+1:] {
					prefix := [2]string{key[0], key[1][:i]}
					if b.numbered[prefix] == nil {
						b.numbered[prefix] = map[int]bool{}
					}
					b.numbered[prefix][n] = true
				}
			}
		}
		for key := range b.claims {
			add(key)
		}
		for key := range b.held {
			add(key)
		}
	}
	for n := range b.numbered[[2]string{ns, c.Name}] {
		name := c.Name + "-" + strconv.Itoa(n)
		f(n, name, b.claims[[2]string{ns, name}])
	}
}

// reach returns what restricts the pods that use a claim, or nil if nothing does (R-N34, R-N42). The
// argument held lists the volumes whose claimRef names the claim.
func (b *binder) reach(claim string, spec *source.Node, held []*source.Object) *Reach {
	name := spec.Get("volumeName")
	var volume *source.Object
	switch {
	case source.Placeholder(claim):
		return nil
	case !name.IsNull() && name.Text() != "":
		if volume = b.volumes[name.Text()]; volume == nil {
			return &Reach{Claim: claim, Open: b.unsettled("PersistentVolume", name.Text(), nil)}
		}
		ref := volume.Root.At("spec", "claimRef", "name")
		if class := spec.Get("storageClassName"); ref.IsNull() && !class.IsNull() && class.Text() != specOf(volume.Root).Get("storageClassName").Text() {
			return &Reach{Claim: claim, By: volume, Open: "PersistentVolume " + volume.Name + ", which has another storage class"}
		}
		if !ref.IsNull() && !slices.Contains(held, volume) {
			return &Reach{Claim: claim, By: volume, Open: "PersistentVolume " + volume.Name + ", which is bound to another claim"}
		}
	case len(held) == 1:
		volume = held[0]
	case len(held) > 1:
		return &Reach{Claim: claim, By: held[0], Open: "several PersistentVolumes, whose claimRef names it"}
	default:
		if all := b.allowed(claim, spec); len(all) > 0 {
			return &all[0]
		}
		return nil
	}
	r := &Reach{Claim: claim, By: volume}
	if b.differing[volume] {
		r.Open = b.unsettled("PersistentVolume", volume.Name, volume)
		return r
	}
	if !satisfies(volume.Root.Get("spec"), spec) {
		r.Open = "PersistentVolume " + volume.Name + ", whose size or modes do not satisfy it"
		return r
	}
	if required := volume.Root.At("spec", "nodeAffinity", "required"); !required.IsNull() {
		r.Affinity = &corev1.NodeSelector{}
		if open(required) || len(b.decoder.Decode(required, r.Affinity)) > 0 {
			r.Open = "PersistentVolume " + volume.Name + ", whose nodeAffinity cannot be read"
		}
	}
	for _, key := range ZoneKeys {
		if value := volume.Root.At("metadata", "labels", key); value.Placeholder() {
			r.Open = "PersistentVolume " + volume.Name + ", whose label " + key + " is not known"
		} else if !value.IsNull() {
			if values := strings.Split(value.Text(), "__"); !slices.Contains(values, "") {
				if r.Zones == nil {
					r.Zones = map[string][]string{}
				}
				r.Zones[key] = values
			}
		}
	}
	if r.Affinity == nil && r.Zones == nil && r.Open == "" {
		return nil
	}
	return r
}

// Only returns the condition that restricts where the claim can be used. It returns nil if there are
// several.
func (r *Reach) Only() *corev1.NodeSelectorRequirement {
	switch {
	case r.Affinity == nil && len(r.Zones) == 1:
		for key, values := range r.Zones {
			return &corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
		}
	case r.Affinity != nil && len(r.Affinity.NodeSelectorTerms) == 1 && len(r.Affinity.NodeSelectorTerms[0].MatchExpressions) == 1:
		return &r.Affinity.NodeSelectorTerms[0].MatchExpressions[0]
	}
	return nil
}

// ZoneKeys lists the labels of a volume that the filter VolumeZone reads
// (plugins/volumezone/volume_zone.go; R-N34).
var ZoneKeys = []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion}

// satisfies reports whether a volume is large enough for a claim and has its modes
// (pkg/controller/volume/persistentvolume/pv_controller.go, checkVolumeSatisfyClaim).
func satisfies(volume, claim *source.Node) bool {
	if claim == nil {
		return true
	}
	has, asks := volume.At("capacity", "storage"), claim.At("resources", "requests", "storage")
	if h, err := resource.ParseQuantity(has.Text()); err == nil {
		if a, err := resource.ParseQuantity(asks.Text()); err == nil && h.Cmp(a) < 0 {
			return false
		}
	}
	mode := func(n *source.Node) string {
		if text := n.Get("volumeMode").Text(); text != "" {
			return text
		}
		return string(corev1.PersistentVolumeFilesystem)
	}
	for _, m := range claim.Get("accessModes").Items() {
		if !slices.ContainsFunc(volume.Get("accessModes").Items(), func(o *source.Node) bool { return o.Text() == m.Text() }) {
			return false
		}
	}
	return mode(volume) == mode(claim)
}

// available returns an open reach if it is not known which of several volumes an unbound claim gets.
// The binder prefers an available volume of its class to a new one, and a class without provisioner
// has no others (plugins/volumebinding/binder.go, findMatchingVolumes).
func (b *binder) available(claim string, spec *source.Node) *Reach {
	class, name := b.class(spec), b.className(spec)
	if i := slices.IndexFunc(b.free[name], hasPlace); i >= 0 {
		return &Reach{Claim: claim, By: b.free[name][i], Open: "which of the declared PersistentVolumes claim " + claim + " gets"}
	}
	if class == nil && classless(spec) && !b.certain(spec) {
		return &Reach{Claim: claim, Open: "the PersistentVolume for claim " + claim + ", which is not known"}
	}
	if class != nil && class.Root.Get("provisioner").Text() == noProvisioner {
		return &Reach{Claim: claim, By: class, Open: "the PersistentVolumes of StorageClass " + class.Name + ", which are not declared"}
	}
	return nil
}

// classless reports whether a claim asks for a volume of no class. Such a volume has to exist.
func classless(claim *source.Node) bool {
	class := claim.Get("storageClassName")
	return !class.IsNull() && class.Text() == ""
}

// certain reports whether an unbound claim of no class gets one of the declared volumes, whichever
// claims the others get. Each claim gets the smallest volume that satisfies it. This is certain if
// the sets of volumes that satisfy two claims are disjoint or one contains the other, and if none of
// these sets is smaller than the number of claims that it satisfies alone (Hall's theorem).
func (b *binder) certain(spec *source.Node) bool {
	const most = 50
	matches := func(claim *source.Node) map[*source.Object]bool {
		all := map[*source.Object]bool{}
		for _, v := range b.free[""] {
			phase := v.Root.At("status", "phase").Text()
			if (phase == "" || phase == string(corev1.VolumeAvailable)) && claim.Get("selector").IsNull() && !deleted(v) && satisfies(v.Root.Get("spec"), claim) {
				all[v] = true
			}
		}
		return all
	}
	own, rivals := matches(spec), 0
	if len(own) == 0 || b.classless || len(b.free[""]) > most || len(b.claims) > most {
		return false
	}
	for id, c := range b.claims {
		claim := specOf(c.Root)
		if !classless(claim) || claim.Get("volumeName").Text() != "" || len(b.held[id]) > 0 {
			continue
		}
		other, shared := matches(claim), 0
		for v := range other {
			if own[v] {
				shared++
			}
		}
		switch {
		case shared > 0 && shared < min(len(own), len(other)):
			return false
		case shared > 0 && shared == len(other):
			rivals++
		}
	}
	return rivals <= len(own)
}

// hasPlace reports whether a volume has a node affinity or zone labels.
func hasPlace(o *source.Object) bool { return !o.Root.At("spec", "nodeAffinity").IsNull() || zoned(o) }

// zoned reports whether a volume has labels that the filter VolumeZone reads.
func zoned(o *source.Object) bool {
	labels := o.Root.At("metadata", "labels")
	return slices.ContainsFunc(ZoneKeys, func(key string) bool { return !labels.Get(key).IsNull() })
}

// class returns the declared class of a claim, or nil.
func (b *binder) class(spec *source.Node) *source.Object {
	name, class := spec.Get("storageClassName"), b.standard
	if !name.IsNull() {
		class = b.classes[name.Text()]
	}
	if b.differing[class] {
		return nil
	}
	return class
}

// className returns the name of a claim's class, or "" if it has none or it is not known.
func (b *binder) className(spec *source.Node) string {
	name, class := spec.Get("storageClassName"), b.class(spec)
	switch {
	case class != nil:
		return class.Name
	case name.IsNull():
		return b.storage.Default
	}
	return name.Text()
}

// allowed returns what the allowedTopologies of a claim's class allow for the volume that is made
// for it (R-N35). If the class does not wait for the pod, it allows for the volume more than the
// provisioner chooses.
func (b *binder) allowed(claim string, spec *source.Node) []Reach {
	if spec == nil {
		return nil
	}
	if r := b.available(claim, spec); r != nil {
		return []Reach{*r}
	}
	class := b.class(spec)
	if class == nil || class.Root.Get("allowedTopologies").Len() == 0 {
		return nil
	}
	if !waits(class) && b.places(class) == nil {
		return []Reach{{Claim: claim, By: class, Open: (&Early{Class: class}).String()}}
	}
	r := Reach{Claim: claim, By: class, Affinity: &corev1.NodeSelector{}}
	var terms []corev1.TopologySelectorTerm
	if open(class.Root.Get("allowedTopologies")) || len(b.decoder.Decode(class.Root.Get("allowedTopologies"), &terms)) > 0 {
		r.Open = "StorageClass " + class.Name + ", whose allowedTopologies cannot be read"
	}
	for _, t := range terms {
		var term corev1.NodeSelectorTerm
		for _, e := range t.MatchLabelExpressions {
			term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: e.Key, Operator: corev1.NodeSelectorOpIn, Values: e.Values})
		}
		r.Affinity.NodeSelectorTerms = append(r.Affinity.NodeSelectorTerms, term)
	}
	return []Reach{r}
}

// ReachesText returns the same string for workloads whose volumes restrict their pods in the same way.
func (w *Workload) ReachesText() string {
	text := ReachText(w.Reaches)
	if of := w.OrdinalReaches; of != nil {
		for _, ordinal := range sorting.Keys(of.Of) {
			text += fmt.Sprint("#", ordinal, ReachText(of.Of[ordinal]))
		}
		text += "#" + ReachText(of.Rest)
	}
	return text
}

// ReachText returns the same string for equal reaches.
func ReachText(all []Reach) string {
	var b strings.Builder
	for i := range all {
		r := &all[i]
		fmt.Fprintf(&b, "&%q", r.Open)
		for _, key := range sorting.Keys(r.Zones) {
			fmt.Fprintf(&b, " %q=%q", key, r.Zones[key])
		}
		if r.Affinity == nil {
			continue
		}
		for _, t := range r.Affinity.NodeSelectorTerms {
			fmt.Fprintf(&b, "|%q", t.MatchExpressions)
		}
	}
	return b.String()
}
