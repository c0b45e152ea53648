package workload

import (
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// Values that Pod Security allows at the baseline and restricted levels.
var (
	baselineCapabilities = []string{
		"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
	}
	restrictedVolumes = []string{"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "name", "persistentVolumeClaim", "projected", "secret"}
	confined          = []string{"RuntimeDefault", "Localhost"}
)

// mayViolate reports whether Pod Security may reject a workload's pods at the level that its
// namespace enforces (k8s.io/pod-security-admission/policy; R-P11). It treats placeholders, and all
// values in rarely used fields, as violations.
func (w *Workload) mayViolate(level string) bool {
	spec := w.SpecNode
	pod := spec.Get("securityContext")
	switch {
	case level == "privileged":
		return false
	case level != "baseline" && level != "restricted", w.Kind.VM, spec == nil, len(w.Open) > 0:
		return true
	case on(spec, "hostNetwork"), on(spec, "hostPID"), on(spec, "hostIPC"), unusual(pod), pod.Get("sysctls").Len() > 0:
		return true
	}
	for k := range w.TemplateNode.At("metadata", "annotations").Fields() {
		if strings.Contains(k.Value, "apparmor.security") || strings.Contains(k.Value, "seccomp.security") {
			return true
		}
	}
	for _, volume := range spec.Get("volumes").Items() {
		for k := range volume.Fields() {
			if k.Value == "hostPath" || level == "restricted" && !slices.Contains(restrictedVolumes, k.Value) {
				return true
			}
		}
	}
	for _, list := range []string{"containers", "initContainers", "ephemeralContainers"} {
		for _, c := range spec.Get(list).Items() {
			context := c.Get("securityContext")
			if unusual(context) || on(context, "privileged") || !context.Get("procMount").IsNull() || handlesHosts(c) {
				return true
			}
			if level == "restricted" && !restricted(pod, context) {
				return true
			}
			for _, port := range c.Get("ports").Items() {
				if n := port.Get("hostPort"); !n.IsNull() && n.Value != "0" {
					return true
				}
			}
			for _, add := range context.At("capabilities", "add").Items() {
				if !slices.Contains(baselineCapabilities, add.Text()) || level == "restricted" && add.Text() != "NET_BIND_SERVICE" {
					return true
				}
			}
		}
	}
	return false
}

// on reports whether a boolean field is, or may be, true.
func on(n *source.Node, field string) bool {
	v := n.Get(field)
	off, ok := v.Bool()
	return !v.IsNull() && (!ok || off)
}

// unusual reports whether a security context has fields that schedlint does not examine, or a
// seccomp or AppArmor profile other than RuntimeDefault and Localhost.
func unusual(context *source.Node) bool {
	if !context.Get("seLinuxOptions").IsNull() || !context.Get("windowsOptions").IsNull() {
		return true
	}
	for _, field := range []string{"seccompProfile", "appArmorProfile"} {
		if p := context.Get(field); !p.IsNull() && !slices.Contains(confined, p.Get("type").Text()) {
			return true
		}
	}
	return false
}

// restricted reports whether a container's security context definitely meets the requirements of
// the restricted level. Unset fields default to those of the pod's security context.
func restricted(pod, context *source.Node) bool {
	either := func(field string) *source.Node {
		if v := context.Get(field); !v.IsNull() {
			return v
		}
		return pod.Get(field)
	}
	escalates, said := context.Get("allowPrivilegeEscalation").Bool()
	nonRoot, _ := either("runAsNonRoot").Bool()
	for _, c := range []*source.Node{pod, context} {
		if user := c.Get("runAsUser"); !user.IsNull() {
			if n, ok := user.Int(); !ok || n == 0 {
				return false
			}
		}
	}
	drops := slices.ContainsFunc(context.At("capabilities", "drop").Items(), func(n *source.Node) bool { return n.Text() == "ALL" })
	return said && !escalates && nonRoot && drops && !either("seccompProfile").IsNull()
}

// handlesHosts reports whether any of a container's probes or lifecycle hooks sets a host.
func handlesHosts(container *source.Node) bool {
	for _, path := range [][]string{{"livenessProbe"}, {"readinessProbe"}, {"startupProbe"}, {"lifecycle", "postStart"}, {"lifecycle", "preStop"}} {
		for _, kind := range []string{"httpGet", "tcpSocket"} {
			if !container.At(append(slices.Clip(path), kind, "host")...).IsNull() {
				return true
			}
		}
	}
	return false
}
