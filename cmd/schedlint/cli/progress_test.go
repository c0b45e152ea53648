package cli

import (
	"bytes"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress checks that a short run shows nothing, and what a long one shows and removes.
func TestProgress(t *testing.T) {
	for _, run := range []struct {
		seconds float64
		all     int
		want    string
	}{
		{1.9, 1, ""},
		{2.5, 1, "\r\x1b[Kschedlint: checking, 2 s\r\x1b[K"},
		{3.5, 7, "\r\x1b[Kschedlint: 3 of 7 contexts checked, 2 s\r\x1b[Kschedlint: 3 of 7 contexts checked, 3 s\r\x1b[K"},
		{2.5, 0, "\r\x1b[Kschedlint: reading and rendering, 2 s\r\x1b[K"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			tell, stop := watch(&out)
			if run.all > 0 {
				tell(3, run.all)
			}
			time.Sleep(time.Duration(run.seconds * float64(time.Second)))
			stop()
			stop()
			if out.String() != run.want {
				t.Errorf("after %v s: got %q, want %q", run.seconds, out.String(), run.want)
			}
		})
	}
}

// TestNoProgress checks that a pipe gets no progress.
func TestNoProgress(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if tell, stop := progress(w); tell != nil {
		t.Error("there is progress for a pipe")
		stop()
	}
}
