package workload

import (
	"strings"
	"testing"
)

// TestDisks checks which volumes and interfaces of a machine keep it from being live-migrated (R-W36).
func TestDisks(t *testing.T) {
	machine := func(templates, volumes string) string {
		return "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: vm, namespace: shop}\nspec: {runStrategy: Always, dataVolumeTemplates: [" + templates + "], " +
			"template: {metadata: {labels: {a: b}}, spec: {domain: {devices: {}}, volumes: [" + volumes + "]}}}\n---\n"
	}
	claim := func(kind, spec string) string {
		group := map[string]string{"PersistentVolumeClaim": "v1", "DataVolume": "cdi.kubevirt.io/v1beta1"}[kind]
		return "apiVersion: " + group + "\nkind: " + kind + "\nmetadata: {name: d, namespace: shop}\nspec: " + spec + "\n---\n"
	}
	network := func(binding, of, annotation string) string {
		return "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: vm, namespace: shop}\nspec: {runStrategy: Always, template: {metadata: {labels: {a: b}, annotations: {" + annotation + "}}, " +
			"spec: {domain: {devices: {interfaces: [{name: net, " + binding + ": {}}]}}, networks: [{name: net, " + of + "}], volumes: []}}}\n---\n"
	}
	const byClaim, byVolume = "{name: v, persistentVolumeClaim: {claimName: d}}", "{name: v, dataVolume: {name: d}}"
	const one, many = "{accessModes: [ReadWriteOnce]}", "{accessModes: [ReadOnlyMany, ReadWriteMany]}"
	for name, row := range map[string]struct{ text, local, open string }{
		"copied":              {machine("", "{name: a, containerDisk: {}}, {name: b, cloudInitNoCloud: {}}, {name: c, ephemeral: {persistentVolumeClaim: {claimName: d}}}, {name: e, emptyDisk: {}}") + claim("PersistentVolumeClaim", one), "", ""},
		"claim":               {machine("", byClaim) + claim("PersistentVolumeClaim", one), "v d", ""},
		"shared claim":        {machine("", byClaim) + claim("PersistentVolumeClaim", many), "", ""},
		"variable":            {machine("", byClaim) + claim("PersistentVolumeClaim", "{accessModes: [\"${MODE}\"]}"), "", "the access modes of claim d"},
		"no claim":            {machine("", byClaim), "", "the access modes of claim d"},
		"claim of another":    {machine("", "{name: v, persistentVolumeClaim: {claimName: e}}") + claim("PersistentVolumeClaim", one), "", "the access modes of claim e"},
		"DataVolume":          {machine("", byVolume) + claim("DataVolume", "{pvc: "+one+"}"), "v d", ""},
		"DataVolume, storage": {machine("", byClaim) + claim("DataVolume", "{storage: "+one+"}"), "v d", ""},
		"profile":             {machine("", byVolume) + claim("DataVolume", "{storage: {}}"), "", "the access modes of claim d"},
		"template":            {machine("{metadata: {name: d}, spec: {pvc: "+one+"}}", byVolume), "v d", ""},
		"template, shared":    {machine("{metadata: {name: d}, spec: {storage: "+many+"}}", byVolume), "", ""},
		"template, other":     {machine("{metadata: {name: e}, spec: {pvc: "+one+"}}", byVolume), "", "the access modes of claim d"},
		"they differ":         {machine("{metadata: {name: d}, spec: {pvc: "+one+"}}", byVolume) + claim("PersistentVolumeClaim", many), "", "the access modes of claim d"},
		"they agree":          {machine("", byVolume) + claim("DataVolume", "{storage: "+one+"}") + claim("PersistentVolumeClaim", one), "v d", ""},
		"differing":           {machine("", byClaim) + claim("PersistentVolumeClaim", one) + claim("PersistentVolumeClaim", many), "", "the access modes of claim d"},
		"hostDisk":            {machine("", "{name: v, hostDisk: {path: /d}}"), "v ", ""},
		"hostDisk, shared":    {machine("", "{name: v, hostDisk: {path: /d, shared: true}}"), "", ""},
		"hostDisk, variable":  {machine("", "{name: v, hostDisk: {path: /d, shared: \"${S}\"}}"), "", "whether hostDisk v is shared"},
		"bridge":              {network("bridge", "pod: {}", ""), "net ", ""},
		"bridge, annotated":   {network("bridge", "pod: {}", "kubevirt.io/allow-pod-bridge-network-live-migration: \"\""), "", ""},
		"masquerade":          {network("masquerade", "pod: {}", ""), "", ""},
		"bridge elsewhere":    {network("bridge", "multus: {networkName: lan}", ""), "", ""},
		"bridge and claim":    {strings.Replace(network("bridge", "pod: {}", ""), "volumes: []", "volumes: ["+byClaim+"]", 1) + claim("PersistentVolumeClaim", one), "net ", ""},
		"a pod":               {"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\nspec: {containers: [{name: c}], volumes: [" + byClaim + "]}\n---\n" + claim("PersistentVolumeClaim", one), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, local := loadSet(t, row.text).Workloads[0], ""
			if w.Stays != nil {
				local = w.Stays.Name + " " + w.Stays.Claim
			}
			if local != row.local || w.OpenDisk != row.open {
				t.Errorf("got %q, %q", local, w.OpenDisk)
			}
		})
	}
}
