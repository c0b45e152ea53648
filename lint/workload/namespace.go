package workload

import (
	"maps"
	"strings"

	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
)

// podNodeSelector is the annotation of the plugin PodNodeSelector.
const podNodeSelector = "scheduler.alpha.kubernetes.io/node-selector"

// selects lists the annotations of a Namespace from which an admission plugin may add a node selector
// to pods. PodNodeSelector is off by default; the other plugin is one of OpenShift.
var selects = []string{"openshift.io/node-selector", podNodeSelector}

// nodeSelectors adds the node selectors of Namespaces to pods if the plugin PodNodeSelector is on. If it
// is not known whether it is, or what a plugin adds, it sets Admission (R-P15).
func (l *loader) nodeSelectors() {
	var adding bySpace[string]
	declared := map[string]int{}
	own := map[string]*source.Object{}
	for _, s := range l.spaces.all {
		o := s.x
		declared[o.Name]++
		for _, key := range selects {
			if text := o.Root.At("metadata", "annotations", key).Text(); text != "" {
				if adding.add(o, o.Name, "Namespace "+o.Name+" ("+key+": "+text+")"); key == podNodeSelector {
					own[o.Name] = o
				}
			}
		}
	}
	if len(adding.all) == 0 && !l.PodNodeSelector {
		return
	}
	for _, w := range l.set.Workloads {
		by, ns := adding.of(l, w.Object, w.Object.Namespace), w.Object.Namespace
		switch {
		case w.Running || w.Bare() && w.Object.Root.At("metadata", "uid") != nil || w.Admission != "":
		case len(by) == 1 && own[ns] != nil && declared[ns] == 1 && l.PodNodeSelector && (l.Apart == nil || !l.Apart(own[ns], w.Object)) && w.selectFrom(own[ns]):
		case len(by) > 0:
			w.Admission = by[0]
		case l.PodNodeSelector && declared[ns] == 0:
			w.Admission = "the plugin PodNodeSelector" // for an annotation of a Namespace that is not declared
		}
	}
}

// selectFrom adds the node selector of a Namespace to the pods. It returns false if it is not known what
// the plugin adds.
func (w *Workload) selectFrom(space *source.Object) bool {
	selector := map[string]string{}
	for _, pair := range strings.Split(space.Root.At("metadata", "annotations", podNodeSelector).Text(), ",") {
		key, value, is := strings.Cut(pair, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if !is || !labelKey.fits(key) || !labelValue.fits(value) { // a placeholder, or the plugin rejects every pod
			return false
		}
		selector[key] = value
	}
	if w.Kind.PerNode() || w.Kind.VM || w.SpecNode == nil || len(w.Open) > 0 {
		return false
	}
	c, at := checker{w: w, by: space}, (&place{base: w.Kind.Template, value: w.TemplateNode}).field("spec").field("nodeSelector")
	for _, key := range sorting.Keys(w.Spec.NodeSelector) {
		if value, both := selector[key]; both && value != w.Spec.NodeSelector[key] {
			c.refuse(StagePods, at.field(key), key+"="+w.Spec.NodeSelector[key]+" contradicts the node selector "+key+"="+value+" of Namespace "+space.Name, "")
		}
	}
	maps.Copy(selector, w.Spec.NodeSelector)
	w.Spec.NodeSelector, w.Adds = selector, append(w.Adds, space)
	return true
}
