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

// WorkerArgument makes the process a worker that renders. It is no command: nobody else
// speaks what it reads.
const WorkerArgument = "render-worker"

// Work is the process of a worker.
func Work() error {
	if err := engine.Seal(); err != nil {
		return err
	}
	watch := render.NewWatch(os.Exit)
	log.SetOutput(io.Discard) // kustomize has warnings, which are nobody's here
	return render.Serve(os.Stdin, os.Stdout, watch, engine.Build)
}

// collecting is how rarely a worker collects garbage, from its first instruction on: it is
// short-lived, and its memory is bounded.
const collecting = "GOGC=400"

// newPool makes workers of this very program. They get nothing of the environment.
func newPool() *render.Pool {
	return &render.Pool{
		Nonce: rand.Text(),
		Command: func() (*exec.Cmd, error) {
			self, err := os.Executable()
			return &exec.Cmd{Path: self, Args: []string{"schedlint", WorkerArgument}, Env: []string{collecting}}, err
		},
	}
}

// Render renders roots and gives an output for each, in their order.
func Render(ctx context.Context, all []render.Root) []*render.Output {
	return newPool().Render(ctx, all)
}
