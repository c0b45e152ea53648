package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/fixtures/mutate"
	"github.com/schedlint/schedlint/lint/diag"
)

// whole is a configuration with every setting.
const whole = `topology: [nodes.yaml]
ignore: ["vendor/**", "!x", "[a-z]{b,c}"]
rules:
  alias-bomb: off
  unknown-field: note
  duplicate-key: {level: error, params: {a: [1, b, {c: 2.5}]}, scope: {kinds: [Pod], max-pods: 3}}
  "h*": note
policies:
- pack: ha
- dir: policy
custom:
- {id: prod-zone, use: needs, params: {keys: [zone]}, scope: {namespaces: ["prod-*"], min-pods: 2}, level: error, title: t, owner: team}
scopes:
- {namespaces: ["dev-*"], labels: {a: b}, paths: ["apps/**"], clusters: [prod], names: [web], rules: {"h*": off, alias-bomb: note}}
fail-on: warning
extended-resources: complete
storage: {default: gp3, classes: {gp3: {pinned: zone, attach: single-node}}}
baseline: baseline.json
survive: [{keys: [zone], namespaces: [shop], labels: {tier: critical}}]
suppress:
- {rule: alias-bomb, kinds: [Pod], names: [web], namespaces: [shop], labels: {a: b}, reason: because, until: "2026-12-31"}
renders:
- kustomize: "clusters/*/overlays/*"
- {kustomize: legacy, name: old, load-restrictor: root-only, remotes: {"https://example.com/base?ref=v1": third/base}}
- {helm: "charts/*", each-values: "env/{name}.yaml", values: [a.yaml], set: {replicas: 3, a.b: c}, set-string: {d: 1}, namespace: shop, kube-version: "1.36", api-versions: [a/v1], helm-version: 4.0.0}
- {files: [rendered/prod.yaml, more], source-root: charts/shop, name: shop}
clusters:
- name: prod
  paths: [prod]
  renders: [old, "clusters/prod/**"]
  topology: [prod/nodes.yaml]
  storage: {classes: {local: {pinned: node}}}
`

// TestWhole checks that the configuration from which the fuzz test starts is valid.
func TestWhole(t *testing.T) { refuses(t, whole, "") }

// FuzzConfig checks that any input is either a configuration that can be queried or an error with a
// location.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(whole), []byte{}, false)
	f.Add([]byte(whole), []byte{0, 1, 2, 3, 4, 5, 6, 7}, false)
	f.Add([]byte("a: &a [*a]"), []byte{}, true)
	f.Add([]byte("renders: [{helm: charts/shop, values: [a]}]"), []byte{}, true)
	f.Add([]byte("renders: [{kustomize: a}, {kustomize: 'a/*'}, {files: [b]}]\nclusters: [{name: c, renders: [a]}]"), []byte{}, true)
	f.Fuzz(func(t *testing.T, text, changes []byte, raw bool) {
		if !raw {
			text = mutate.Mutate([]byte(whole), changes)
		}
		path := filepath.Join(t.TempDir(), Name)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a word")
			}
			return
		}
		for _, name := range []string{"vendor/a.yaml", "a", ""} {
			c.Ignores(name)
		}
		for i := range c.Suppress {
			c.Suppress[i].Means(diag.Object{Kind: "Pod", Name: "web"}, map[string]string{"a": "b"})
		}
		all, err := c.Expand(Tree{Roots: []string{"clusters/prod/overlays/a", "."}})
		if err == nil && c.Renders != nil && len(all) < len(c.Renders) {
			t.Errorf("%d renders of %d entries", len(all), len(c.Renders))
		}
		_ = c.CheckClusters(all)
		c.Loosened(&Config{Renders: []Render{{Kustomize: "legacy"}}}, []string{"alias-bomb", "unknown-field"}, func(*Config, string) diag.Level { return "" })
		_ = c.UnknownRules([]string{"alias-bomb"})
		for id, rule := range c.Rules {
			c.LevelOf(id, diag.LevelNote, &About{Object: diag.Object{Kind: "Pod", Name: "web"}, File: "apps/a.yaml", Pods: 3})
			if rule.Params != nil {
				rule.Params.At("a", "2", "c")
			}
		}
	})
}
