package workload

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Enforce is the Namespace label that sets the Pod Security level of the pods in the namespace.
// The other label sets the version of Kubernetes whose checks count.
const (
	Enforce        = "pod-security.kubernetes.io/enforce"
	enforceVersion = Enforce + "-version"
)

// Values that the checks of Pod Security allow or forbid.
var (
	baselineCapabilities = strings.Fields("AUDIT_WRITE CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE SETFCAP SETGID SETPCAP SETUID SYS_CHROOT")
	restrictedVolumes    = strings.Fields(`awsElasticBlockStore azureDisk azureFile cephfs cinder fc flexVolume flocker gcePersistentDisk gitRepo
		glusterfs hostPath iscsi nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos vsphereVolume`)
	securityLevels = []string{"privileged", "baseline", "restricted"}
	seLinuxTypes   = []string{"", "container_t", "container_init_t", "container_kvm_t"}
	// safeSysctls maps each sysctl to the minor version that allows it first.
	safeSysctls = map[string]int{
		"kernel.shm_rmid_forced": 0, "net.ipv4.ip_local_port_range": 0, "net.ipv4.tcp_syncookies": 0, "net.ipv4.ping_group_range": 0,
		"net.ipv4.ip_unprivileged_port_start": 0, "net.ipv4.ip_local_reserved_ports": 27, "net.ipv4.tcp_keepalive_time": 29,
		"net.ipv4.tcp_fin_timeout": 29, "net.ipv4.tcp_keepalive_intvl": 29, "net.ipv4.tcp_keepalive_probes": 29, "net.ipv4.tcp_rmem": 32,
		"net.ipv4.tcp_wmem": 32, "net.ipv4.tcp_slow_start_after_idle": 37, "net.ipv4.tcp_notsent_lowat": 37,
	}
	// latestVersions lists the minor versions of Kubernetes that the cluster may have, and
	// checkVersions those that changed a check.
	latestVersions = []int{36, 37}
	checkVersions  = []int{0, 8, 19, 22, 23, 25, 27, 29, 31, 32, 34, 35, 37}
)

// podSecurity finds the workloads whose pods Pod Security rejects at the level that their Namespace
// enforces (R-P11). If it is not known whether it rejects them, it sets Admission.
func (l *loader) podSecurity() {
	if !slices.ContainsFunc(l.spaces.all, func(s spaced[*source.Object]) bool { return s.of.Root.At("metadata", "labels", Enforce) != nil }) {
		return
	}
	for _, w := range l.set.Workloads {
		ns, admitted := w.Object.Namespace, false
		var rejected []Problem
		var open *source.Object
		for _, o := range l.spaces.of(l, w.Object, ns) {
			if w.Running || w.Bare() && w.Object.Root.At("metadata", "uid") != nil {
				break // the pod has already been admitted
			}
			switch problems, verdict := w.secure(o); {
			case verdict == diag.Always:
				admitted = admitted || !source.Placeholder(o.Name)
			case verdict == diag.Never && ns != "" && !source.Placeholder(ns) && !source.Placeholder(o.Name): // R-W3
				rejected = problems
			default:
				open = o
			}
		}
		switch {
		case len(rejected) > 0 && open == nil && !admitted:
			w.Problems = append(w.Problems, rejected...)
		case len(rejected) > 0:
			open = cmp.Or(open, rejected[0].By)
			fallthrough
		case open != nil:
			w.Admission = fmt.Sprintf("Namespace %s (%s: %s)", open.Name, Enforce, open.Root.At("metadata", "labels", Enforce).Text())
		}
	}
}

