package cli

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain turns the test binary into the command itself, so that render workers run the current code.
func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"schedlint": Main}) }
