package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/fixtures/mutate"
	"github.com/schedlint/schedlint/lint/diag"
)

// whole is a configuration with everything that one may say.
const whole = `topology: [nodes.yaml]
ignore: ["vendor/**", "!x", "[a-z]{b,c}"]
rules:
  alias-bomb: off
  unknown-field: note
  duplicate-key: true
fail-on: warning
extended-resources: complete
baseline: baseline.json
survive: [{losses: [zone], kinds: [Deployment], namespaces: [shop]}]
suppress:
- {rule: alias-bomb, kind: Pod, name: web, namespace: shop, labels: {a: b}, reason: because, until: 2026-12-31}
clusters:
- name: prod
  paths: [prod]
  topology: [prod/nodes.yaml]
`

// FuzzConfig reads any configuration: it is understood or refused with a place, and
// what is understood can be asked.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(whole), []byte{}, false)
	f.Add([]byte(whole), []byte{0, 1, 2, 3, 4, 5, 6, 7}, false)
	f.Add([]byte("a: &a [*a]"), []byte{}, true)
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
		for id := range c.Rules {
			c.RulePlace(id)
		}
	})
}