// secure returns what Pod Security rejects in a workload's pods if they are in the given Namespace.
// The verdict says whether it admits them.
func (w *Workload) secure(space *source.Object) (problems []Problem, verdict diag.Outcome) {
	labels := space.Root.At("metadata", "labels")
	key, label := labels.Field(Enforce)
	levels, known := []string{label.Text()}, true
	switch level := label.Text(); {
	case key == nil || level == "privileged":
		return nil, diag.Always
	case w.Kind.VM, w.SpecNode == nil, w.Operator != "": // the operator sets the security context
		return nil, diag.Unknown
	case !slices.Contains(securityLevels, level): // a placeholder, or the API server rejects the Namespace
		levels, known = securityLevels[1:], false
	}
	versions := latestVersions
	if w.Kubernetes.Minor > 0 {
		versions = []int{w.Kubernetes.Minor}
	}
	if key, label := labels.Field(enforceVersion); key != nil && label.Text() != "latest" {
		if minor, ok := minorVersion(label.Text()); ok {
			versions = []int{min(minor, versions[0]), min(minor, versions[len(versions)-1])}
		} else {
			versions, known = checkVersions, known && label.Placeholder()
		}
	}
	found := map[diag.Outcome]bool{}
	for _, level := range levels {
		for _, minor := range versions {
			c := securityCheck{
				restricted: level == "restricted", minor: minor, where: " at the " + level + " level of Namespace " + space.Name,
				checker: checker{w: &Workload{Object: w.Object, Kind: w.Kind, from: w.from}, created: StagePods, by: space}, paths: map[string][]string{},
			}
			if w.Bare() {
				c.created = StageObject
			}
			c.template(&place{base: w.Kind.Template, value: w.TemplateNode})
			switch {
			case len(c.w.Problems) > 0:
				found[diag.Never], problems = true, c.w.Problems
			case c.maybe:
				found[diag.Unknown] = true
			default:
				found[diag.Always] = true
			}
		}
	}
	switch {
	case len(found) > 1 || found[diag.Never] && !known:
		return problems, diag.Unknown
	case found[diag.Never]:
		return problems, diag.Never
	case found[diag.Always]:
		return nil, diag.Always
	}
	return nil, diag.Unknown
}

// minorVersion returns x of a version v1.x.
func minorVersion(text string) (minor int, ok bool) {
	text, ok = strings.CutPrefix(text, "v1.")
	minor, err := strconv.Atoi(text)
	return minor, ok && err == nil && minor >= 0 && strconv.Itoa(minor) == text
}

// namespace checks the labels of a Namespace that Pod Security reads (R-P11).
func (c *checker) namespace(*place) {
	labels := c.metadata().field("labels")
	for _, mode := range []string{"audit", "enforce", "warn"} {
		if level := labels.field(strings.Replace(Enforce, "enforce", mode, 1)); !level.absent() {
			c.oneOf(StageObject, level, false, securityLevels)
		}
		version := labels.field(strings.Replace(enforceVersion, "enforce", mode, 1))
		if text, ok := version.text(); ok && !version.absent() && text != "latest" {
			if _, ok := minorVersion(text); !ok {
				c.refuse(StageObject, version, found(version, version.name)+": must be latest or v1.x, such as v1.36", "")
			}
		}
	}
}

// securityCheck evaluates the checks of Pod Security at one level and version
// (k8s.io/pod-security-admission/policy; R-P11). It reports each check once, at the first field that
// fails. That module itself would add 300 KB to the program.
type securityCheck struct {
	checker
	restricted bool
	minor      int
	// where is the end of all messages.
	where string
	// maybe is set if a field whose value is not known may fail a check.
	maybe bool
	// failed names the check of each problem. paths lists the fields that failed it.
	failed []string
	paths  map[string][]string
}

// template checks a pod template.
func (c *securityCheck) template(template *place) {
	spec := template.field("spec")
	users, os := spec.field("hostUsers"), c.field(spec, "os", "name")
	inHost, ok := users.value.Bool()
	if !users.absent() && !ok || os.value.Placeholder() {
		c.maybe = true // they lift some checks
		return
	}
	owned := c.minor >= 35 && !users.absent() && !inHost // the pod has its own user namespace
	windows := c.minor >= 25 && os.value.Text() == "windows"
	for _, name := range []string{"hostIPC", "hostNetwork", "hostPID"} {
		c.boolean(spec.field(name), name, false)
	}
	c.volumes(spec)
	pod := c.field(spec, "securityContext")
	for _, sysctl := range c.items(c.field(pod, "sysctls")) {
		name := c.field(sysctl, "name")
		c.value(name, "sysctl", "be a safe sysctl", func(n *source.Node) bool {
			since, safe := safeSysctls[n.Value]
			return safe && c.minor >= since
		})
	}
	c.annotations(template, spec)
	c.context(pod, owned, windows)
	for _, list := range []string{"initContainers", "containers", "ephemeralContainers"} {
		for _, container := range c.items(spec.field(list)) {
			own := c.field(container, "securityContext")
			c.context(own, owned, windows)
			c.boolean(c.field(own, "privileged"), "privileged", false)
			if !owned || c.restricted {
				c.word(c.field(own, "procMount"), "procMount", "be Default", "Default")
			}
			for _, port := range c.items(c.field(container, "ports")) {
				if p := c.field(port, "hostPort"); !p.absent() {
					n, ok := p.value.Int()
					c.judge(p, "hostPort", "not be set", ok, n == 0)
				}
			}
			c.capabilities(c.field(own, "capabilities"), windows)
			if c.minor >= 34 {
				for _, by := range [][]string{{"livenessProbe"}, {"readinessProbe"}, {"startupProbe"}, {"lifecycle", "postStart"}, {"lifecycle", "preStop"}} {
					for _, how := range []string{"httpGet", "tcpSocket"} {
						c.word(c.field(c.field(container, by...), how, "host"), "host", "be empty", "")
					}
				}
			}
			if !c.restricted {
				continue
			}
			if p := own.field("allowPrivilegeEscalation"); c.minor >= 8 && !windows {
				c.require("be false", "add allowPrivilegeEscalation: false", p)
				c.boolean(p, p.name, false)
			}
			if !owned {
				c.require("be true", "add runAsNonRoot: true", pod.field("runAsNonRoot"), own.field("runAsNonRoot"))
			}
			if c.minor >= 19 && !windows {
				c.require("have type RuntimeDefault or Localhost", "add seccompProfile: {type: RuntimeDefault}", pod.field("seccompProfile"), own.field("seccompProfile"))
			}
		}
	}
	for i, noun := range c.failed {
		if n := len(c.paths[noun]); n > 1 {
			c.w.Problems[i].Message += fmt.Sprintf(" (first of %d)", n)
		}
	}
}

