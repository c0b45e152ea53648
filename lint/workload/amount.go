package workload

import (
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/schedlint/schedlint/lint/source"
)

// scaled returns an absolute number, or a percentage of a number of pods, rounded up or down; 0 for
// values that the API server refuses.
func scaled(v *intstr.IntOrString, pods int, up bool) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(v, pods, up)
	if err != nil {
		return 0
	}
	return max(0, min(n, math.MaxInt32))
}

// amountOf reads a number or a percentage; ok is false for anything else.
func amountOf(n *source.Node) (v intstr.IntOrString, ok bool) {
	if i, whole := n.Int(); whole {
		return intstr.FromInt32(int32(min(max(i, 0), math.MaxInt32))), true
	}
	v = intstr.FromString(n.Text())
	_, err := intstr.GetScaledValueFromIntOrPercent(&v, 100, true)
	return v, err == nil
}
