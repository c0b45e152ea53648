package bound

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Sums formats the requested and the offered amount for people: CPUs as a
// decimal, memory in GiB, unless both would then read the same.
func (s *Shortage) Sums() (requested, offered string) {
	requested, offered = readable(s.Resource, s.Requested), readable(s.Resource, s.Offered)
	if requested == offered {
		return s.Requested.String(), s.Offered.String()
	}
	return requested, offered
}

const gib = 1 << 30

// readable formats one quantity. It uses integers, so that no sum of CPUs reads
// 25.150000000000002.
func readable(name corev1.ResourceName, q resource.Quantity) string {
	switch {
	case name == corev1.ResourceCPU:
		return decimal(q)
	case q.Format == resource.BinarySI && q.Value() >= gib:
		tenths := q.Value()/gib*10 + (q.Value()%gib*10+gib/2)/gib
		return strings.TrimSuffix(strconv.FormatInt(tenths/10, 10)+"."+strconv.FormatInt(tenths%10, 10), ".0") + "Gi"
	}
	return q.String()
}

// decimal formats a quantity exactly, without a suffix.
func decimal(q resource.Quantity) string {
	q = q.DeepCopy() // AsDec changes it
	text := q.AsDec().String()
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}
