package source

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain reduces the frequency of garbage collection. The tests use little memory, and
// collecting every few megabytes takes a sixth of their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
