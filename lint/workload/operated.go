package workload

import (
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// Operates reports whether pods may exist in a namespace that no workload of
// the set stands for, because some operator makes them out of an object that
// schedlint does not know, or because a template is known in part only. Then it
// is not certain that a selector matches no pod. An object without a namespace,
// which may be cluster-wide, puts its pods anywhere, and one in a namespace
// that is left open may be in the namespace of any object.
func (s *Set) Operates(namespace string) bool {
	return s.Operated[namespace] || s.Operated[""] || namespace == "" && len(s.Operated) > 0
}

// installers are kinds that stand for manifests which are somewhere else, and
// whose objects go to other namespaces than their own.
var installers = map[string]bool{
	"App": true, "Application": true, "ApplicationSet": true, "Bundle": true, "ClusterServiceVersion": true, "GitRepo": true, "HelmChart": true,
	"HelmRelease": true, "Kustomization": true, "PackageInstall": true, "Subscription": true,
}

// operated notes that pods may come of an object.
func (l *loader) operated(o *source.Object) {
	switch {
	case strings.HasSuffix(o.Kind, "List"): // one without items
	case installers[o.Kind]:
		l.set.Operated[""] = true
	default:
		l.set.Operated[o.Namespace] = true
	}
}
