package main

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"

	ours "github.com/schedlint/schedlint/lint/chart/chartutil"
)

// TestAPIVersions holds the versions of APIs that templates see against those of Helm.
// SCHEDLINT_UPDATE=1 rewrites them.
func TestAPIVersions(t *testing.T) {
	all := slices.Sorted(slices.Values([]string(chartutil.DefaultCapabilities.APIVersions)))
	if os.Getenv("SCHEDLINT_UPDATE") != "" {
		if err := os.WriteFile("../chartutil/apiversions.txt", []byte(strings.Join(all, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	caps, err := ours.NewCapabilities("", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := []string(caps.APIVersions); !slices.Equal(got, all) {
		t.Errorf("the versions are\n%s\nand those of Helm\n%s", got, all)
	}
}

// TestKubeVersions reads versions as both sides do.
func TestKubeVersions(t *testing.T) {
	for _, text := range []string{
		"1.30", "v1.30", "v1.29.3", "1.27.3-gke.100", "v1.28.4+k3s1", "1.2.3.4", "01.2", "1.02.3", "v1.29.3-", " 1.30", "1.30 ",
		"1", "v", "", "one", "1.x", "-1.2", "1.99999999999999999999", "v1.30.0.", "V1.30", "1.30\n",
	} {
		theirs, err := chartutil.ParseKubeVersion(text)
		mine, err2 := ours.NewCapabilities(text, nil)
		if text == "" {
			continue // the default, of which the library does not know
		}
		if (err == nil) != (err2 == nil) {
			t.Errorf("%q: %v with Helm, %v with us", text, err, err2)
			continue
		}
		if err == nil && ours.KubeVersion(*theirs) != mine.KubeVersion {
			t.Errorf("%q is %+v with Helm, %+v with us", text, *theirs, mine.KubeVersion)
		}
	}
}

// TestReleaseNames holds names against Helm.
func TestReleaseNames(t *testing.T) {
	for _, name := range []string{
		"a", "a-b", "a.b", "0", "a-.b", "a.-b", "a..b", "A", "a_b", "-a", "a-", "", ".", "a\n", "ä", strings.Repeat("a", 53), strings.Repeat("a", 54),
		strings.Repeat("a.", 26) + "a", strings.Repeat("a", 64),
	} {
		if want := chartutil.ValidateReleaseName(name) == nil; ours.IsReleaseName(name) != want {
			t.Errorf("%q is a name of a release with Helm: %v", name, want)
		}
	}
}

// TestTypes: templates print the names of types, and know the names of fields and methods.
func TestTypes(t *testing.T) {
	for _, c := range []struct{ theirs, mine any }{
		{chartutil.Values{}, ours.Values{}},
		{&chartutil.Capabilities{}, &ours.Capabilities{}},
		{chartutil.KubeVersion{}, ours.KubeVersion{}},
		{chartutil.VersionSet{}, ours.VersionSet{}},
	} {
		theirs, mine := reflect.TypeOf(c.theirs), reflect.TypeOf(c.mine)
		if theirs.String() != mine.String() {
			t.Errorf("the type is %s, with Helm %s", mine, theirs)
		}
		if mine.Kind() == reflect.Pointer {
			theirs, mine = theirs.Elem(), mine.Elem()
		}
		if a, b := fieldsOf(theirs), fieldsOf(mine); !slices.Equal(a, b) {
			t.Errorf("%s has %s, with Helm %s", mine, b, a)
		}
		theirs, mine = reflect.PointerTo(theirs), reflect.PointerTo(mine)
		for i := range theirs.NumMethod() {
			m := theirs.Method(i)
			if _, ok := mine.MethodByName(m.Name); !ok && !slices.Contains([]string{"Encode", "Copy"}, m.Name) {
				t.Errorf("%s has no method %s", mine, m.Name)
			}
		}
	}
}

func fieldsOf(t reflect.Type) []string {
	var all []string
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		all = append(all, t.Field(i).Name)
	}
	return all
}
