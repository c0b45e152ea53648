package render

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/limits"
)

// asWorker is the environment variable that turns the test binary into a worker. Its value is the
// memory limit of the worker in bytes.
const asWorker = "SCHEDLINT_TEST_WORKER"

// littleMemory and littleCPU are enough for the workers in these tests. Exceeding the real memory
// limit of a worker takes seconds; SCHEDLINT_TRIALS=100 does that.
const (
	littleMemory = 64 << 20
	littleCPU    = time.Second
)

// asParent is the environment variable that makes the test binary start a worker on a root that hangs, and end.
const asParent = "SCHEDLINT_TEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(asParent) != "" {
		self, err := os.Executable()
		cmd := exec.Command(self)
		cmd.Env, cmd.Stdout = []string{fmt.Sprintf("%s=%d", asWorker, littleMemory)}, os.Stdout
		in, _ := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil || json.NewEncoder(in).Encode(task{Root: Root{Dir: "hang"}}) != nil {
			os.Exit(1)
		}
		time.Sleep(time.Second) // the worker knows its parent by then
		os.Exit(0)
	}
	most, err := strconv.ParseInt(os.Getenv(asWorker), 10, 64)
	if err != nil {
		os.Exit(m.Run())
	}
	cpu := littleCPU
	if most > littleMemory {
		cpu *= 8
	}
	if err := Serve(os.Stdin, os.Stdout, newWatch(most, cpu, os.Exit), act); err != nil {
		os.Exit(1)
	}
}

// spun keeps the loop of a spinning worker from being optimized away.
var spun int

// act does what the directory name of a root asks for.
func act(r Root, nonce string) *Output {
	o := &Output{Text: []byte(r.Dir + " " + nonce), Cost: limits.Cost{Objects: 1}}
	switch what, _, _ := strings.Cut(r.Dir, "/"); what {
	case "panic":
		panic("no")
	case "hang":
		select {}
	case "die":
		os.Exit(1)
	case "garbage":
		fmt.Println("this is no answer")
	case "grow":
		var all [][]byte
		for {
			b := make([]byte, 16<<20)
			for i := range b {
				b[i] = 1
			}
			all = append(all, b)
			_ = all
		}
	case "spin":
		for {
			spun++
		}
	case "large":
		o.Cost.Objects = limits.Renders.Objects/2 + 1
	case "largest":
		o.Cost.Bytes = limits.Renders.Bytes - 1
	case "slow":
		o.Cost.Steps = limits.Renders.Steps/2 + 1
	}
	return o
}

// pool returns a Pool that never gives up on a root, except on roots that are expected to hang.
func pool(t *testing.T, workers int) *Pool {
	most := int64(littleMemory)
	if trials.Full(t) {
		most = limits.WorkerMemory
	}
	return &Pool{
		Nonce:   "n",
		Workers: workers,
		Command: func() (*exec.Cmd, error) {
			self, err := os.Executable()
			cmd := exec.Command(self)
			cmd.Env = []string{fmt.Sprintf("%s=%d", asWorker, most)}
			return cmd, err
		},
		Patience: 2 * time.Second,
		expire: func(r Root, _ time.Duration) <-chan time.Time {
			if r.Dir != "hang" {
				return nil
			}
			over := make(chan time.Time)
			close(over)
			return over
		},
	}
}

func roots(dirs ...string) []Root {
	var all []Root
	for _, d := range dirs {
		all = append(all, Root{Dir: d})
	}
	return all
}

// said returns the outcome of each root as a string.
func said(outs []*Output) []string {
	var all []string
	for _, o := range outs {
		if o.Problem != nil {
			all = append(all, o.Problem.Kind+": "+o.Problem.Detail)
		} else {
			all = append(all, string(o.Text))
		}
	}
	return all
}

