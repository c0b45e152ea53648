package workload

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/schedlint/schedlint/lint/source"
)

// scaled is a number, or a percentage of a number of pods that is rounded up or
// down. What the API server refuses is 0.
func scaled(v *intstr.IntOrString, pods int, up bool) int {
	n, err := intstr.GetScaledValueFromIntOrPercent(v, pods, up)
	if err != nil {
		return 0
	}
	return max(0, min(n, math.MaxInt32))
}

// amountText tells how a number comes about, as in maxSurge 25% of 3 rounds up
// to 1; a number that is given as it is reads maxSurge 1.
func amountText(name string, v *intstr.IntOrString, pods int, up bool) string {
	if v.Type == intstr.Int {
		return fmt.Sprintf("%s %d", name, v.IntVal)
	}
	word, n := "rounds down to", scaled(v, pods, up)
	switch {
	case n == scaled(v, pods, !up):
		word = "is"
	case up:
		word = "rounds up to"
	}
	return fmt.Sprintf("%s %s of %d %s %d", name, v.StrVal, pods, word, n)
}

// podsText counts pods in words.
func podsText(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
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
