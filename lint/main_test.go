package lint_test

import (
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
)

func TestMain(m *testing.M) { linttest.Main(m) }
