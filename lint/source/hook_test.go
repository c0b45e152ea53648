package source

import "testing"

func TestHooks(t *testing.T) {
	for _, c := range []struct {
		annotations string
		helm, argo  Hook
		test        bool // according to the annotation alone
	}{
		{"{}", "", "", false},
		{"{helm.sh/hook-weight: '1'}", "", "", false},
		{"{helm.sh/hook: pre-install}", HookStep, HookStep, false},
		{"{helm.sh/hook: 'pre-upgrade, POST-install'}", HookStep, HookStep, false},
		{"{helm.sh/hook: test}", HookNever, HookNever, true},
		{"{helm.sh/hook: test-success}", HookNever, HookNever, true},
		{"{helm.sh/hook: 'test,post-install'}", HookStep, HookStep, false},
		{"{helm.sh/hook: 'test-success, Test-Failure'}", HookNever, HookNever, true},
		{"{helm.sh/hook: 'test,test,'}", HookNever, HookNever, false},
		// Helm skips hooks that it does not know.
		{"{helm.sh/hook: test-failure}", HookNever, HookNever, true},
		{"{helm.sh/hook: crd-install}", HookNever, HookNever, false},
		{"{helm.sh/hook: 'post-install,other'}", HookNever, HookNever, false},
		{"{helm.sh/hook: ''}", HookNever, HookNever, false},
		{"{argocd.argoproj.io/hook: PreSync}", "", HookStep, false},
		{"{argocd.argoproj.io/hook: 'Sync, PostSync'}", "", HookStep, false},
		{"{argocd.argoproj.io/hook: Skip}", "", HookNever, false},
		{"{argocd.argoproj.io/hook: PostSync, helm.sh/hook: test}", HookNever, HookStep, false},
		{"null", "", "", false},
		{"[helm.sh/hook]", "", "", false},
	} {
		set := LoadText(Options{}, "a.yaml", []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: "+c.annotations+"}\n"))
		o := set.Objects[0]
		if test := o.Hook == HookNever; test != c.test {
			t.Errorf("%s: a test by its annotation: %t", c.annotations, test)
		}
		if helm, argo := HelmHook(o), ArgoHook(o); helm != c.helm || argo != c.argo {
			t.Errorf("%s: Helm has %q and Argo CD %q, want %q and %q", c.annotations, helm, argo, c.helm, c.argo)
		}
	}
}
