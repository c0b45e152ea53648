package workload

import (
	"math/rand/v2"
	"testing"
)

// TestPlainWordsFit checks words against all forms: a plain word has every form.
func TestPlainWordsFit(t *testing.T) {
	const letters = "ab9z0-A_./ "
	r := rand.New(rand.NewPCG(1, 1))
	plain := 0
	for range 20_000 {
		word := make([]byte, r.IntN(5)+60*r.IntN(2))
		for i := range word {
			word[i] = letters[r.IntN(len(letters)-5*r.IntN(2))]
		}
		if !plainWord(string(word)) {
			continue
		}
		plain++
		for _, f := range []format{labelKey, labelValue, subdomain, dnsLabel} {
			if problems := f.check(string(word)); len(problems) > 0 {
				t.Errorf("%q: %v", word, problems)
			}
		}
		if markers.Match(word) {
			t.Errorf("%q is a marker", word)
		}
	}
	if plain < 1000 {
		t.Errorf("%d words are plain", plain)
	}
}
