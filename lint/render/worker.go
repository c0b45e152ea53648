package render

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// task is what a worker is told: a root, and the nonce of the run, which its marks have.
type task struct {
	Root  Root
	Nonce string
}

// Serve is a worker: it builds one root after the other until in ends. A panic in build
// costs the root that it was about.
func Serve(in io.Reader, out io.Writer, build func(r Root, nonce string) *Output) error {
	from, w := json.NewDecoder(in), bufio.NewWriter(out)
	to := json.NewEncoder(w)
	for {
		var t task
		if err := from.Decode(&t); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := to.Encode(guarded(t, build)); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
}

// guarded builds a root whatever happens.
func guarded(t task, build func(r Root, nonce string) *Output) (o *Output) {
	defer func() {
		if p := recover(); p != nil {
			o = broken(t.Root, Failed, "rendering panics, which is a bug in schedlint or kustomize")
		}
	}()
	return build(t.Root, t.Nonce)
}

// broken is the output of a root that has none, for no reason in its files.
func broken(r Root, kind, why string) *Output {
	file := r.Dir
	if r.Chart != nil {
		file = path.Join(r.Dir, "Chart.yaml")
	}
	return &Output{Problem: &Problem{Kind: kind, File: file, Line: 1, Column: 1, Detail: why}}
}

// mostMemory is what a worker may have in use, and memoryEvery how often it looks.
const (
	mostMemory  = 1 << 30
	memoryEvery = 20 * time.Millisecond
)

// LimitMemory makes the process call exit as soon as it has more in use than a worker
// may.
func LimitMemory(exit func()) { limitMemory(mostMemory, exit) }

func limitMemory(most int64, exit func()) {
	debug.SetMemoryLimit(most * 3 / 4)
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for range time.Tick(memoryEvery) {
			metrics.Read(sample)
			if sample[0].Value.Uint64()-sample[1].Value.Uint64() > uint64(most) {
				exit()
			}
		}
	}()
}