// context checks the fields that the security contexts of pods and containers share.
func (c *securityCheck) context(p *place, owned, windows bool) {
	c.profile(c.field(p, "appArmorProfile"))
	if c.minor >= 19 && !(c.restricted && windows) {
		c.profile(p.field("seccompProfile"))
	}
	types := seLinuxTypes
	if c.minor >= 31 {
		types = append(slices.Clip(types), "container_engine_t")
	}
	options := p.field("seLinuxOptions")
	c.word(c.field(options, "type"), "seLinuxOptions.type", "be "+anyOf(slices.Concat(types[1:], []string{"empty"})), types...)
	c.word(options.field("role"), "seLinuxOptions.role", "not be set", "")
	c.word(options.field("user"), "seLinuxOptions.user", "not be set", "")
	c.boolean(c.field(p, "windowsOptions", "hostProcess"), "windowsOptions.hostProcess", false)
	if !c.restricted || owned {
		return
	}
	c.boolean(p.field("runAsNonRoot"), "runAsNonRoot", true)
	if user := p.field("runAsUser"); c.minor >= 23 && !user.absent() {
		n, ok := user.value.Int()
		c.judge(user, "runAsUser", "not be 0", ok, n != 0)
	}
}

// profile checks a seccomp or AppArmor profile.
func (c *securityCheck) profile(p *place) {
	if kind := c.field(p, "type"); !p.absent() {
		const must = "be RuntimeDefault or Localhost"
		c.require(must, "", kind)
		c.word(kind, p.name+".type", must, "RuntimeDefault", "Localhost")
	}
}

// capabilities checks which capabilities a container adds and drops.
func (c *securityCheck) capabilities(p *place, windows bool) {
	allowed, drops := baselineCapabilities, c.field(p, "drop")
	if c.restricted && c.minor >= 22 {
		if windows {
			return
		}
		allowed = []string{"NET_BIND_SERVICE"}
		if all := drops.value.Items(); !slices.ContainsFunc(all, func(d *source.Node) bool { return d.Text() == "ALL" }) {
			if unclear(drops) || drops.brokenList() || slices.ContainsFunc(all, func(d *source.Node) bool { return !capability(d) }) {
				c.maybe = true
			} else {
				c.fail(drops, "drop", "capabilities.drop does not include ALL", "drop ALL", "add capabilities: {drop: [ALL]}")
			}
		}
	}
	for _, added := range c.items(c.field(p, "add")) {
		c.judge(added, "added capability", "be "+anyOf(allowed), capability(added.value), slices.Contains(allowed, added.value.Text()))
	}
}

// capability reports whether a value is a name. Those of capabilities look like placeholders.
func capability(n *source.Node) bool {
	return n.Text() != "" && !source.Placeholder(strings.ToLower(n.Text()))
}

