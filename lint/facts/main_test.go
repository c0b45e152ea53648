package facts_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain makes garbage collection less frequent, because the tests keep little memory and
// frequent collections take a sixth of their time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
