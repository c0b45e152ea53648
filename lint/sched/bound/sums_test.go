package bound

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestSums checks that quantities are formatted without the rounding errors of binary fractions.
func TestSums(t *testing.T) {
	for _, row := range []struct {
		name                       corev1.ResourceName
		requested, offered         string
		wantRequested, wantOffered string
	}{
		{"cpu", "25150m", "24", "25.15", "24"},
		{"cpu", "1100m", "300m", "1.1", "0.3"},
		{"cpu", "100", "90", "100", "90"},
		{"cpu", "100100m", "100m", "100.1", "0.1"},
		{"memory", "3Gi", "2560Mi", "3Gi", "2.5Gi"},
		{"memory", "1331Mi", "1Gi", "1.3Gi", "1Gi"},
		{"memory", "100Mi", "90Mi", "100Mi", "90Mi"},
		{"memory", "4097Mi", "4Gi", "4097Mi", "4Gi"},
		{"memory", "7Ei", "6Ei", "7516192768Gi", "6442450944Gi"},
		{"memory", "3e9", "2e9", "3e9", "2e9"},
		{"example.com/gpu", "12", "8", "12", "8"},
	} {
		s := Shortage{Resource: row.name, Requested: resource.MustParse(row.requested), Offered: resource.MustParse(row.offered)}
		if requested, offered := s.Sums(); requested != row.wantRequested || offered != row.wantOffered {
			t.Errorf("%s of %s: got %s and %s, want %s and %s", row.requested, row.name, requested, offered, row.wantRequested, row.wantOffered)
		}
	}
}
