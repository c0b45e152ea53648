package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// TestMain turns the test binary into the command itself, so that scripts and workers run the current
// code.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"schedlint": func() {
			if slices.Equal(os.Args[1:], []string{serveArgument}) {
				serve()
				return
			}
			main()
		},
		"schedlint-broken": func() { os.Exit(run(os.Args[1:], brokenReader{}, os.Stdout, os.Stderr)) },
	})
}

// brokenReader simulates an internal error of schedlint.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { panic("the reader is broken") }

// TestScripts runs the scripts in fixtures/scripts. SCHEDLINT_UPDATE=1 rewrites the files that cmp
// compares with. The command exec starts a process, and status asks a worker, unless SCHEDLINT_PROCESSES
// is set. Shortly before the timeout of go test, a command that hangs is killed, and its script fails.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Setup:               setup,
		Files:               scripts(t),
		UpdateScripts:       os.Getenv("SCHEDLINT_UPDATE") != "",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   newWorkers(t).status,
			"json":     jsonValue,
			"write":    write,
			"nest":     nest,
			"harmless": harmlessOutput,
			"readlink": readlink,
			"mode":     mode,
			"nothing":  nothing,
			"repeat":   repeat,
			"sub":      sub,
			"append":   appendText,
			"pack":     pack,
			"locked":   locked,
		},
	})
}

const scriptDir = "../../fixtures/scripts"

// scripts returns all scripts. With -short, it returns only the smallest script of each topic,
// which is the part of the script name before the first hyphen.
func scripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(scriptDir, "*.txtar"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	if !trials.Few(t) {
		return all
	}
	smallest := map[string]string{}
	for _, path := range all {
		topic, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".txtar"), "-")
		if smallest[topic] == "" || size(t, path) < size(t, smallest[topic]) {
			smallest[topic] = path
		}
	}
	return slices.Sorted(maps.Values(smallest))
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// status CODE PROGRAM ARG... runs a program and checks its exit status.
func (all *workers) status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status code program [arg...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if args[1] == "schedlint" && ts.Getenv(ownProcess) == "" {
		code = all.exec(ts, args[2:])
	} else {
		var exit *exec.ExitError
		switch err := ts.Exec(args[1], args[2:]...); {
		case errors.As(err, &exit):
			code = exit.ExitCode()
		case err != nil:
			ts.Fatalf("running %s: %v", args[1], err)
		}
	}
	if code != want {
		ts.Fatalf("exit status %d, want %d", code, want)
	}
}

// json FILE PATH VALUE compares a value in a JSON document. A path consists of keys and indices
// separated by dots. If it ends in length, the value is the length of an array.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: json file path value")
	}
	var doc any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc); err != nil {
		ts.Fatalf("%s is no JSON: %v", args[0], err)
	}
	got, err := lookup(doc, args[1])
	ts.Check(err)
	if text := fmt.Sprint(got); text != args[2] {
		ts.Fatalf("%s is %q, want %q", args[1], text, args[2])
	}
}

func lookup(v any, path string) (any, error) {
	for path != "" {
		var key string
		key, path, _ = strings.Cut(path, ".")
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[key]
			if !ok {
				return nil, fmt.Errorf("no member %s among %v", key, slices.Sorted(maps.Keys(at)))
			}
			v = next
		case []any:
			if key == "length" {
				return len(at), nil
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(at) {
				return nil, fmt.Errorf("no element %s among %d", key, len(at))
			}
			v = at[i]
		default:
			return nil, fmt.Errorf("%v has no members: looking for %s", v, key)
		}
	}
	return v, nil
}

// write FILE TEXT writes a file that cannot be part of a text archive. Both arguments may contain
// Go escapes.
func write(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: write file text")
	}
	ts.Check(os.WriteFile(ts.MkAbs(unescaped(ts, args[0])), []byte(unescaped(ts, args[1])), 0o644))
}

func unescaped(ts *testscript.TestScript, s string) string {
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(s, `"`, `\"`) + `"`)
	if err != nil {
		ts.Fatalf("%q: %v", s, err)
	}
	return text
}

// nest FILE DEPTH OPEN CLOSE writes OPEN and then CLOSE, each of them DEPTH times.
func nest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: nest file depth open close")
	}
	depth, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := strings.Repeat(args[2], depth) + strings.Repeat(args[3], depth) + "\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// readlink LINK TARGET checks the target of a symbolic link.
func readlink(ts *testscript.TestScript, neg bool, args []string) {
	target, err := os.Readlink(ts.MkAbs(args[0]))
	ts.Check(err)
	if filepath.Base(target) != args[1] {
		ts.Fatalf("%s leads to %s", args[0], target)
	}
}

// mode FILE BITS checks the permissions of a file.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[1] {
		ts.Fatalf("%s has mode %s, want %s", args[0], got, args[1])
	}
}

// nothing PATTERN checks that no file name matches PATTERN.
func nothing(ts *testscript.TestScript, neg bool, args []string) {
	found, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(found) > 0 {
		ts.Fatalf("there is %s", found)
	}
}

// dangerous matches output that must not reach a terminal or a CI log: control characters, bidi
// overrides, and workflow commands.
var dangerous = regexp.MustCompile(`(?m)[\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{202a}-\x{202e}]|^\s*::|##\[`)

// harmless FILE checks that output contains nothing unsafe.
func harmlessOutput(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: harmless file")
	}
	text := ts.ReadFile(args[0])
	if at := dangerous.FindStringIndex(text); at != nil {
		ts.Fatalf("unsafe in %s: %q in %q", args[0], text[at[0]:at[1]], text[max(0, at[0]-20):min(len(text), at[1]+20)])
	}
}

// repeat N TEMPLATE FILE writes N copies of a template. NN in the file name and in the template is
// replaced by the number of the copy.
func repeat(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: repeat n template file")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	template := ts.ReadFile(args[1])
	for i := 1; i <= n; i++ {
		number := fmt.Sprintf("%02d", i)
		path := ts.MkAbs(strings.ReplaceAll(args[2], "NN", number))
		ts.Check(os.MkdirAll(filepath.Dir(path), 0o755))
		ts.Check(os.WriteFile(path, []byte(strings.ReplaceAll(template, "NN", number)), 0o644))
	}
}

// append FILE N TEXT appends TEXT to a file N times. TEXT may contain Go escapes.
func appendText(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: append file n text")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	text := strings.Repeat(unescaped(ts, args[2]), n)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[0])+text), 0o644))
}

// sub FILE OLD NEW replaces OLD in a file with NEW. The file must contain OLD.
func sub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: sub file old new")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(text, args[1], args[2])), 0o644))
}
