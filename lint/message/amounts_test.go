package message

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/check"
)

// TestOneUnit checks that no finding has amounts of one resource in different units, whatever the
// units of the manifests and nodes are.
func TestOneUnit(t *testing.T) {
	in := &facts.Facts{Workloads: []facts.Workload{{Ref: "Deployment web"}}}
	for _, c := range []struct{ resource, asked, has, wantAsked, wantHas string }{
		{"memory", "262144M", "50000000000", "262.144G", "50G"},
		{"memory", "17180M", "16Gi", "17.18G", "17.179869184G"},
		{"memory", "2e9", "1024Mi", "2G", "1.073741824G"},
		{"memory", "100000000k", "90G", "100G", "90G"},
		{"ephemeral-storage", "0.5Ti", "500Gi", "512Gi", "500Gi"},
		{"cpu", "3900m", "2", "3.9", "2"},
		{"cpu", "250m", "0.1", "250m", "100m"},
		{"example.com/gpu", "1k", "8e0", "1000", "8"},
	} {
		request := &facts.Request{Resource: c.resource, Request: c.asked, Largest: c.has, LargestNode: "n1", Eligible: 2}
		room := &facts.Room{Resource: c.resource, Cause: "total", Requested: c.asked, Offered: c.has, Pods: 2, Nodes: 2, Eligible: 2}
		asked, has := resource.MustParse(c.asked), resource.MustParse(c.has)
		empty := check.Room{Resource: corev1.ResourceName(c.resource), Requested: asked, Offered: has, Left: has}
		used := empty
		used.Beside = []check.Pods{{Workload: "Deployment a", Count: 1}}
		exceeds, small := requestExceedsNodes(request, in), clusterTooSmall(room, in)
		for text, want := range map[string]string{
			exceeds.Headline:       "each pod requests ASKED RES, but none of the 2 eligible nodes has that much",
			exceeds.Details[0]:     "the largest, n1, has HAS",
			small.Headline:         "2 pods request ASKED RES in total, but eligible nodes have only HAS",
			MostOfAll(request):     "n1 has HAS RES, the most of all nodes",
			RequestAtMost(request): "request at most HAS RES, or add a node with at least ASKED",
			noRoom(&empty):         "has HAS RES, and one pod requests ASKED",
			noRoom(&used):          "has HAS of HAS RES left next to 1 pod of Deployment a, and one pod requests ASKED",
		} {
			want = strings.NewReplacer("ASKED", c.wantAsked, "HAS", c.wantHas, "RES", c.resource).Replace(want)
			if strings.TrimPrefix(text, "Deployment web: ") != want {
				t.Errorf("got %q, want %q", text, want)
			}
		}
	}
}
