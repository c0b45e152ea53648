package source

import "testing"

func TestHooks(t *testing.T) {
	for _, test := range []struct {
		annotations string
		helm, argo  Hook
	}{
		{"{}", "", ""},
		{"{helm.sh/hook-weight: '1'}", "", ""},
		{"{helm.sh/hook: pre-install}", HookStep, HookStep},
		{"{helm.sh/hook: 'pre-upgrade, POST-install'}", HookStep, HookStep},
		{"{helm.sh/hook: test}", HookNever, HookNever},
		{"{helm.sh/hook: test-success}", HookNever, HookNever},
		{"{helm.sh/hook: 'test,post-install'}", HookStep, HookStep},
		// Helm leaves out what it does not know.
		{"{helm.sh/hook: test-failure}", HookNever, HookNever},
		{"{helm.sh/hook: crd-install}", HookNever, HookNever},
		{"{helm.sh/hook: 'post-install,other'}", HookNever, HookNever},
		{"{helm.sh/hook: ''}", HookNever, HookNever},
		{"{argocd.argoproj.io/hook: PreSync}", "", HookStep},
		{"{argocd.argoproj.io/hook: 'Sync, PostSync'}", "", HookStep},
		{"{argocd.argoproj.io/hook: Skip}", "", HookNever},
		{"{argocd.argoproj.io/hook: PostSync, helm.sh/hook: test}", HookNever, HookStep},
		{"null", "", ""},
		{"[helm.sh/hook]", "", ""},
	} {
		set := LoadText(Options{}, "a.yaml", []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: "+test.annotations+"}\n"))
		o := set.Objects[0]
		if helm, argo := HelmHook(o), ArgoHook(o); helm != test.helm || argo != test.argo {
			t.Errorf("%s: Helm has %q and Argo CD %q, want %q and %q", test.annotations, helm, argo, test.helm, test.argo)
		}
	}
}
