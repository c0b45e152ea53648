package search_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain makes garbage collection less frequent. The tests keep little memory, and collecting it
// every few megabytes takes a sixth of their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
