package main

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/schedlint/schedlint/cmd/schedlint/inputs"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/render"
)

// ownProcess is an environment variable that makes every command of a script a process of its own.
// A script sets it where the process matters: for variables that Go reads when a process starts,
// and for limits of a process. Set it for go test to compare: the scripts must pass either way.
const ownProcess = "SCHEDLINT_PROCESSES"

// serveArgument makes the process a worker of the tests.
const serveArgument = "serve-scripts"

// job is a command that a worker runs.
type job struct {
	Args, Env []string
	Dir       string
}

// answer is what a command gives back, or before that, that it asks for its standard input.
type answer struct {
	Asks           bool
	Code           int
	Stdout, Stderr string
}

// server runs jobs in a worker.
type server struct {
	in  *gob.Decoder
	out *gob.Encoder
	ctx context.Context // keeps render workers from job to job
}

// serve runs jobs until its standard input ends. The start of a process costs more than most
// commands do.
func serve() {
	var idle render.Idle
	defer idle.Stop()
	s := server{gob.NewDecoder(os.Stdin), gob.NewEncoder(os.Stdout), inputs.WithIdle(context.Background(), &idle)}
	for {
		var j job
		if s.in.Decode(&j) != nil {
			return
		}
		s.answer(s.run(j))
	}
}

func (s server) answer(a answer) {
	if err := s.out.Encode(a); err != nil {
		panic(err)
	}
}

// run runs a job in this process. It replaces what an earlier job could leave: the environment and
// the working directory.
func (s server) run(j job) answer {
	os.Clearenv()
	for _, v := range j.Env {
		name, value, _ := strings.Cut(v, "=")
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	if err := os.Chdir(j.Dir); err != nil {
		panic(err)
	}
	var stdout, stderr strings.Builder
	args := append([]string{}, j.Args...) // without arguments, cobra takes those of the process for nil
	code := runWith(s.ctx, args, &asking{server: s}, &stdout, &stderr)
	return answer{Code: code, Stdout: stdout.String(), Stderr: stderr.String()}
}

// asking is standard input that a worker asks for when a command reads it.
type asking struct {
	server server
	text   *strings.Reader
}

func (a *asking) Read(b []byte) (int, error) {
	if a.text == nil {
		a.server.answer(answer{Asks: true})
		var text string
		if err := a.server.in.Decode(&text); err != nil {
			panic(err)
		}
		a.text = strings.NewReader(text)
	}
	return a.text.Read(b)
}

// workers are processes that run commands of scripts one after the other. There are as many as
// scripts that run side by side.
type workers struct {
	mu   sync.Mutex
	idle []*worker
	// end is the time to kill a command that hangs, or zero. A killed worker has grace to tell where.
	end   time.Time
	grace time.Duration
}

type worker struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	to     *gob.Encoder
	from   *gob.Decoder
	stderr *bytes.Buffer
}

// newWorkers returns workers that end with the test. Like testscript, they leave a tenth of the time
// until the timeout of go test for killing a command that hangs and for reporting it.
func newWorkers(t *testing.T) *workers {
	all := &workers{}
	if deadline, ok := t.Deadline(); ok {
		all.grace = time.Until(deadline) / 20
		all.end = deadline.Add(-2 * all.grace)
	}
	t.Cleanup(func() {
		for _, w := range all.idle {
			if err := w.stop(); err != nil || w.stderr.Len() > 0 {
				t.Errorf("a worker ends with %v\n%s", err, w.stderr)
			}
		}
	})
	return all
}

// run runs a job. If the command reads its standard input, it gets what stdin returns. A worker that
// dies is not used again.
func (all *workers) run(j job, stdin func() string) (answer, error) {
	w, err := all.take()
	if err != nil {
		return answer{}, err
	}
	var a answer
	done := make(chan error, 1)
	go func() {
		err := w.to.Encode(j)
		if err == nil {
			err = w.from.Decode(&a)
		}
		if err == nil && a.Asks {
			a = answer{}
			if err = w.to.Encode(stdin()); err == nil {
				err = w.from.Decode(&a)
			}
		}
		done <- err
	}()
	var late <-chan time.Time
	if !all.end.IsZero() {
		timer := time.NewTimer(time.Until(all.end))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case err = <-done:
	case <-late:
		_ = w.cmd.Process.Signal(syscall.SIGQUIT) // prints where it hangs
		kill := time.AfterFunc(all.grace, func() { _ = w.cmd.Process.Kill() })
		<-done
		kill.Stop()
		err = errors.New("the test timed out")
	}
	if err != nil {
		return answer{}, fmt.Errorf("a worker fails: %w, %v\n%s", err, w.stop(), w.stderr)
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.idle = append(all.idle, w)
	return a, nil
}

func (all *workers) take() (*worker, error) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if n := len(all.idle); n > 0 {
		w := all.idle[n-1]
		all.idle = all.idle[:n-1]
		return w, nil
	}
	w := &worker{cmd: exec.Command("schedlint", serveArgument), stderr: &bytes.Buffer{}}
	w.cmd.Stderr = w.stderr
	w.cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=400") // workers share the processors; memory is cheap
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	w.stdin, w.to, w.from = in, gob.NewEncoder(in), gob.NewDecoder(out)
	return w, w.cmd.Start()
}

