package workload

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestAmounts checks that amounts in one sentence have one unit, stay exact and can be pasted into
// a manifest.
func TestAmounts(t *testing.T) {
	for _, c := range []struct{ name, written, want string }{
		{"memory", "262144M 51539607552", "250000Mi 49152Mi"},
		{"memory", "262144M 48Gi", "250000Mi 49152Mi"},
		{"memory", "262144000000 49152Mi", "250000Mi 49152Mi"},
		{"memory", "3Gi 2560Mi", "3Gi 2.5Gi"},
		{"memory", "17180M 16Gi", "17.18G 17.179869184G"},
		{"memory", "256Mi 64Gi", "0.25Gi 64Gi"},
		{"memory", "1331Mi 1Gi", "1331Mi 1024Mi"},
		{"memory", "4097Mi 4Gi", "4097Mi 4096Mi"},
		{"memory", "6046Mi 5900Mi 0", "6046Mi 5900Mi 0Mi"},
		{"memory", "7Ei 6Ei", "7Ei 6Ei"},
		{"memory", "100M 30M", "100M 30M"},
		{"memory", "1500k 1k", "1500k 1k"},
		{"memory", "3e9 2e9", "3G 2G"},
		{"memory", "1e9 1Gi", "1G 1.073741824G"},
		{"memory", "51539607552", "48Gi"},
		{"memory", "48Gi", "48Gi"},
		{"memory", "400m 1Gi", "0.0004k 1073741.824k"},
		{"memory", "51539607553 1Gi", "51.539607553G 1.073741824G"},
		{"memory", "300 200", "300 200"},
		{"memory", "0 0", "0 0"},
		{"ephemeral-storage", "10G 5G", "10G 5G"},
		{"hugepages-2Mi", "1Gi 512Mi", "1Gi 0.5Gi"},
		{"cpu", "25150m 24", "25.15 24"},
		{"cpu", "1100m 300m", "1.1 0.3"},
		{"cpu", "100100m 100m", "100.1 0.1"},
		{"cpu", "500m 250m", "500m 250m"},
		{"cpu", "0.5 250m", "500m 250m"},
		{"cpu", "1e1 2e-1", "10 0.2"},
		{"cpu", "2k 1", "2000 1"},
		{"cpu", "100u 4", "0.0001 4"},
		{"pods", "1k 110", "1000 110"},
		{"example.com/gpu", "12 8e0", "12 8"},
	} {
		var amounts []resource.Quantity
		for _, text := range strings.Fields(c.written) {
			amounts = append(amounts, resource.MustParse(text))
		}
		got := Amounts(corev1.ResourceName(c.name), amounts...)
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s %s: got %s, want %s", c.written, c.name, got, want)
		}
		for i, text := range got {
			if q, err := resource.ParseQuantity(text); err != nil || q.Cmp(amounts[i]) != 0 {
				t.Errorf("%s %s: %s is not %s: %v", c.written, c.name, text, amounts[i].String(), err)
			}
		}
	}
}
