package workload

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/schedlint/schedlint/lint/source"
)

// noProvisioner is the provisioner of classes for which no volumes are made.
const noProvisioner = "kubernetes.io/no-provisioner"

// Static is a set of PersistentVolumes that no claim holds. Each of them satisfies the same claims
// (R-N46).
type Static struct {
	// Class is the StorageClass of the volumes. Volumes lists them by name. It is empty if no volume
	// of the class satisfies the claims.
	Class   string
	Volumes []*source.Object
	// Places holds, for each volume, the node label that its node affinity requires. The key is empty
	// if every node can use the volume.
	Places []corev1.NodeSelectorRequirement
	// Part is set if the class has other volumes that no claim holds. Listed is set if the node file
	// lists the volumes of the class. The others are all that there are only if each of them names a
	// node: a PersistentVolume among manifests may be an example.
	Part, Listed bool

	// open says why it is not known which claims get the volumes.
	open string
}

// Anywhere reports whether every node can use the volumes.
func (s *Static) Anywhere() bool {
	return len(s.Places) > 0 && !slices.ContainsFunc(s.Places, func(p corev1.NodeSelectorRequirement) bool { return p.Key != "" })
}

// statics holds what is known about volumes that exist before their claims.
type statics struct {
	// sets maps what claims ask for, and the names of volumes, to sets of volumes.
	sets map[string]*Static
	// listed holds the classes whose volumes the node file lists. named holds the volumes that a claim
	// names. handles counts the volumes that a driver knows by the same handle.
	listed, named map[string]bool
	handles       map[[2]string]int
}

func newStatics() statics {
	return statics{sets: map[string]*Static{}, listed: map[string]bool{}, named: map[string]bool{}, handles: map[[2]string]int{}}
}

// static returns the volumes that a claim is matched against. It returns nil if they are not known, or
// if the claim gets its volume in another way. Only claims are decided that a single pod uses for its whole life,
// whose class waits for the pod and makes no volumes (plugins/volumebinding/binder.go,
// findMatchingVolumes and checkVolumeProvisions).
func (b *binder) static(w *Workload, c *Claim) *Static {
	class := b.class(c.spec)
	if class == nil || c.Bound || c.Ephemeral || w.Kind.VM || w.Scale != nil || w.Spec.NodeName != "" || source.Placeholder(c.Name) || !b.listed[class.Name] && len(b.free[class.Name]) == 0 ||
		class.Root.Get("provisioner").Text() != noProvisioner || class.Root.Get("volumeBindingMode").Text() != "WaitForFirstConsumer" {
		return nil
	}
	if c.Object != nil && deleted(c.Object) {
		return nil
	}
	size, err := resource.ParseQuantity(c.Size)
	attributes, mode := c.spec.Get("volumeAttributesClassName").Text(), c.spec.Get("volumeMode").Text()
	var asked metav1.LabelSelector
	misread := b.decoder.Decode(c.spec.Get("selector"), &asked)
	selector, wrong := metav1.LabelSelectorAsSelector(&asked)
	if err != nil || wrong != nil || len(misread) > 0 || slices.ContainsFunc(append(slices.Clone(c.Modes), attributes, mode, selector.String()), source.Placeholder) {
		return nil
	}
	id := fmt.Sprintf("%q %s %q %q %q %q", class.Name, size.String(), c.Modes, attributes, mode, selector)
	if s, known := b.sets[id]; known {
		return s
	}
	s := &Static{Class: class.Name, Listed: b.listed[class.Name]}
	var names strings.Builder
	for _, v := range b.free[class.Name] {
		phase := v.Root.At("status", "phase").Text()
		of := labels.Set{}
		for k, value := range v.Root.At("metadata", "labels").Fields() {
			of[k.Value] = value.Text()
		}
		spec := specOf(v.Root)
		switch {
		case deleted(v) || b.named[v.Name] || phase != "" && phase != string(corev1.VolumeAvailable):
			continue
		case !satisfies(spec, c.spec) || !selector.Matches(of) || spec.Get("volumeAttributesClassName").Text() != attributes:
			s.Part = true
			continue
		}
		place, simple := b.place(v)
		if !simple || b.differing[v] {
			s = nil
			break
		}
		s.Volumes, s.Places = append(s.Volumes, v), append(s.Places, place)
		names.WriteString(v.Name + "/")
	}
	if s != nil {
		if same := b.sets[class.Name+"/"+names.String()]; same != nil {
			s = same
		}
		b.sets[class.Name+"/"+names.String()] = s
	}
	b.sets[id] = s
	return s
}

