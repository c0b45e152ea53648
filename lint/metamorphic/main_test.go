// Package metamorphic changes inputs in ways that change no answer, and explains every finding in random ones.
// It has tests only, apart from those of lint, so that no package's tests take long.
package metamorphic

import (
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
)

func TestMain(m *testing.M) { linttest.Main(m) }
