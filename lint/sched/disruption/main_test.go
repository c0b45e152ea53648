package disruption_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain makes garbage collection less frequent. The tests keep little in memory, and a
// collection every few megabytes would take a sixth of their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
