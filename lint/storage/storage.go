package storage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Pin says where a volume can be used once it exists.
type Pin string

// The pins, from the narrowest to the widest.
const (
	PinUnknown  Pin = ""        // not known
	PinNode     Pin = "node"    // only on the node where it was made
	PinZone     Pin = "zone"    // on nodes of its zone
	PinTwoZones Pin = "zones-2" // on nodes of two zones, one of which is that of the first node
	PinRegion   Pin = "region"  // on nodes of its region
	PinFree     Pin = "free"    // on every node
)

// Pins returns the pins that are known, from the narrowest to the widest.
func Pins() []Pin { return []Pin{PinNode, PinZone, PinTwoZones, PinRegion, PinFree} }

// Attach says whether a ReadWriteOnce volume can be used by pods on several nodes at once.
type Attach string

const (
	// AttachUnknown means that it is not known.
	AttachUnknown Attach = ""
	// AttachSingleNode means that the attachment to a second node is refused until the volume is
	// detached from the first.
	AttachSingleNode Attach = "single-node"
	// AttachFree means that nothing is attached (NFS, hostPath), or that the volume is on one node
	// anyway.
	AttachFree Attach = "free"
)

// Attaches returns the values of Attach that are known.
func Attaches() []Attach { return []Attach{AttachSingleNode, AttachFree} }

// Behavior describes the volumes of a StorageClass.
type Behavior struct {
	Pinned Pin    `json:"pinned,omitempty"`
	Attach Attach `json:"attach,omitempty"`
}

// Or returns b with what it leaves unknown taken from other.
func (b Behavior) Or(other Behavior) Behavior {
	return Behavior{cmp.Or(b.Pinned, other.Pinned), cmp.Or(b.Attach, other.Attach)}
}

// Declared is what users say about the StorageClasses of a cluster.
type Declared struct {
	// Default names the class of claims that name none.
	Default string `json:"default"`
	// Classes says where the volumes of classes can be used, by name.
	Classes map[string]Behavior `json:"classes"`
	// Cloud is set on nodes of EKS, GKE or AKS, whose default class makes disks of a zone.
	Cloud bool `json:"-"`
}

// BuiltIn reports whether a name is the one of a class of disks that EKS, GKE or AKS clusters come
// with, or that their documentation makes.
func BuiltIn(class string) bool {
	return slices.Contains([]string{
		"gp2", "gp3", "standard", "standard-rwo", "premium-rwo", "default", "managed", "managed-premium", "managed-csi", "managed-csi-premium",
	}, class)
}

// Over returns d with what it leaves out taken from other.
func (d Declared) Over(other Declared) Declared {
	all := Declared{cmp.Or(d.Default, other.Default), map[string]Behavior{}, d.Cloud || other.Cloud}
	maps.Copy(all.Classes, other.Classes)
	for name, b := range d.Classes {
		all.Classes[name] = b.Or(other.Classes[name])
	}
	return all
}

// UnmarshalJSON accepts the pins that are known.
func (p *Pin) UnmarshalJSON(text []byte) error { return word(p, text, Pins()) }

// UnmarshalJSON accepts the values of Attach that are known.
func (a *Attach) UnmarshalJSON(text []byte) error { return word(a, text, Attaches()) }

func word[T ~string](to *T, text []byte, all []T) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	if *to = T(s); !slices.Contains(all, *to) {
		return fmt.Errorf("unknown word %s", s)
	}
	return nil
}

// Words lists the words for a field of a Behavior, by the name of the field's type in messages. It
// returns "" for other types.
func Words(name string) string {
	switch name {
	case "pin":
		return join(Pins())
	case "attach":
		return join(Attaches())
	}
	return ""
}

func join[T ~string](all []T) string {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

// Of returns what is known about volumes that a provisioner makes with the parameters of a
// StorageClass.
func Of(provisioner string, parameters map[string]string) Behavior {
	for _, d := range drivers {
		if !d.named(provisioner) {
			continue
		}
		if d.Pin != nil {
			return Behavior{d.Pin(parameters), d.Attach}
		}
		return d.Behavior
	}
	return Behavior{}
}

// TracksCapacity reports whether the scheduler by default compares the size of the volumes of a
// provisioner with the free space (R-N48).
func TracksCapacity(provisioner string) bool {
	return slices.ContainsFunc(drivers, func(d *driver) bool { return d.TracksCapacity && d.named(provisioner) })
}

// named reports whether a provisioner is called by one of the driver's names.
func (d *driver) named(provisioner string) bool {
	for pattern := range strings.FieldsSeq(d.Names) {
		if ok, err := path.Match(pattern, provisioner); ok && err == nil {
			return true
		}
	}
	return false
}

// TopologyKey returns the well-known label (zone or hostname) that a driver's own topology key
// equals, or "".
func TopologyKey(key string) string { return topologyKeys[key] }

// NodeKey returns the topology key that a driver sets on each node where it runs, or "" if there is
// none or it is not known.
func NodeKey(provisioner string) string {
	for _, d := range drivers {
		if d.named(provisioner) {
			return d.Key
		}
	}
	return ""
}