// place returns the node label that a volume requires. The result simple is false if the volume
// restricts nodes in another way, or if its size is not known.
func (b *binder) place(v *source.Object) (r corev1.NodeSelectorRequirement, simple bool) {
	_, err := resource.ParseQuantity(v.Root.At("spec", "capacity", "storage").Text())
	if err != nil || zoned(v) || attachedBy(v) != "" {
		return r, false
	}
	required := v.Root.At("spec", "nodeAffinity", "required")
	if required.IsNull() {
		return r, true
	}
	var s corev1.NodeSelector
	if len(b.decoder.Decode(required, &s)) > 0 || len(s.NodeSelectorTerms) != 1 {
		return r, false
	}
	term := s.NodeSelectorTerms[0]
	if len(term.MatchFields) > 0 || len(term.MatchExpressions) != 1 || term.MatchExpressions[0].Operator != corev1.NodeSelectorOpIn {
		return r, false
	}
	return term.MatchExpressions[0], true
}

// separate leaves it open which volumes claims get, if claims that differ compete for them, or if
// pods that finish keep them.
func (b *binder) separate(ws []*Workload) {
	all := func(f func(w *Workload, c *Claim)) {
		for _, w := range ws {
			for _, c := range w.Claims {
				if c.Static != nil && !w.Copy && !w.Superseded {
					f(w, c)
				}
			}
		}
	}
	of := map[*source.Object]*Static{}
	all(func(w *Workload, c *Claim) {
		s := c.Static
		for _, v := range s.Volumes {
			switch o := of[v]; {
			case o == nil:
				of[v] = s
			case o != s:
				o.open, s.open = "which of the declared PersistentVolumes each claim gets", "which of the declared PersistentVolumes each claim gets"
			}
		}
		switch mixed := slices.ContainsFunc(s.Places, func(p corev1.NodeSelectorRequirement) bool { return p.Key == "" }); {
		case w.Finite():
			s.open = "the PersistentVolumes that the claims of finished pods keep"
		case mixed && !s.Anywhere():
			s.open = "which of the declared PersistentVolumes claim " + c.Name + " gets"
		}
	})
	all(func(w *Workload, c *Claim) {
		if c.Static.open != "" {
			w.Reaches = append(w.Reaches, Reach{Claim: c.Name, By: b.class(c.spec), Open: c.Static.open})
			c.Static = nil
		}
	})
}

// migrated maps provisioners and volume sources of Kubernetes to the CSI drivers that have replaced
// them. Volumes of those without a driver here are not counted (plugins/nodevolumelimits/utils.go,
// isCSIMigrationOn).
var migrated = map[string]string{
	"kubernetes.io/aws-ebs": "ebs.csi.aws.com", "awsElasticBlockStore": "ebs.csi.aws.com",
	"kubernetes.io/gce-pd": "pd.csi.storage.gke.io", "gcePersistentDisk": "pd.csi.storage.gke.io",
	"kubernetes.io/azure-disk": "disk.csi.azure.com", "azureDisk": "disk.csi.azure.com",
	"kubernetes.io/cinder": "cinder.csi.openstack.org", "cinder": "cinder.csi.openstack.org",
	"kubernetes.io/portworx-volume": "pxd.portworx.com", "portworxVolume": "pxd.portworx.com",
}