func (w *worker) stop() error {
	_ = w.stdin.Close()
	return w.cmd.Wait()
}

// variables is the key for the names of the environment variables of a script.
type variables struct{}

// assigned matches the assignments of a line that sets environment variables.
var assigned = regexp.MustCompile(`(?m)^(?:\[\S+\] )?env .*`)

// setup notes which environment variables a script has or sets, because testscript does not tell.
func setup(env *testscript.Env) error {
	env.Setenv(ownProcess, os.Getenv(ownProcess))
	text, err := os.ReadFile(filepath.Join(scriptDir, strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")+".txtar"))
	if err != nil {
		return err
	}
	var names []string
	for _, line := range assigned.FindAllString(string(text), -1) {
		for _, field := range strings.Fields(line) {
			if name, _, ok := strings.Cut(field, "="); ok {
				names = append(names, name)
			}
		}
	}
	for _, v := range env.Vars {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	env.Values[variables{}] = slices.Compact(names)
	return nil
}

// exec runs a command of a script in a worker. Variables without a value count as not set.
func (all *workers) exec(ts *testscript.TestScript, args []string) int {
	j := job{Args: args, Dir: ts.MkAbs(".")}
	for _, name := range ts.Value(variables{}).([]string) {
		if value := ts.Getenv(name); value != "" {
			j.Env = append(j.Env, name+"="+value)
		}
	}
	j.Env = append(j.Env, "PWD="+j.Dir)
	a, err := all.run(j, func() string {
		if err := ts.Exec("cat"); err != nil { // only a process gets what the command stdin has read
			panic(err)
		}
		return ts.ReadFile("stdout")
	})
	ts.Check(err)
	for w, text := range map[io.Writer]string{ts.Stdout(): a.Stdout, ts.Stderr(): a.Stderr} {
		_, err := io.WriteString(w, text)
		ts.Check(err)
	}
	return a.Code
}

// TestWorkersAnswerLikeProcesses compares commands in one worker with processes. The worker runs each
// of them twice, after different commands, so that what a command leaves behind shows.
func TestWorkersAnswerLikeProcesses(t *testing.T) {
	dir := trials.InGit(t, clean(map[string]string{
		".schedlint.yaml":          "topology: [nodes.yaml]\n",
		"nodes.yaml":               "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: worker, count: 3}]\n",
		"app/web.yaml":             faulty,
		"app/kustomization.yaml":   "resources: [web.yaml]\n",
		"chart/Chart.yaml":         "{apiVersion: v2, name: shop, version: 1.0.0}\n",
		"chart/templates/web.yaml": faulty,
	}), ".")
	trials.Git(t, "commit", "-q", "-m", "base")
	in := func(sub string, args ...string) job {
		return job{Args: args, Dir: filepath.Join(dir, sub), Env: append(os.Environ(), "PWD="+filepath.Join(dir, sub))}
	}
	hidden := in("app", "lint", "--since", "HEAD")
	hidden.Env = append(hidden.Env, "GIT_DIR=/nowhere")
	jobs := []job{
		in(""), in("", "version", "--format", "json"), in("", "lint", "--help"), in("", "lint", "--nonsense"), in("", "rules"), in("", "inputs"),
		in("", "lint"), in("", "lint", "--config-from", "HEAD", "--format", "json"), in("app", "lint", "-"), in("app", "nodes"), in("", "lint", "none.yaml"),
		in("app", "place", "--survive", "node", "web.yaml"), in("", "explain", "--path", "app", "app/web.yaml:4"), in("", "render", "chart"), hidden,
	}
	stdin := clean(map[string]string{"": faulty})[""]
	all := newWorkers(t)
	compare := func(j job, want answer) {
		t.Helper()
		got, err := all.run(j, func() string { return stdin })
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%q:\n%+v in a worker\n%+v in a process", j.Args, got, want)
		}
	}
	var answers []answer
	for _, j := range jobs {
		var stdout, stderr strings.Builder
		cmd := exec.Command("schedlint", j.Args...)
		cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = j.Dir, j.Env, strings.NewReader(stdin), &stdout, &stderr
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		answers = append(answers, answer{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()})
		compare(j, answers[len(answers)-1])
	}
	for i, j := range slices.Backward(jobs) {
		compare(j, answers[i])
	}
}
