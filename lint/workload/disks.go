package workload

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Device keeps a virtual machine from being live-migrated (R-W36). It is a volume that two nodes cannot
// use at once, or a bridge on the pod network.
type Device struct {
	// Name is the name of the volume or interface. Bridge is set for an interface. Claim is the name of
	// the claim of a volume, or "" if it is a hostDisk.
	Name, Claim string
	Bridge      bool
	// Span is the location of the name. Modes is that of the access modes of the claim.
	Span, Modes diag.Span
}

// bridgeMigrates is an annotation of a machine that may migrate with a bridge on the pod network.
const bridgeMigrates = "kubevirt.io/allow-pod-bridge-network-live-migration"

// bridge returns the interface of a machine that is a bridge on the pod network and keeps it from
// being live-migrated, or nil.
func (w *Workload) bridge() *Device {
	annotations := w.TemplateNode.At("metadata", "annotations")
	if !annotations.Get(bridgeMigrates).IsNull() || annotations.Placeholder() {
		return nil
	}
	onPods := map[string]bool{}
	for _, network := range w.SpecNode.Get("networks").Items() {
		onPods[network.Get("name").Text()] = !network.Get("pod").IsNull()
	}
	for _, x := range w.SpecNode.At("domain", "devices", "interfaces").Items() {
		if name := x.Get("name"); !x.Get("bridge").IsNull() && onPods[name.Text()] {
			return &Device{Name: name.Text(), Bridge: true, Span: w.File().Span(name)}
		}
	}
	return nil
}

// disks finds the devices of a virtual machine that decide whether it can be live-migrated.
func (b *binder) disks(w *Workload) {
	w.Stays, w.OpenDisk = nil, ""
	if !w.Kind.VM {
		return
	}
	w.Stays = w.bridge()
	for _, v := range w.SpecNode.Get("volumes").Items() {
		d := &Device{Name: v.Get("name").Text(), Span: w.File().Span(v.Get("name")), Claim: claimOf(v)}
		shared, open := diag.Always, "the access modes of claim "+d.Claim
		if host := v.Get("hostDisk"); d.Claim != "" {
			d.Modes, shared = b.shared(w, d.Claim)
		} else if !host.IsNull() {
			open = "whether hostDisk " + d.Name + " is shared"
			switch by, known := host.Get("shared").Bool(); {
			case !known && !host.Get("shared").IsNull():
				shared = diag.Unknown
			case !by:
				shared = diag.Never
			}
		}
		switch {
		case shared == diag.Never && w.Stays == nil:
			w.Stays = d
		case shared == diag.Unknown && w.OpenDisk == "":
			w.OpenDisk = open
		}
	}
}

// claimOf returns the name of the claim of a machine's volume, or "". The claim of a DataVolume has
// its name.
func claimOf(volume *source.Node) string {
	if name := volume.At("persistentVolumeClaim", "claimName"); !name.IsNull() {
		return name.Text()
	}
	return volume.At("dataVolume", "name").Text()
}

// dataVolumeTemplate returns the template of a machine's DataVolume, or nil.
func (w *Workload) dataVolumeTemplate(name string) *source.Node {
	for _, t := range w.TemplateOwner().Get("dataVolumeTemplates").Items() {
		if t.At("metadata", "name").Text() == name {
			return t
		}
	}
	return nil
}

// dataVolume returns what a machine's DataVolume says about the claim of its name, or nil.
func (b *binder) dataVolume(w *Workload, name string) *source.Node {
	made := w.dataVolumeTemplate(name)
	if o := b.dataVolumes[[2]string{Space(w.Object.Namespace), name}]; made == nil && o != nil && !b.differing[o] {
		made = o.Root
	}
	return claimSpec(made)
}

// claimSpec returns what a DataVolume says about its claim, or nil.
func claimSpec(dataVolume *source.Node) *source.Node {
	if pvc := dataVolume.At("spec", "pvc"); pvc != nil {
		return pvc
	}
	return dataVolume.At("spec", "storage")
}

// shared reports whether several nodes may write to the volume of a machine's claim, and where its
// access modes are. If they are absent from a DataVolume, a StorageProfile decides. If several
// objects declare the claim, they have to agree.
func (b *binder) shared(w *Workload, claim string) (at diag.Span, shared diag.Outcome) {
	var all []diag.Outcome
	add := func(file *source.File, specs ...*source.Node) {
		for _, spec := range specs {
			if spec.IsNull() {
				continue
			}
			if all == nil {
				at = file.Span(spec.Get("accessModes"))
			}
			all = append(all, writtenByAll(accessModes(spec)))
		}
	}
	if t := w.dataVolumeTemplate(claim); t != nil {
		add(w.File(), t.At("spec", "pvc"), t.At("spec", "storage"))
	}
	id := [2]string{Space(w.Object.Namespace), claim}
	if o := b.claims[id]; o != nil && !b.differing[o] {
		add(o.File, o.Root.Get("spec"))
	}
	if o := b.dataVolumes[id]; o != nil && !b.differing[o] {
		add(o.File, o.Root.At("spec", "pvc"), o.Root.At("spec", "storage"))
	}
	if all == nil || source.Placeholder(claim) || slices.ContainsFunc(all, func(o diag.Outcome) bool { return o != all[0] }) {
		return at, diag.Unknown
	}
	return at, all[0]
}

// writtenByAll reports whether several nodes can write to a volume with these access modes.
func writtenByAll(modes []string) diag.Outcome {
	others := []string{string(corev1.ReadWriteOnce), string(corev1.ReadOnlyMany), string(corev1.ReadWriteOncePod)}
	switch {
	case slices.Contains(modes, string(corev1.ReadWriteMany)):
		return diag.Always
	case len(modes) == 0 || slices.ContainsFunc(modes, func(m string) bool { return !slices.Contains(others, m) }):
		return diag.Unknown // such as a variable
	}
	return diag.Never
}
