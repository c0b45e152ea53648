package workload

import (
	"fmt"
	"strings"
	"testing"
)

// TestNodeSelectors checks what the node selector of a Namespace does to pods, and that answers are open
// if it is not known whether the plugin is on (R-P15).
func TestNodeSelectors(t *testing.T) {
	t.Parallel()
	const own = "scheduler.alpha.kubernetes.io/node-selector: "
	pod := func(kind, fields string) string {
		return "{apiVersion: apps/v1, kind: " + kind + ", metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {" + fields + "containers: [{name: c, image: c}]}}}}"
	}
	space := func(annotation string) string {
		return "\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: shop, annotations: {" + annotation + "}}}"
	}
	by := func(annotation string) string { return "? Namespace shop (" + annotation + ")" }
	plain := pod("Deployment", "nodeSelector: {zone: a}, ")
	for what, c := range map[string]struct{ manifests, off, on string }{
		"a selector":         {plain + space(own+"disk=ssd"), by(own + "disk=ssd"), "map[disk:ssd zone:a]"},
		"several labels":     {plain + space(own+`"disk=ssd, zone = a"`), by(own + "disk=ssd, zone = a"), "map[disk:ssd zone:a]"},
		"a contradiction":    {plain + space(own+"zone=b"), by(own + "zone=b"), "spec.template.spec.nodeSelector.zone: zone=a contradicts the node selector zone=b of Namespace shop"},
		"no annotation":      {plain + space("a: b"), "map[zone:a]", "map[zone:a]"},
		"no Namespace":       {plain, "map[zone:a]", "? the plugin PodNodeSelector"},
		"another Namespace":  {plain + strings.Replace(space(own+"zone=b"), "shop", "data", 1), "map[zone:a]", "? the plugin PodNodeSelector"},
		"declared twice":     {plain + space(own+"zone=a") + space("a: b"), by(own + "zone=a"), by(own + "zone=a")},
		"a placeholder":      {plain + space(own+"'disk=${DISK}'"), by(own + "disk=${DISK}"), by(own + "disk=${DISK}")},
		"no label":           {plain + space(own+"ssd"), by(own + "ssd"), by(own + "ssd")},
		"an open selector":   {pod("Deployment", "nodeSelector: {zone: '${Z}'}, ") + space(own+"disk=ssd"), by(own + "disk=ssd"), by(own + "disk=ssd")},
		"a DaemonSet":        {pod("DaemonSet", "") + space(own+"disk=ssd"), by(own + "disk=ssd"), by(own + "disk=ssd")},
		"that of OpenShift":  {plain + space("openshift.io/node-selector: disk=ssd"), by("openshift.io/node-selector: disk=ssd"), by("openshift.io/node-selector: disk=ssd")},
		"none, of OpenShift": {plain + space("openshift.io/node-selector: ''"), "map[zone:a]", "map[zone:a]"},
	} {
		for on, want := range map[bool]string{false: c.off, true: c.on} {
			w := loadWith(t, c.manifests, func(r *Reader) { r.PodNodeSelector = on })[0]
			got := fmt.Sprint(w.Spec.NodeSelector)
			switch {
			case len(w.Problems) > 0:
				got = w.Problems[0].Field + ": " + w.Problems[0].Message
			case w.Admission != "":
				got = "? " + w.Admission
			}
			if got != want {
				t.Errorf("%s, the plugin is on: %v: %s, want %s", what, on, got, want)
			}
		}
	}
}