// volumes checks the volumes of a pod. A volume without a source is an emptyDir
// (pkg/apis/core/v1/defaults.go). The claims of a StatefulSet replace volumes with the same name
// (pkg/controller/statefulset/stateful_set_utils.go).
func (c *securityCheck) volumes(spec *place) {
	forbidden := []string{"hostPath"}
	if c.restricted {
		forbidden = restrictedVolumes
	}
	claims := c.w.Object.Root.At("spec", "volumeClaimTemplates").Items()
	for _, volume := range c.items(spec.field("volumes")) {
		if slices.ContainsFunc(claims, func(claim *source.Node) bool {
			return claim.At("metadata", "name").Text() == volume.value.Get("name").Text()
		}) {
			continue
		}
		for _, name := range forbidden {
			if p := c.field(volume, name); !p.absent() {
				c.fail(p, "volumes", name+" is set", "not be set", "")
			}
		}
	}
}

// annotations checks the annotations that used to set profiles.
func (c *securityCheck) annotations(template, spec *place) {
	all := c.field(template, "metadata", "annotations")
	c.maybe = c.maybe || opaque(all)
	profile := func(key string, k, v *source.Node, allowed ...string) {
		c.value(all.entry(k, v), key, "be "+anyOf(slices.Concat(allowed, []string{"localhost/..."})), func(n *source.Node) bool {
			return slices.Contains(allowed, n.Value) || strings.HasPrefix(n.Value, "localhost/")
		})
	}
	for k, v := range all.value.Fields() {
		if strings.HasPrefix(k.Value, "container.apparmor.security.beta.kubernetes.io/") && v.Value != "" {
			profile("AppArmor annotation", k, v, "runtime/default")
		}
		if name, of := strings.CutPrefix(k.Value, "container.seccomp.security.alpha.kubernetes.io/"); c.minor < 19 &&
			(k.Value == "seccomp.security.alpha.kubernetes.io/pod" || of && slices.ContainsFunc(slices.Concat(spec.value.Get("containers").Items(),
				spec.value.Get("initContainers").Items()), func(n *source.Node) bool { return n.Get("name").Text() == name })) {
			profile("seccomp annotation", k, v, "runtime/default", "docker/default")
		}
	}
}

// field returns the place at the end of a path. Where it is not known what a map contains, a check
// may fail.
func (c *securityCheck) field(p *place, path ...string) *place {
	for _, name := range path {
		c.maybe = c.maybe || opaque(p)
		p = p.field(name)
	}
	return p
}

// opaque reports whether it is not known what a map contains.
func opaque(p *place) bool {
	for k := range p.value.Fields() {
		if k.Placeholder() {
			return true
		}
	}
	return p.broken()
}

// items returns the items of a list.
func (c *securityCheck) items(p *place) (all []*place) {
	c.maybe = c.maybe || p.brokenList()
	for i, n := range p.value.Items() {
		all = append(all, p.item(i, n))
	}
	return all
}

func (c *securityCheck) boolean(p *place, noun string, want bool) {
	if !p.absent() {
		is, ok := p.value.Bool()
		c.judge(p, noun, "be "+strconv.FormatBool(want), ok, is == want)
	}
}

func (c *securityCheck) word(p *place, noun, must string, allowed ...string) {
	c.value(p, noun, must, func(n *source.Node) bool { return slices.Contains(allowed, n.Value) })
}

// value checks a string, if it is set.
func (c *securityCheck) value(p *place, noun, must string, fine func(*source.Node) bool) {
	if !p.absent() {
		_, ok := p.text()
		c.judge(p, noun, must, ok, fine(p.value))
	}
}

// require checks that one of several places has a value.
func (c *securityCheck) require(must, fix string, places ...*place) {
	if slices.ContainsFunc(places, func(p *place) bool { return !p.absent() }) {
		return
	}
	if slices.ContainsFunc(places, unclear) {
		c.maybe = true
		return
	}
	c.fail(places[0], places[0].name, places[0].name+" is missing", must, fix)
}

// unclear reports whether it is not known if a place has a value.
func unclear(p *place) bool {
	return p.up != nil && (p.name != "" && opaque(p.up) || unclear(p.up))
}

// judge records whether a value passes a check. known is false if it is a placeholder or has the
// wrong type.
func (c *securityCheck) judge(p *place, noun, must string, known, fine bool) {
	if !known {
		c.maybe = true
	} else if !fine {
		c.fail(p, noun, found(p, noun), must, "")
	}
}

// fail records that a field fails a check.
func (c *securityCheck) fail(p *place, noun, what, must, fix string) {
	path := p.path()
	if slices.Contains(c.paths[noun], path) {
		return
	}
	if c.paths[noun] = append(c.paths[noun], path); len(c.paths[noun]) == 1 {
		c.failed = append(c.failed, noun)
		c.refuse(c.created, p, what+": must "+must+c.where, fix)
	}
}
