package workload

import (
	"strings"

	"github.com/schedlint/schedlint/lint/source"
)

// Operates reports whether a namespace may have pods that no workload of the set creates, because
// an operator creates them from an object that schedlint does not know, or because a template is
// only partly known. A selector then does not certainly match no pod. An object without a namespace
// may be cluster-wide and puts its pods anywhere. A namespace that is left open may be the
// namespace of any object.
func (s *Set) Operates(namespace string) bool {
	return s.Operated[namespace] || s.Operated[""] || namespace == "" && len(s.Operated) > 0
}

// installers are kinds that refer to manifests elsewhere, and whose objects may go to other
// namespaces than their own.
var installers = map[string]bool{
	"App": true, "Application": true, "ApplicationSet": true, "Bundle": true, "ClusterServiceVersion": true, "GitRepo": true, "HelmChart": true,
	"HelmRelease": true, "Kustomization": true, "PackageInstall": true, "Subscription": true,
}

// pointers are the installers that mostly refer to manifests of the same tree, not to third-party
// charts.
var pointers = map[string]bool{"App": true, "Application": true, "ApplicationSet": true, "Bundle": true, "GitRepo": true, "Kustomization": true}

// Maker returns a custom resource whose operator may create pods with a label: the value of the
// label is the name of the resource or its kind in lower case, or the domain of the key is that of
// its API group, as cnpg.io/cluster for postgresql.cnpg.io. It returns nil if there is none in the
// namespace; a resource or a label without a namespace may be in any.
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

// sameDomain reports whether the prefix of a label key and an API group are the same domain, or one
// is below the other. Kubernetes' own domains do not count.
func sameDomain(key, group string) bool {
	prefix, _, ok := strings.Cut(key, "/")
	if !ok || strings.HasSuffix(prefix, "kubernetes.io") || strings.HasSuffix(prefix, "k8s.io") || !strings.Contains(group, ".") {
		return false
	}
	return prefix == group || strings.HasSuffix(prefix, "."+group) || strings.HasSuffix(group, "."+prefix)
}

// recordOperated records that pods may be created from an object.
func (l *loader) recordOperated(o *source.Object) {
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