// TestPodSecurity checks which fields Pod Security rejects, and where it is not known whether it
// rejects the pods (R-P11). The oracle compares the checks with the admission plugin.
func TestPodSecurity(t *testing.T) {
	t.Parallel()
	const (
		hard     = "securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}"
		confined = "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}"
	)
	namespace := func(name, labels string) string {
		for short, long := range map[string]string{"enforce: ": Enforce, "version: ": enforceVersion} {
			labels = strings.ReplaceAll(labels, short, long+": ")
		}
		return fmt.Sprintf("\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: '%s', labels: {%s}}}", name, labels)
	}
	workload := func(spec, container string) string {
		return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n" +
			"    spec:\n      " + strings.ReplaceAll(spec, "\n", "\n      ") + "\n      containers:\n      - name: c\n        image: c\n        " + container
	}
	noted := func(annotation, value string) string {
		return strings.Replace(workload("", ""), "metadata: {labels: {app: web}}\n    ", "metadata: {labels: {app: web}, annotations: {"+annotation+": "+value+"}}\n    ", 1)
	}
	const armor, seccomp, both = "container.apparmor.security.beta.kubernetes.io/c", "container.seccomp.security.alpha.kubernetes.io/c", "seccomp.security.alpha.kubernetes.io/pod"
	unconfined := func(annotation, noun, must string) string {
		return "7 spec.template.metadata.annotations." + annotation + ": " + noun + ` annotation is "unconfined": must be ` + must + " or localhost/... at the baseline level of Namespace shop"
	}
	old := namespace("shop", "enforce: baseline, version: v1.18")
	shop := func(level string) string { return namespace("shop", "enforce: "+level) }
	const pod = "spec.template.spec."
	const own = pod + "containers[0]."
	open := func(level string) string { return "? Namespace shop (" + Enforce + ": " + level + ")" }
	for what, c := range map[string]struct{ manifests, want string }{
		"privileged":           {workload("hostNetwork: true", "") + shop("privileged"), ""},
		"no label":             {workload("hostNetwork: true", "") + namespace("shop", "version: latest"), ""},
		"warns only":           {workload("hostNetwork: true", "") + strings.Replace(shop("baseline"), "enforce", "warn", 1), ""},
		"baseline":             {workload(hard, confined) + shop("baseline"), ""},
		"host network":         {workload("hostNetwork: true", "") + shop("baseline"), "9 " + pod + "hostNetwork: hostNetwork is true: must be false at the baseline level of Namespace shop"},
		"two containers":       {workload("", "securityContext: {privileged: true}\n      - {name: d, image: d, securityContext: {privileged: true}}") + shop("baseline"), "13 " + own + "securityContext.privileged: privileged is true: must be false at the baseline level of Namespace shop (first of 2)"},
		"host path":            {workload("volumes:\n- name: v\n  hostPath: {path: /}", "") + shop("baseline"), "11 " + pod + "volumes[0].hostPath: hostPath is set: must not be set at the baseline level of Namespace shop"},
		"capability":           {workload("", "securityContext: {capabilities: {add: [CHOWN, SYS_ADMIN]}}") + shop("baseline"), "13 " + own + `securityContext.capabilities.add[1]: added capability is "SYS_ADMIN": must be AUDIT_WRITE, CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, MKNOD, NET_BIND_SERVICE, SETFCAP, SETGID, SETPCAP, SETUID or SYS_CHROOT at the baseline level of Namespace shop`},
		"variable":             {workload("", "securityContext: {privileged: '${P}'}") + shop("baseline"), open("baseline")},
		"variable elsewhere":   {workload("volumes: [{name: v, configMap: {name: '${V}'}}]", "command: ['${C}']") + shop("baseline"), ""},
		"variable and certain": {workload("hostPID: true", "securityContext: {privileged: '${P}'}") + shop("baseline"), "9 " + pod + "hostPID: hostPID is true: must be false at the baseline level of Namespace shop"},
		"variable context":     {workload("securityContext: '${S}'", "") + shop("baseline"), open("baseline")},
		"a variable field":     {workload("'${X}': true", "") + shop("baseline"), open("baseline")},
		"variable volumes":     {workload("volumes: '${V}'", "") + shop("baseline"), open("baseline")},
		"variable user space":  {workload("hostUsers: '${U}'\nhostPID: true", "") + shop("baseline"), open("baseline")},
		"variable drop":        {workload(hard, "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: ['${D}']}}") + shop("restricted"), open("restricted")},
		"restricted": {workload("", "") + shop("restricted"), "11 " + own + "securityContext.capabilities.drop: capabilities.drop does not include ALL: must drop ALL at the restricted level of Namespace shop\n" +
			"11 " + own + "securityContext.allowPrivilegeEscalation: allowPrivilegeEscalation is missing: must be false at the restricted level of Namespace shop\n" +
			"8 " + pod + "securityContext.runAsNonRoot: runAsNonRoot is missing: must be true at the restricted level of Namespace shop\n" +
			"8 " + pod + "securityContext.seccompProfile: seccompProfile is missing: must have type RuntimeDefault or Localhost at the restricted level of Namespace shop"},
		"variable pod context": {workload("securityContext: '${S}'", "") + shop("restricted"), "11 " + own + "securityContext.capabilities.drop: capabilities.drop does not include ALL: must drop ALL at the restricted level of Namespace shop\n" +
			"11 " + own + "securityContext.allowPrivilegeEscalation: allowPrivilegeEscalation is missing: must be false at the restricted level of Namespace shop"},
		"variable own context": {workload("", "securityContext: '${S}'") + shop("restricted"), open("restricted")},
		"variable container":   {strings.Replace(workload(hard, ""), "- name: c\n        image: c\n", "- '${C}'\n      - {name: d, image: d, "+confined+"}\n", 1) + shop("restricted"), open("restricted")},
		"hardened":             {workload(hard, confined) + shop("restricted"), ""},
		"two to harden": {strings.Replace(workload("securityContext: {seccompProfile: {type: RuntimeDefault}}", confined), "- name: c\n", "- {name: d, image: d, "+confined+"}\n      - name: c\n", 1) + shop("restricted"),
			"9 " + pod + "securityContext.runAsNonRoot: runAsNonRoot is missing: must be true at the restricted level of Namespace shop"},
		"on Windows":              {workload("os: {name: windows}\nsecurityContext: {runAsNonRoot: true}", "") + shop("restricted"), ""},
		"AppArmor":                {noted(armor, "runtime/default") + shop("baseline"), ""},
		"AppArmor of the node":    {noted(armor, "localhost/web") + shop("baseline"), ""},
		"AppArmor by default":     {noted(armor, "''") + shop("baseline"), ""},
		"no AppArmor":             {noted(armor, "unconfined") + shop("baseline"), unconfined(armor, "AppArmor", "runtime/default")},
		"seccomp":                 {noted(both, "docker/default") + old, ""},
		"no seccomp":              {noted(both, "unconfined") + old, unconfined(both, "seccomp", "runtime/default, docker/default")},
		"no seccomp of one":       {noted(seccomp, "unconfined") + old, unconfined(seccomp, "seccomp", "runtime/default, docker/default")},
		"no seccomp of no one":    {noted(seccomp+"x", "unconfined") + old, ""},
		"last to read it":         {noted(both, "unconfined") + strings.Replace(old, "18", "19", 1), ""},
		"an old version":          {workload(hard, "") + namespace("shop", "enforce: restricted, version: v1.7"), ""},
		"a newer version":         {workload("securityContext: {sysctls: [{name: net.ipv4.tcp_rmem}]}", "") + namespace("shop", "enforce: baseline, version: v1.32"), ""},
		"the version decides":     {workload("securityContext: {sysctls: [{name: net.ipv4.tcp_rmem}]}", "") + namespace("shop", "enforce: baseline, version: '${V}'"), open("baseline")},
		"the cluster decides":     {workload("securityContext: {sysctls: [{name: net.ipv4.tcp_notsent_lowat}]}", "") + shop("baseline"), open("baseline")},
		"any version":             {workload("hostIPC: true", "") + namespace("shop", "enforce: baseline, version: '${V}'"), "9 " + pod + "hostIPC: hostIPC is true: must be false at the baseline level of Namespace shop"},
		"no such version":         {workload("hostIPC: true", "") + namespace("shop", "enforce: baseline, version: '1.30'"), open("baseline")},
		"no such level":           {workload("", "") + shop("strict"), open("strict")},
		"whatever the level":      {workload(hard, confined) + shop("'${LEVEL}'"), ""},
		"a level is not known":    {workload("hostIPC: true", "") + shop("'${LEVEL}'"), open("${LEVEL}")},
		"another namespace":       {workload("hostIPC: true", "") + namespace("data", "enforce: baseline"), ""},
		"maybe this namespace":    {workload("hostIPC: true", "") + namespace("${NS}", "enforce: baseline"), strings.Replace(open("baseline"), "shop", "${NS}", 1)},
		"maybe it admits":         {workload("hostIPC: true", "") + shop("baseline") + namespace("${NS}", "enforce: privileged"), "9 " + pod + "hostIPC: hostIPC is true: must be false at the baseline level of Namespace shop"},
		"two declarations":        {workload("hostIPC: true", "") + shop("baseline") + namespace("shop", ""), open("baseline")},
		"two equal ones":          {workload("hostIPC: true", "") + shop("baseline") + shop("baseline"), "9 " + pod + "hostIPC: hostIPC is true: must be false at the baseline level of Namespace shop"},
		"no namespace":            {strings.Replace(workload("hostIPC: true", ""), ", namespace: shop", "", 1) + namespace("default", "enforce: baseline"), strings.Replace(open("baseline"), "shop", "default", 1)},
		"a virtual machine":       {"{apiVersion: kubevirt.io/v1, kind: VirtualMachineInstance, metadata: {name: vm, namespace: shop}, spec: {domain: {}}}" + shop("baseline"), open("baseline")},
		"a pod":                   {"apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec:\n  hostIPC: true\n  containers: [{name: c, image: c}]" + shop("baseline"), "5 spec.hostIPC: hostIPC is true: must be false at the baseline level of Namespace shop (object)"},
		"a running pod":           {"{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {nodeName: a, hostIPC: true, containers: [{name: c, image: c}]}, status: {phase: Running}}" + shop("baseline"), ""},
		"an admitted pod":         {"{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop, uid: a}, spec: {hostIPC: true, containers: [{name: c, image: c}]}}" + shop("baseline"), ""},
		"a claim for the volume":  {strings.Replace(strings.Replace(workload("volumes: [{name: v, hostPath: {path: /}}]", ""), "Deployment", "StatefulSet", 1), "  template:", "  volumeClaimTemplates: [{metadata: {name: v}, spec: {}}]\n  template:", 1) + shop("baseline"), ""},
		"a volume without source": {workload(hard+"\nvolumes: [{name: v}]", confined) + shop("restricted"), ""},
	} {
		w := load(t, c.manifests)[0]
		var got []string
		for _, p := range w.Problems {
			stage := ""
			if p.Stage == StageObject {
				stage = " (object)"
			}
			if p.By == nil || p.By.Kind != "Namespace" {
				t.Errorf("%s: %s is not because of a Namespace", what, p.Message)
			}
			got = append(got, fmt.Sprintf("%d %s: %s%s", p.Span.Line, p.Field, p.Message, stage))
		}
		if w.Admission != "" {
			got = append(got, "? "+w.Admission)
		}
		if got := strings.Join(got, "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", what, got, c.want)
		}
	}
	// A sysctl that is safe since 1.32 is rejected by the version of the cluster, not by the newest one.
	for minor, want := range map[string]int{"v1.31.0": 1, "v1.32.0": 0} {
		w := loadIn(t, release(t, minor), workload("securityContext: {sysctls: [{name: net.ipv4.tcp_rmem}]}", "")+shop("baseline")).Workloads[0]
		if w.Admission != "" || len(w.Problems) != want {
			t.Errorf("%s: %q, %+v; want %d problems", minor, w.Admission, w.Problems, want)
		}
	}
}
