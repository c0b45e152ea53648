package source

import "strings"

// Hook says of an object that a tool creates it at some time of a deployment, and not with
// the other objects; "" for all others.
type Hook string

const (
	// HookStep is an object that is created at some step, such as before an upgrade.
	HookStep Hook = "step"
	// HookNever is one that no deployment creates: a test, or a hook that the tool skips. It
	// is there for as long as somebody runs it by hand.
	HookNever Hook = "never"
)

// Annotations that make an object a hook.
const (
	helmHook = "helm.sh/hook"
	argoHook = "argocd.argoproj.io/hook"
)

// helmSteps are the times at which Helm creates hooks (helm: pkg/releaseutil/
// manifest_sorter.go). A test runs if somebody asks for it; a hook with any other time
// is left out.
var helmSteps = map[string]bool{
	"pre-install": true, "post-install": true, "pre-upgrade": true, "post-upgrade": true,
	"pre-rollback": true, "post-rollback": true, "pre-delete": true, "post-delete": true,
	"test": false, "test-success": false,
}

// isTest reports whether the annotations of an object make it a hook of Helm for nothing but
// tests, whoever printed it. Argo CD's own hooks come first, as in ArgoHook. Helm 2 had
// test-success and test-failure (helm: pkg/hooks/hooks.go, v2.17).
func isTest(annotations *Node) bool {
	events := annotations.Get(helmHook)
	if events == nil || annotations.Get(argoHook) != nil {
		return false
	}
	for event := range strings.SplitSeq(events.Text(), ",") {
		switch strings.ToLower(strings.TrimSpace(event)) {
		case "test", "test-success", "test-failure":
		default:
			return false
		}
	}
	return true
}

// HelmHook is what Helm makes of an object of a chart.
func HelmHook(o *Object) Hook {
	times := o.Root.At("metadata", "annotations", helmHook)
	if times == nil {
		return ""
	}
	hook := HookNever
	for time := range strings.SplitSeq(times.Text(), ",") {
		step, known := helmSteps[strings.ToLower(strings.TrimSpace(time))]
		switch {
		case !known:
			return HookNever
		case step:
			hook = HookStep
		}
	}
	return hook
}

// ArgoHook is what Argo CD makes of an object of an Application. It takes Helm's hooks for
// its own, where an object has none of those.
func ArgoHook(o *Object) Hook {
	steps := o.Root.At("metadata", "annotations", argoHook)
	if steps == nil {
		return HelmHook(o)
	}
	for step := range strings.SplitSeq(steps.Text(), ",") {
		if strings.TrimSpace(step) == "Skip" {
			return HookNever
		}
	}
	return HookStep
}
