package render

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// asWorker makes the process of the tests a worker.
const asWorker = "SCHEDLINT_TEST_WORKER"

func TestMain(m *testing.M) {
	if os.Getenv(asWorker) == "" {
		os.Exit(m.Run())
	}
	LimitMemory(func() { os.Exit(MemoryStatus) })
	if err := Serve(os.Stdin, os.Stdout, act); err != nil {
		os.Exit(1)
	}
}

// act does what the directory of a root says.
func act(r Root, nonce string) *Output {
	o := &Output{Text: []byte(r.Dir + " " + nonce), Cost: Cost{Objects: 1}}
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
	case "large":
		o.Cost.Objects = RunMost().Objects/2 + 1
	}
	return o
}

func pool(patience time.Duration) *Pool {
	return &Pool{Nonce: "n", Patience: patience, Command: func() (*exec.Cmd, error) {
		self, err := os.Executable()
		cmd := exec.Command(self)
		cmd.Env = []string{asWorker + "=1"}
		return cmd, err
	}}
}

func roots(dirs ...string) []Root {
	var all []Root
	for _, d := range dirs {
		all = append(all, Root{Dir: d})
	}
	return all
}

// said is the outcome of each root in a word.
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

// TestPool renders roots of which some end their worker: those cost nobody else's.
func TestPool(t *testing.T) {
	for _, test := range []struct {
		dirs []string
		want []string
	}{
		{nil, nil},
		{[]string{"a", "b", "c", "d"}, []string{"a n", "b n", "c n", "d n"}},
		{[]string{"a", "panic", "b"}, []string{"a n", "failed: rendering it panics", "b n"}},
		{[]string{"a", "hang", "b"}, []string{"a n", "killed: rendering it takes longer than 2s", "b n"}},
		{[]string{"a", "die", "b"}, []string{"a n", "killed: the worker that renders it was killed: exit status 1", "b n"}},
		{[]string{"a", "garbage", "b"}, []string{"a n", "killed: ", "b n"}},
		{[]string{"grow", "b"}, []string{"killed: rendering it takes more than 1024 MiB of memory", "b n"}},
		{[]string{"large/1", "a", "large/2", "b"}, []string{"large/1 n", "a n", "refused: the renders of a run may have 50000 objects", "refused: the renders of a run may have 50000 objects"}},
	} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s by %d", strings.Join(test.dirs, " "), workers), func(t *testing.T) {
				p := pool(time.Minute)
				if slices.Contains(test.dirs, "hang") {
					p = pool(2 * time.Second)
				}
				p.Workers = workers
				got := said(p.Render(context.Background(), roots(test.dirs...)))
				if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
					t.Errorf("got %q, want %q", got, test.want)
				}
			})
		}
	}
}

// TestPoolGivesUp renders no more once several workers had to be killed.
func TestPoolGivesUp(t *testing.T) {
	p := pool(time.Second)
	p.Workers = 1
	got := said(p.Render(context.Background(), roots("die", "die", "die", "a", "b")))
	for _, s := range got[mostKilled:] {
		if !strings.HasPrefix(s, "killed: it is not rendered, as 3 renders before it were killed") {
			t.Errorf("got %q", s)
		}
	}
}

// TestPoolEnds ends with its context.
func TestPoolEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	got := said(pool(time.Minute).Render(ctx, roots("hang", "hang", "hang", "hang")))
	for _, s := range got {
		if !strings.HasPrefix(s, Killed+": ") {
			t.Errorf("got %q", s)
		}
	}
}
