package workload

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// sharedLists holds one copy of each resource list. Few lists of a run differ, and a map of two
// quantities takes 600 bytes.
type sharedLists map[listKey]corev1.ResourceList

// listKey is a short list in the order of the names.
type listKey [4]listed

type listed struct {
	name   corev1.ResourceName
	amount resource.Quantity
}

// share replaces each list with the equal one that is already known.
func (s sharedLists) share(spec *PodSpec) {
	for _, list := range [...][]Container{spec.Containers, spec.InitContainers} {
		for i := range list {
			s.canonicalize(&list[i].Resources.Requests)
			s.canonicalize(&list[i].Resources.Limits)
		}
	}
}

func (s sharedLists) canonicalize(list *corev1.ResourceList) {
	var key listKey
	if len(*list) == 0 || len(*list) > len(key) {
		return
	}
	i := 0
	for name, amount := range *list {
		key[i].name, key[i].amount = name, amount
		i++
	}
	slices.SortFunc(key[:i], func(a, b listed) int { return cmp.Compare(a.name, b.name) })
	if same, ok := s[key]; ok {
		*list = same
	} else {
		s[key] = *list
	}
}
