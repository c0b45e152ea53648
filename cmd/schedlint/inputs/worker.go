package inputs

import (
	"context"
	"crypto/rand"
	"io"
	"log"
	"os"
	"os/exec"

	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/render/engine"
)

// WorkerArgument turns the process into a worker that renders. It is not a public command: only
// this program speaks the worker's protocol.
const WorkerArgument = "render-worker"

// Work runs the process as a worker.
func Work() error {
	if err := engine.Seal(); err != nil {
		return err
	}
	watch := render.NewWatch(os.Exit)
	log.SetOutput(io.Discard) // discards kustomize's warnings
	return render.Serve(os.Stdin, os.Stdout, watch, engine.Build)
}

// collecting makes a worker collect garbage rarely, from its start: a worker is short-lived, and
// its memory is limited.
const collecting = "GOGC=400"

// newPool returns a pool whose workers run this same program, without any variables of the
// environment.
func newPool() *render.Pool {
	return &render.Pool{
		Nonce: rand.Text(),
		Command: func() (*exec.Cmd, error) {
			self, err := os.Executable()
			return &exec.Cmd{Path: self, Args: []string{"schedlint", WorkerArgument}, Env: []string{collecting}}, err
		},
	}
}

// Render renders roots and returns one output for each, in order.
func Render(ctx context.Context, all []render.Root) []*render.Output {
	return newPool().Render(ctx, all)
}
