package workload

// selects lists the annotations of a Namespace from which an admission plugin may add a node selector
// to pods. PodNodeSelector is off by default; the other plugin is one of OpenShift.
var selects = []string{"openshift.io/node-selector", "scheduler.alpha.kubernetes.io/node-selector"}

// nodeSelectors sets Admission of the workloads to whose pods a plugin may add the node selector of
// their Namespace (R-P15).
func (l *loader) nodeSelectors() {
	var adding bySpace[string]
	for _, o := range l.spaces.all {
		for _, key := range selects {
			if text := o.Root.At("metadata", "annotations", key).Text(); text != "" {
				adding.add(o.Name, "Namespace "+o.Name+" ("+key+": "+text+")")
			}
		}
	}
	if len(adding.all) == 0 {
		return
	}
	for _, w := range l.set.Workloads {
		if by := adding.of(w.Object.Namespace); len(by) > 0 && !w.Running && w.Admission == "" {
			w.Admission = by[0]
		}
	}
}
