package workload

import (
	"fmt"
)

var preemptions = []string{"PreemptLowerPriority", "Never"}

// names checks fields that contain one name (R-V2, R-V19), and the names of containers.
func (c podChecker) names(spec *place) {
	c.containerNames(spec)
	node := spec.field("nodeName")
	if s, _ := node.text(); s != "" {
		c.form(StageObject, &node, "", subdomain)
	}
	if runtime := spec.field("runtimeClassName"); !runtime.absent() {
		c.form(StageObject, &runtime, "", subdomain)
	}
	if policy := spec.field("preemptionPolicy"); !policy.absent() {
		c.oneOf(StageObject, &policy, false, preemptions)
	}
}

// containerNames checks that each container has a unique name, including init containers
// (validateContainerCommon, validateInitContainers).
func (c podChecker) containerNames(spec *place) {
	seen := map[string]bool{}
	for _, list := range []string{"containers", "initContainers"} {
		containers := spec.field(list)
		for i := range containers.len() {
			container := containers.item(i)
			name := container.field("name")
			s, ok := name.text()
			switch {
			case container.broken() || !ok:
			case s == "":
				c.refuse(StageObject, &name, "the container has no name", "give it a name")
			case c.named(&name, dnsLabel, false) && seen[s]:
				c.refuse(StageObject, &name, fmt.Sprintf("duplicate container name %q", s), "rename one of them")
			}
			seen[s] = true
		}
	}
}

// gates checks schedulingGates (R-V18), and that the pod has no node yet (R-V2), which only the
// creation of the pod reveals.
func (c podChecker) gates(spec *place) {
	gates, node := spec.field("schedulingGates"), spec.field("nodeName")
	if s, _ := node.text(); s != "" && gates.len() > 0 {
		c.refuse(c.created, &node, fmt.Sprintf("nodeName is %q: cannot be set until all schedulingGates are removed", s), "remove nodeName")
	}
	seen := map[string]bool{}
	for i := range gates.len() {
		gate := gates.item(i)
		name := gate.field("name")
		s, ok := name.text()
		if gate.broken() || !ok {
			continue
		}
		if c.form(StageObject, &name, "", labelKey) && seen[s] {
			c.refuse(StageObject, &name, fmt.Sprintf("duplicate scheduling gate %q", s), "remove one of them")
		}
		seen[s] = true
	}
}

var protocols = []string{"TCP", "UDP", "SCTP"}

// hostPort is a port that a container takes on its node.
type hostPort struct {
	protocol, ip string
	port         int64
	// container is the name of its container; declared is false if only hostNetwork makes it a host
	// port.
	container string
	declared  bool
}

// ports checks the ports of containers (R-V20). Containers run together, so their host ports must
// differ; init containers are checked one by one.
func (c podChecker) ports(spec *place) {
	taken := map[socket]hostPort{}
	containers, inits := spec.field("containers"), spec.field("initContainers")
	for i := range containers.len() {
		container := containers.item(i)
		c.containerPorts(&container, taken, c.w.Spec.HostNetwork)
	}
	for i := range inits.len() {
		container := inits.item(i)
		c.containerPorts(&container, map[socket]hostPort{}, false)
	}
}

// containerPorts adds the host ports of one container to those taken. Under hostNetwork, the host
// ports of a regular container must equal its container ports.
func (c podChecker) containerPorts(container *place, taken map[socket]hostPort, equal bool) {
	ports, name := container.field("ports"), container.field("name")
	owner, _ := name.text()
	for i := range ports.len() {
		port := ports.item(i)
		if port.broken() {
			continue
		}
		want, ok := c.hostPort(&port, equal)
		if !ok {
			continue
		}
		want.container = owner
		at := socket{want.protocol, want.ip, want.port}
		if t, both := taken[at]; both {
			c.refuseTakenPort(&port, want, t)
		} else {
			taken[at] = want
		}
	}
}

// socket identifies a port that only one port of a pod may take.
type socket struct {
	protocol, ip string
	port         int64
}

// hostPort checks one port by itself; ok is false if it takes no known port of the host. With
// hostNetwork every port without hostPort gets its containerPort (R-P3).
func (c podChecker) hostPort(port *place, equal bool) (h hostPort, ok bool) {
	host, inner := port.field("hostPort"), port.field("containerPort")
	protocol, ip := port.field("protocol"), port.field("hostIP")
	hostValid, innerValid := c.portNumber(&host, true), c.portNumber(&inner, false)
	h.protocol, ok = c.oneOf(StageObject, &protocol, true, protocols)
	if h.protocol == "" {
		h.protocol = "TCP"
	}
	var known bool
	h.ip, known = ip.text()
	h.port, _ = host.number()
	h.declared = h.port != 0
	n, _ := inner.number()
	switch {
	case !hostValid || !innerValid:
		return h, false
	case equal && h.declared && h.port != n:
		c.refuse(StageObject, &host, fmt.Sprintf("hostPort is %d and containerPort is %d: must match when hostNetwork is true", h.port, n), "remove hostPort")
	case c.w.Spec.HostNetwork && !h.declared:
		h.port = n
	}
	return h, ok && known && h.port != 0
}

// portNumber checks the number of a port; optional ports may be 0.
func (c podChecker) portNumber(p *place, optional bool) bool {
	n, ok := p.number()
	switch {
	case !ok || n == 0 && optional:
		return ok
	case n < 1 || n > 65535:
		c.refuse(StageObject, p, found(p, p.name)+": must be between 1 and 65535", "")
		return false
	}
	return true
}

// refuseTakenPort reports a host port that is used twice.
func (c podChecker) refuseTakenPort(port *place, want, by hostPort) {
	stage, at := StageObject, port.field("hostPort")
	if !want.declared {
		at = port.field("containerPort")
	}
	if !want.declared || !by.declared {
		stage = c.created
	}
	message := fmt.Sprintf("host port %d/%s is taken by container %q already", want.port, want.protocol, by.container)
	if !want.declared {
		message += " (hostNetwork makes every containerPort a host port)"
	}
	c.refuse(stage, &at, message, "")
}
