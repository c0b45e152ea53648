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

// pointers are the installers that mostly stand for manifests of the same tree:
// what they install is no chart of somebody else's.
var pointers = map[string]bool{"App": true, "Application": true, "ApplicationSet": true, "Bundle": true, "GitRepo": true, "Kustomization": true}

// Maker finds a custom resource whose operator may make pods that carry a label:
// the label's value is the name of the resource or its kind in lower case, or the
// domain of the label's key is that of its API group, as cnpg.io/cluster is for
// postgresql.cnpg.io. Nil if there is none in the namespace; what names no
// namespace may be in any.
func (s *Set) Maker(namespace, key, value string) *source.Object {
	for _, o := range s.Customs {
		if o.Namespace != namespace && o.Namespace != "" && namespace != "" && !installers[o.Kind] {
			continue
		}
		if value != "" && (value == o.Name || value == strings.ToLower(o.Kind)) || sameDomain(key, o.Group()) {
			return o
		}
	}
	return nil
}

// sameDomain reports whether the prefix of a label key and an API group are one
// domain, or one is below the other. Kubernetes' own domains belong to nobody.
func sameDomain(key, group string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok || strings.HasSuffix(prefix, "kubernetes.io") || strings.HasSuffix(prefix, "k8s.io") || !strings.Contains(group, ".") {
		return false
	}
	return prefix == group || strings.HasSuffix(prefix, "."+group) || strings.HasSuffix(group, "."+prefix)
}

// operated notes that pods may come of an object.
func (l *loader) operated(o *source.Object) {
	if l.table.Find(o.APIVersion, o.Kind) == nil && strings.Contains(o.Group(), ".") && !pointers[o.Kind] && !strings.HasSuffix(o.Kind, "List") {
		l.set.Customs = append(l.set.Customs, o)
	}
	switch {
	case strings.HasSuffix(o.Kind, "List"): // one without items
	case installers[o.Kind]:
		l.set.Operated[""] = true
	default:
		l.set.Operated[o.Namespace] = true
	}
}