// driver returns the driver that attaches the volume of a claim, and what is not known if the driver
// is not known (plugins/nodevolumelimits/csi.go, getCSIDriverInfo; R-N45).
func (b *binder) driver(c *Claim) (name, open string) {
	if v := c.volume; v != nil {
		name := attachedBy(v)
		if b.handles[[2]string{name, v.Root.At("spec", "csi", "volumeHandle").Text()}] > 1 {
			return name, "PersistentVolume " + v.Name + ", whose volumeHandle others have, too"
		}
		return name, ""
	}
	class := b.class(c.spec)
	switch {
	case c.spec == nil:
		return "", b.unsettled("PersistentVolumeClaim", c.Name, c.Object)
	case class != nil && (c.Volume == "" || class.Root.Get("provisioner").Text() != noProvisioner):
		p := class.Root.Get("provisioner").Text()
		if strings.Contains(p, "/") {
			return migrated[p], "" // a CSI driver has no such name
		}
		return p, ""
	case c.Volume != "":
		return "", b.unsettled("PersistentVolume", c.Volume, nil)
	case b.className(c.spec) != "":
		return "", b.unsettled("StorageClass", b.className(c.spec), b.classes[b.className(c.spec)])
	case c.spec.Get("storageClassName").IsNull():
		return "", OpenDefault
	}
	return "", "the PersistentVolume for claim " + c.Name + ", which is not known"
}

// sameDriver sets the driver of a claim template if claims or volumes of some ordinals exist. The
// argument drivers holds their drivers, and what is not known of them.
func (w *Workload) sameDriver(c *Claim, drivers map[int][2]string) {
	start, n, known := w.ordinalRange()
	own, all := [2]string{c.Driver, c.OpenDriver}, [][2]string{}
	for ordinal, d := range drivers {
		if !known || ordinal >= start && ordinal-start < n {
			all = append(all, d)
		}
	}
	if !known || len(all) < n {
		all = append(all, own)
	}
	for _, d := range all {
		if c.Driver, c.OpenDriver = d[0], d[1]; d[0] != all[0][0] && d[1] == "" {
			c.OpenDriver = "volumes that differ from pod to pod"
		}
		if c.OpenDriver != "" {
			return
		}
	}
}

// attachedBy returns the driver that attaches a volume, or "".
func attachedBy(v *source.Object) string {
	for from := range v.Root.Get("spec").Fields() {
		if d := migrated[from.Value]; d != "" {
			return d
		}
	}
	return v.Root.At("spec", "csi", "driver").Text()
}

// AttachedVolumes counts the volumes of a pod by the driver that attaches them. The names of drivers that
// are not known are empty. The map shared holds what several pods may have in common, or what is not
// known about a driver's volumes, for drivers whose volumes are not each pod's own.
func (w *Workload) AttachedVolumes(several bool) (n map[string]int, shared map[string]string) {
	if len(w.Claims)+len(w.InlineDisks) == 0 {
		return nil, nil
	}
	n, shared = map[string]int{}, map[string]string{}
	seen := map[string]bool{}
	for _, c := range w.Claims {
		own := c.Template || c.Ephemeral
		if c.Driver == "" && c.OpenDriver == "" || !own && seen[c.Name] {
			continue
		}
		seen[c.Name] = seen[c.Name] || !own
		n[c.Driver]++
		switch {
		case c.OpenDriver != "":
			shared[c.Driver] = c.OpenDriver
		case !own && several:
			shared[c.Driver] = "claim " + c.Name + ", which several pods use"
		}
	}
	for _, v := range w.InlineDisks {
		n[v[1]]++
		shared[v[1]] = "volume " + v[0] + ", which has no claim"
	}
	return n, shared
}

// readInlineDisks lists the volumes that the pods name themselves, with the drivers that attach them.
func (w *Workload) readInlineDisks() (all [][2]string) {
	for _, v := range w.SpecNode.Get("volumes").Items() {
		for source := range v.Fields() {
			if d := migrated[source.Value]; d != "" {
				all = append(all, [2]string{v.Get("name").Text(), d})
			}
		}
	}
	return all
}
