package simulate

import "math"

// All arithmetic with floating-point numbers is in this file. Each product is converted, because a
// compiler may otherwise fuse it with a sum and round only once, on some machines only.
// TestNoFusedProducts compiles this file for such machines.

// evenness is the score of NodeResourcesBalancedAllocation before it is compared with that of the
// node without the pod. It is lower the more the requested shares of CPU and memory differ (R-B6).
func evenness(requested, has amounts) int64 {
	if has.cpu == 0 || has.memory == 0 {
		return mostScore
	}
	cpu := min(1, float64(requested.cpu)/float64(has.cpu))
	memory := min(1, float64(requested.memory)/float64(has.memory))
	return int64(float64((1 - math.Abs((cpu-memory)/2)) * mostScore))
}

// scaled scales a part of a whole to the range of scores (R-B7).
func scaled(part, whole int64) int64 {
	return int64(float64(mostScore * float64(float64(part)/float64(whole))))
}

// crowding returns a node's raw score for one spread constraint: the pods in its domain, weighted by
// the number of domains, plus maxSkew - 1. A lower raw score is better (R-B4).
func crowding(pods, skew int64, weight float64) float64 {
	return float64(float64(pods)*weight) + float64(skew)
}

// logarithm returns the natural logarithm of a number from 1. math.Log rounds differently on some
// machines.
func logarithm(n int) float64 {
	fraction, exponent := math.Frexp(float64(n))
	z := (fraction - 1) / (fraction + 1)
	sum, power := 0.0, z
	for i := 1; i < 40; i += 2 { // the series of atanh z
		sum += power / float64(i)
		power = float64(power * float64(z*z))
	}
	return float64(float64(exponent)*math.Ln2) + float64(2*sum)
}
