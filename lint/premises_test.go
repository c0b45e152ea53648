package lint

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/workload"
)

func TestPremises(t *testing.T) {
	class := func(name string) string { return "StorageClass " + name + workload.Undeclared }
	for name, row := range map[string]struct {
		classes map[string]string
		cloud   map[string]bool
		missing bool
		want    string
	}{
		"none": {},
		"one": {map[string]string{class("a"): "a"}, nil, false,
			"volumes of StorageClass a, which is not declared, are assumed not to be local to a node; declare them, or say what they are with storage: in .schedlint.yaml"},
		"many": {map[string]string{class("a"): "a", class("b"): "b", class("c"): "c", class("d"): "d", class("e"): "e"}, nil, false,
			"volumes of StorageClass a, StorageClass b, StorageClass c and 2 more, which are not declared, are assumed not to be local to a node; declare them, or say what they are with storage: in .schedlint.yaml"},
		"more is not known": {map[string]string{class("a"): "a", "StorageClass b (provisioner example.com/b)": "b", "the PersistentVolume for claim c, which is not known": ""}, nil, false,
			"volumes of StorageClass a, StorageClass b (provisioner example.com/b) and the PersistentVolume for claim c, which are not known, are assumed not to be local to a node; declare them, or say what they are with storage: in .schedlint.yaml"},
		"two clusters": {map[string]string{class("a"): "a", class("b"): "b"}, map[string]bool{class("b"): true}, false,
			"volumes of StorageClass a, which is not declared, are assumed not to be local to a node\n" +
				"volumes of StorageClass b, which is not declared, are assumed to be disks of one zone, as on EKS, GKE and AKS; declare them, or say what they are with storage: in .schedlint.yaml"},
		"missing": {map[string]string{class("block"): "block", class("${A}"): "${A}", workload.OpenDefault: "", "PersistentVolumeClaim c" + workload.Undeclared: ""}, nil, true,
			"volumes of PersistentVolumeClaim c, StorageClass ${A}, StorageClass block and 1 more, which are not declared, are assumed not to be local to a node\n" +
				"some answers depend on storage classes: declare them, or say where their volumes can be used (node, zone, zones-2, region or free) and how they are attached (single-node or free) in .schedlint.yaml: " +
				`storage: {default: standard, classes: {"${A}": {pinned: zone, attach: single-node}, block: {pinned: zone, attach: single-node}, standard: {pinned: zone, attach: single-node}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := premises{classes: row.classes, cloud: row.cloud, missing: row.missing}
			if got := strings.Join(p.notes(), "\n"); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestPremisesOfAbsentClasses(t *testing.T) {
	p := premises{absent: map[string]map[string]bool{"PriorityClass": {"b": true, "a": true}, "RuntimeClass": {"kata": true}}}
	want := "no manifest declares PriorityClass a and b: assumed to exist\n" +
		"no manifest declares RuntimeClass kata: assumed to exist and to add nothing to pods"
	if got := strings.Join(p.notes(), "\n"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestPremisesOfCapacity(t *testing.T) {
	p := premises{sized: map[string]bool{"a": true, "b": true}}
	want := "the free space for new volumes of StorageClass a and b is not declared; it is assumed to be large enough"
	if got := strings.Join(p.notes(), "\n"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
