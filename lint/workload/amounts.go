package workload

import (
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Amounts formats amounts of one resource for one sentence: exactly, and all in the same unit. It
// takes the unit with the shortest texts in which the largest amount is at least 1. Memory is in Gi,
// Mi and so on, or in G, M and so on if all amounts are written that way or the texts are shorter.
// CPU is in cores, or in millicores if all amounts are less than a core.
func Amounts(name corev1.ResourceName, amounts ...resource.Quantity) []string {
	exact, most, binary := make([]*big.Rat, len(amounts)), new(big.Rat), false
	for i, q := range amounts {
		exact[i] = rational(q)
		binary = binary || q.Format == resource.BinarySI
		if exact[i].Cmp(most) > 0 {
			most = exact[i]
		}
	}
	var best []string
	for _, unit := range unitsOf(name, binary) {
		factor := rational(resource.MustParse("1" + unit))
		texts, ok := inUnit(exact, factor, unit)
		if ok && most.Cmp(factor) >= 0 && (best == nil || len(strings.Join(texts, "")) < len(strings.Join(best, ""))) {
			best = texts
		}
	}
	if best == nil {
		best, _ = inUnit(exact, big.NewRat(1, 1), "")
	}
	return best
}

// unitsOf returns the suffixes that people use for a resource, in the order of preference.
func unitsOf(name corev1.ResourceName, binary bool) []string {
	powers, tens := []string{"Ei", "Pi", "Ti", "Gi", "Mi", "Ki"}, []string{"E", "P", "T", "G", "M", "k"}
	switch {
	case name == corev1.ResourceCPU:
		return []string{"", "m"}
	case binary:
		return slices.Concat(powers, tens)
	case name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage, hugePage(string(name)):
		return slices.Concat(tens, powers)
	}
	return nil // devices, pods and so on are counted
}

// rational returns the exact value of a quantity.
func rational(q resource.Quantity) *big.Rat {
	q = q.DeepCopy() // AsDec changes its receiver
	exact, _ := new(big.Rat).SetString(q.AsDec().String())
	return exact
}

// maxDecimals is the maximum number of decimals of a quantity.
const maxDecimals = 9

// inUnit writes amounts in a unit. The result ok is false if they need too many decimals.
func inUnit(amounts []*big.Rat, factor *big.Rat, unit string) (texts []string, ok bool) {
	ok = true
	for _, a := range amounts {
		a = new(big.Rat).Quo(a, factor)
		text := a.FloatString(maxDecimals)
		back, _ := new(big.Rat).SetString(text)
		texts, ok = append(texts, strings.TrimSuffix(strings.TrimRight(text, "0"), ".")+unit), ok && back.Cmp(a) == 0
	}
	return texts, ok
}
