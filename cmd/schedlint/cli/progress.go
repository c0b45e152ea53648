package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// progress shows on a terminal how far a run is once it takes two seconds. It returns a function to
// call with the number of contexts that are checked, of all, and a function that removes the line
// again. It shows nothing in CI and in a pipe.
func progress(stderr io.Writer) (tell func(done, all int), stop func()) {
	if !terminal(stderr) || os.Getenv("CI") != "" {
		return nil, func() {}
	}
	return watch(stderr)
}

// watch writes the line of progress to w until stop is called.
func watch(w io.Writer) (tell func(done, all int), stop func()) {
	var text atomic.Value
	text.Store("reading and rendering")
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		start, wait := time.Now(), time.NewTimer(2*time.Second)
		for shown := false; ; shown = true {
			select {
			case <-wait.C:
				fmt.Fprintf(w, "\r\x1b[Kschedlint: %s, %.0f s", text.Load(), time.Since(start).Seconds())
				wait.Reset(time.Second)
			case <-quit:
				if shown {
					fmt.Fprint(w, "\r\x1b[K")
				}
				return
			}
		}
	}()
	tell = func(done, all int) {
		if all > 1 {
			text.Store(fmt.Sprintf("%d of %d contexts checked", done, all))
		} else {
			text.Store("checking")
		}
	}
	return tell, sync.OnceFunc(func() { close(quit); <-gone })
}
