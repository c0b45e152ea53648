package chartutil

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func holds(t *testing.T, want map[string]any, got Values) {
	t.Helper()
	if diff := cmp.Diff(want, map[string]any(got)); diff != "" {
		t.Errorf("values differ, - is wanted:\n%s", diff)
	}
}

func TestCapabilities(t *testing.T) {
	for kube, want := range map[string]KubeVersion{
		"":                {"v1.36.0", "1", "36"},
		"1.30":            {"v1.30", "1", "30"},
		"v1.29.3":         {"v1.29.3", "1", "29"},
		"v1.27.3-gke.100": {"v1.27.3", "1", "27"},
		"1.28.4+k3s1":     {"v1.28.4", "1", "28"},
	} {
		caps, err := NewCapabilities(kube, []string{"example.com/v1/Thing"})
		if err != nil {
			t.Errorf("%q: %v", kube, err)
			continue
		}
		if caps.KubeVersion != want || fmt.Sprint(&caps.KubeVersion) != want.Version {
			t.Errorf("%q is %+v, want %+v", kube, caps.KubeVersion, want)
		}
		for api, has := range map[string]bool{"v1": true, "apps/v1": true, "example.com/v1/Thing": true, "example.com/v1": false, "apps/v1/Deployment": false, "": false} {
			if caps.APIVersions.Has(api) != has {
				t.Errorf("%s is known: want %v", api, has)
			}
		}
	}
	for _, bad := range []string{"1", "v", "one.two", "1.x"} {
		if _, err := NewCapabilities(bad, nil); err == nil {
			t.Errorf("%q is a version of Kubernetes", bad)
		}
	}
}

func TestHelmVersion(t *testing.T) {
	for text, want := range map[string]string{
		"4": "v4.0.0", "v4.1": "v4.1.0", "3.21.4": "v3.21.4", "4.0.0-rc.1+a": "v4.0.0-rc.1+a",
		"2.17.0": "", "5": "", "": "", "x": "", "4.0.0.0": "", "4.99999999999999999999": "",
	} {
		if got, err := HelmVersion(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestAPIVersionsAreSorted checks the order of the list. The oracle compares its contents with
// Helm.
func TestAPIVersionsAreSorted(t *testing.T) {
	if all := strings.Fields(apiVersions); !slices.IsSorted(all) || len(slices.Compact(all)) < 40 {
		t.Errorf("the versions of APIs are not sorted, or too few:\n%s", apiVersions)
	}
}

func TestIsReleaseName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "a-b.c": true, strings.Repeat("a", 53): true,
		"": false, "A": false, "a_b": false, "-a": false, "a.": false, "a\n": false, strings.Repeat("a", 54): false,
	} {
		if IsReleaseName(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}

func TestPaths(t *testing.T) {
	v := Values(read[map[string]any](t, `{a: {b: {c: 1, o: null}}, "": 2, l: [1]}`))
	for path, want := range map[string]string{
		"a.b.c": "1 <nil>", "a.b.o": "<nil> <nil>", "": "<nil> the path is empty",
		"a.b": `<nil> "b" is not a value`, "a.x.c": `<nil> "c" is not a value`, "none": `<nil> "none" is not a value`, "l.0": `<nil> "0" is not a value`,
	} {
		got, err := v.PathValue(path)
		if said := fmt.Sprint(got, " ", err); said != want {
			t.Errorf("%q is %s, want %s", path, said, want)
		}
	}
	for path, want := range map[string]string{"a.b": "map[c:1 o:<nil>] <nil>", "a.c": `map[] "c" is not a table`, "l": `map[] "l" is not a table`} {
		got, err := v.Table(path)
		if said := fmt.Sprint(got.AsMap(), " ", err); said != want {
			t.Errorf("%q is %s, want %s", path, said, want)
		}
	}
	holds(t, map[string]any{}, Values(nil).AsMap())
	if text, err := v.YAML(); err != nil || text != "\"\": 2\na:\n  b:\n    c: 1\n    o: null\nl:\n- 1\n" {
		t.Errorf("as YAML %q, %v", text, err)
	}
}

func TestTop(t *testing.T) {
	top := Top(Release{"r", "ns"}, &Capabilities{}, Values{"a": 1})
	want := map[string]any{"Name": "r", "Namespace": "ns", "IsUpgrade": false, "IsInstall": true, "Revision": 1, "Service": "Helm"}
	holds(t, want, Values(top["Release"].(map[string]any)))
	for name, want := range map[string]string{"Values": "chartutil.Values", "Capabilities": "*chartutil.Capabilities"} {
		if got := fmt.Sprintf("%T", top[name]); got != want {
			t.Errorf("the type of .%s is %s, want %s", name, got, want)
		}
	}
}