// TestPool checks that a root that ends its worker does not affect other roots.
func TestPool(t *testing.T) {
	for _, test := range []struct {
		dirs []string
		want []string
	}{
		{nil, nil},
		{[]string{"a", "b", "c", "d"}, []string{"a n", "b n", "c n", "d n"}},
		{[]string{"a", "panic", "b"}, []string{"a n", "failed: rendering panics", "b n"}},
		{[]string{"a", "hang", "b"}, []string{"a n", "killed: rendering takes longer than 2s", "b n"}},
		{[]string{"a", "die", "b"}, []string{"a n", "lost: the worker was killed: exit status 1", "b n"}},
		{[]string{"a", "garbage", "b"}, []string{"a n", "lost: ", "b n"}},
		{[]string{"grow", "b"}, []string{"killed: rendering takes more than 1024 MiB of memory", "b n"}},
		{[]string{"spin", "b"}, []string{"killed: rendering takes more than 60 seconds of CPU time", "b n"}},
		{[]string{"die", "die", "die", "die", "die", "b"}, []string{"lost: the worker", "lost: the worker", "lost: the worker", "lost: the worker", "lost: the worker", "b n"}},
		{[]string{"large/1", "a", "large/2", "b"}, []string{"large/1 n", "a n", "spent: the renders of a run are limited to 50000 objects", "b n"}},
		{[]string{"largest", "large", "large/2", "b"}, []string{"spent: the renders of a run are limited to 50000 objects, 192 MiB", "large n", "spent: ", "b n"}},
		{[]string{"slow/1", "a", "slow/2", "b"}, []string{"slow/1 n", "a n", "spent: not rendered because the first 2 of 4 renders use up the 1200 million steps", "spent: not rendered"}},
	} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s by %d", strings.Join(test.dirs, " "), workers), func(t *testing.T) {
				t.Parallel()
				got := said(pool(t, workers).Render(context.Background(), roots(test.dirs...)))
				if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		}
	}
}

// TestPoolKilled checks that rendering stops after many workers were killed. Each of them may have
// used up the time limit of a root.
func TestPoolKilled(t *testing.T) {
	q := &queue{outputs: make([]*Output, 30), left: limits.Renders}
	q.counts.L = &q.mu
	n := 0
	for i := q.take(); i >= 0; i = q.take() {
		q.put(i, broken(Root{}, Killed, ""))
		n++
	}
	if n != 21 || q.counted != 20 {
		t.Errorf("%d roots are tried and %d counted, want 21 and 20", n, q.counted)
	}
}

// TestPoolWaits checks that no further root is started while many outputs wait for a slow root.
func TestPoolWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := &queue{outputs: make([]*Output, 4), left: limits.Renders}
		q.counts.L = &q.mu
		large := &Output{Cost: limits.Cost{Bytes: limits.Renders.Bytes/2 + 1}}
		slow := q.take()
		for range 2 {
			q.put(q.take(), large)
		}
		took := -1
		go func() { took = q.take() }()
		if synctest.Wait(); took != -1 {
			t.Error("another root begins")
		}
		q.put(slow, &Output{})
		if synctest.Wait(); took != 3 {
			t.Errorf("%d begins, want 3", took)
		}
	})
}

// TestWorkerEndsWithItsParent checks that a worker whose parent is killed does not go on. The output of the
// parent ends when both have ended.
func TestWorkerEndsWithItsParent(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process keeps the number of its parent")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	parent := exec.Command(self)
	parent.Env, parent.Stdout, parent.WaitDelay = []string{asParent + "=1"}, &out, 20*time.Second
	if err := parent.Run(); err != nil {
		t.Error(err)
	}
}

// TestPoolEnds checks that rendering ends when its context is canceled. The test cancels it once
// two workers run.
func TestPoolEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := pool(t, 2)
	p.expire = func(Root, time.Duration) <-chan time.Time { return nil }
	start, started := p.Command, atomic.Int32{}
	p.Command = func() (*exec.Cmd, error) {
		if started.Add(1) == 2 {
			cancel()
		}
		return start()
	}
	got := said(p.Render(ctx, roots("hang", "hang", "hang", "hang")))
	if len(got) != 4 || !strings.HasPrefix(got[0], "killed: the run was canceled") {
		t.Errorf("got %q", got)
	}
	for _, s := range got {
		if !strings.HasPrefix(s, Killed+": ") {
			t.Errorf("got %q", s)
		}
	}
}
