package source

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often: the tests keep little memory, and collecting every few
// megabytes takes a sixth of their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
