package chart

import (
	"fmt"

	"helm.sh/helm/v3/pkg/strvals"

	"github.com/schedlint/schedlint/lint/chart/chartutil"
)

// CheckSet says what is wrong with one argument of --set, or of --set-string if text is set,
// whatever the values are.
func CheckSet(argument string, text bool) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%.200v", r)
		}
	}()
	if text {
		return strvals.ParseIntoString(argument, map[string]any{})
	}
	return strvals.ParseInto(argument, map[string]any{})
}

// CheckKubeVersion says what is wrong with a version of Kubernetes.
func CheckKubeVersion(version string) error {
	_, err := chartutil.NewCapabilities(version, nil)
	return err
}
