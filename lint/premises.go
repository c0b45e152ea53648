package lint

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/workload"
)

// premises collects the assumptions behind answers: about volumes whose location constraints are
// unknown, and about classes that are not declared.
type premises struct {
	// classes maps what is not known, such as a StorageClass, to the name of the class, or to "" if
	// no class is known.
	classes map[string]string
	// cloud holds what is assumed to be disks of one zone because of the cloud.
	cloud map[string]bool
	// sized holds the classes for whose new volumes the storage is assumed to have room (R-N48).
	sized map[string]bool
	// absent holds the names of the PriorityClasses and RuntimeClasses that are assumed to exist, by
	// kind.
	absent map[string]map[string]bool
	// missing is set if some answer depends on what storage: in the configuration can say.
	missing bool
}

// assume records what answers about the workloads of a context assume.
func (p *premises) assume(m *model.Model) {
	if m.Topology.Empty() {
		return
	}
	for _, w := range m.Workloads {
		if w.Refused() || w.Count.Known && model.Certain(w) == 0 && w.Scale == nil && !w.Kind.PerNode() {
			continue
		}
		answered := model.Modelled(m.Group(w)) && !w.Running
		if answered && w.Priority.Declared == diag.Never {
			p.absent["PriorityClass"][w.Spec.PriorityClassName] = true
		}
		if answered && w.OpenClass() {
			p.absent["RuntimeClass"][w.Spec.RuntimeClassName] = true
		}
		for _, c := range w.Claims {
			if c.TracksCapacity {
				p.sized[c.Class] = true
			}
			if open := cmp.Or(c.Open, c.Assumed); open != "" {
				p.classes[open] = c.Class
				p.cloud[open] = p.cloud[open] || c.Assumed != ""
			}
		}
	}
}

// miss records that an answer depends on something. It reports whether storage: in the configuration
// can say it.
func (p *premises) miss(open string) bool {
	can := p.classes[open] != "" || open == workload.OpenDefault
	p.missing = p.missing || can
	return can
}

// notes returns the premises as notes.
func (p *premises) notes() (all []string) {
	for _, cloud := range []bool{false, true} {
		of := slices.DeleteFunc(sorting.Keys(p.classes), func(open string) bool { return p.cloud[open] != cloud })
		if len(of) == 0 {
			continue
		}
		are, not := "is", "declared"
		for i, open := range of {
			if name, is := strings.CutSuffix(open, workload.Undeclared); is {
				of[i] = name
			} else {
				of[i], _, _ = strings.Cut(open, ",")
				not = "known"
			}
		}
		if len(of) > 1 {
			are = "are"
		}
		assumed := "not to be local to a node"
		if cloud {
			assumed = "to be disks of one zone, as on EKS, GKE and AKS"
		}
		all = append(all, "volumes of "+enumerated(of)+", which "+are+" not "+not+", are assumed "+assumed)
	}
	switch last := len(all) - 1; {
	case p.missing:
		all = append(all, "some answers depend on storage classes: declare them, or say where their volumes can be used (node, zone, zones-2, region or free) and how they are attached (single-node or free) in .schedlint.yaml: "+p.block())
	case last >= 0:
		all[last] += "; declare them, or say what they are with storage: in .schedlint.yaml"
	}
	if sized := sorting.Keys(p.sized); len(sized) > 0 {
		all = append(all, "the free space for new volumes of StorageClass "+enumerated(sized)+" is not declared; it is assumed to be large enough")
	}
	for _, kind := range [][2]string{{"PriorityClass", "to exist"}, {"RuntimeClass", "to exist and to add nothing to pods"}} {
		if names := sorting.Keys(p.absent[kind[0]]); len(names) > 0 {
			all = append(all, "no manifest declares "+kind[0]+" "+enumerated(names)+": assumed "+kind[1])
		}
	}
	return all
}

// enumerated lists up to three names, and the number of the others.
func enumerated(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		names = append(slices.Clone(names[:most]), strconv.Itoa(more)+" more")
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// plainName matches names that need no quotes in YAML.
var plainName = lazy.Regexp(`^[a-z][-a-z0-9.]*[a-z0-9]$`)

// block returns the configuration that says where the volumes of all classes can be used.
func (p *premises) block() string {
	var classes []string
	standard := ""
	for open, name := range p.classes {
		switch {
		case open == workload.OpenDefault:
			name, standard = "standard", "default: standard, "
		case name == "":
			continue
		case !plainName().MatchString(name):
			name = strconv.Quote(name)
		}
		classes = append(classes, name+": {pinned: zone, attach: single-node}")
	}
	slices.Sort(classes)
	return "storage: {" + standard + "classes: {" + strings.Join(slices.Compact(classes), ", ") + "}}"
}
