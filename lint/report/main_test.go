package report

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain makes garbage collections less frequent. The tests keep little memory, and collecting
// every few megabytes would take a sixth of their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
