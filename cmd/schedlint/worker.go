package main

import (
	"crypto/rand"
	"io"
	"log"
	"os"
	"os/exec"

	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/render/engine"
)

// workerArgument makes the process a worker that renders. It is no command: nobody else
// speaks what it reads.
const workerArgument = "render-worker"

// work is the process of a worker.
func work() int {
	if err := engine.Seal(); err != nil {
		return exitInternal
	}
	watch := render.NewWatch(os.Exit)
	log.SetOutput(io.Discard) // kustomize has warnings, which are nobody's here
	if err := render.Serve(os.Stdin, os.Stdout, watch, engine.Build); err != nil {
		return exitInternal
	}
	return exitClean
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
			return &exec.Cmd{Path: self, Args: []string{"schedlint", workerArgument}, Env: []string{collecting}}, err
		},
	}
}
