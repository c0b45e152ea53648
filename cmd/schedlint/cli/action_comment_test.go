package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// github is a stub of the parts of GitHub's API that the comment of the action uses.
type github struct {
	comments []comment
	head     string
	// refuse is the status of all requests that write, unless it is 0.
	refuse int
	// requests lists what was asked for, without the address of the server.
	requests []string
	next     int
}

type comment struct {
	ID   int    `json:"id"`
	Body string `json:"body"`
	User struct {
		Login string `json:"login"`
	} `json:"user"`
}

const (
	actionToken  = "ghs_secret"
	actionAuthor = "github-actions[bot]"
	actionHead   = "1111111111111111111111111111111111111111"
	actionStep   = "../../../.github/action/comment"
	actionMark   = "<!-- schedlint 0123456789abcdef -->\n"
)

func (g *github) add(author, body string) {
	g.next++
	c := comment{ID: g.next, Body: body}
	c.User.Login = author
	g.comments = append(g.comments, c)
}

func (g *github) bodies() (all []string) {
	for _, c := range g.comments {
		all = append(all, c.Body)
	}
	return all
}

func (g *github) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.requests = append(g.requests, r.Method+" "+r.URL.Path)
	if r.Header.Get("Authorization") != "Bearer "+actionToken {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var sent struct{ Body string }
	if data, err := io.ReadAll(r.Body); err != nil || len(data) > 0 && json.Unmarshal(data, &sent) != nil || len([]rune(sent.Body)) > 65536 {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	const issues = "/repos/us/repository/issues/"
	answer := func(status int, v any) {
		w.WriteHeader(status)
		if err := json.NewEncoder(w).Encode(v); err != nil {
			panic(err)
		}
	}
	at := func() int {
		id, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, issues+"comments/"))
		return slices.IndexFunc(g.comments, func(c comment) bool { return err == nil && c.ID == id })
	}
	switch where := r.Method + " " + r.URL.Path; {
	case where == "POST /graphql":
		answer(http.StatusOK, map[string]any{"data": map[string]any{"viewer": map[string]string{"login": actionAuthor}}})
	case where == "GET /repos/us/repository/pulls/7":
		answer(http.StatusOK, map[string]any{"head": map[string]string{"sha": g.head}})
	case where == "GET "+issues+"7/comments":
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		from := min(100*(page-1), len(g.comments))
		answer(http.StatusOK, append([]comment{}, g.comments[from:min(from+100, len(g.comments))]...))
	case g.refuse != 0:
		answer(g.refuse, map[string]string{"message": "::error::Resource not accessible"})
	case where == "POST "+issues+"7/comments":
		g.add(actionAuthor, sent.Body)
		answer(http.StatusCreated, g.comments[len(g.comments)-1])
	case at() < 0:
		answer(http.StatusNotFound, nil)
	case r.Method == http.MethodPatch:
		g.comments[at()].Body = sent.Body
		answer(http.StatusOK, nil)
	case r.Method == http.MethodDelete:
		i := at()
		g.comments = slices.Delete(g.comments, i, i+1)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// comment takes the step of the action that comments, with a report as JSON and the variables of an
// event. It returns the log.
func (g *github) comment(t *testing.T, report string, event ...string) string {
	t.Helper()
	server := httptest.NewServer(g)
	defer server.Close()
	in := t.TempDir()
	for name, text := range map[string]string{"report.json": report, "comment.md": "## schedlint: 1 error\n"} {
		if err := os.WriteFile(filepath.Join(in, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	step := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", actionStep)
	step.Env = append(append([]string{}, "PATH="+os.Getenv("PATH"), "RUNNER_TEMP="+t.TempDir(), "TOKEN="+actionToken, "COMMENT_IN="+in, "COMMENT_KEY=0123456789abcdef",
		"COMMENT_LABEL=shop", "PAGE_URL=https://github.example.com/page", "EVENT_NAME=pull_request", "EVENT_NUMBER=7", "EVENT_HEAD_SHA="+actionHead,
		"EVENT_HEAD_REPOSITORY=us/repository", "EVENT_REPOSITORY=us/repository", "GITHUB_API_URL="+server.URL, "GITHUB_GRAPHQL_URL="+server.URL+"/graphql"), event...)
	log, err := step.CombinedOutput()
	if err != nil {
		t.Errorf("the step fails: %v\n%s", err, log)
	}
	if strings.Contains(string(log), actionToken) || strings.Contains(string(log), "::error::") {
		t.Errorf("the log has the token or a message of the server:\n%s", log)
	}
	return string(log)
}

const (
	foundReport    = `{"complete": true, "diagnostics": [{}]}`
	cleanReport    = `{"complete": true, "diagnostics": [], "change": {"silences": []}}`
	nodesReport    = `{"complete": true, "diagnostics": [], "change": {"silences": [], "nodes": [{}]}}`
	silencedReport = `{"complete": true, "diagnostics": [], "change": {"silences": [{}]}}`
	partialReport  = `{"complete": false, "diagnostics": []}`
)

// TestActionComments takes the step of the action that comments against a stub of GitHub's API.
func TestActionComments(t *testing.T) {
	for _, program := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("SCHEDLINT_ACTION") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	if _, err := os.ReadFile(actionStep); err != nil { // go test runs again if a file that it reads changes
		t.Fatal(err)
	}
	written := actionMark + "## schedlint: 1 error\n\nCommit " + actionHead + ", `shop`: [see where the pods are](https://github.example.com/page)\n"
	mine := func(text string) [2]string { return [2]string{actionAuthor, text} }
	old := mine(actionMark + "an older report\n")
	others := [][2]string{{"mallory", actionMark + "not ours"}, mine("<!-- schedlint fedcba9876543210 -->\nanother category"), mine("quotes " + actionMark), {"mallory", ""}}
	many := slices.Repeat([][2]string{{"mallory", "x"}}, 250)
	for name, c := range map[string]struct {
		has    [][2]string
		report string
		want   []string // the comments after those of others
	}{
		"new":              {nil, foundReport, []string{written}},
		"beside others":    {others, foundReport, []string{written}},
		"again":            {[][2]string{old}, foundReport, []string{written}},
		"far back":         {slices.Concat(many, [][2]string{old}), foundReport, []string{written}},
		"twice":            {[][2]string{old, old}, foundReport, []string{written}},
		"clean":            {nil, cleanReport, nil},
		"clean, beside":    {others, cleanReport, nil},
		"clean again":      {[][2]string{old, old}, cleanReport, nil},
		"silenced":         {[][2]string{old}, silencedReport, []string{written}},
		"other nodes":      {[][2]string{old}, nodesReport, []string{written}},
		"incomplete":       {nil, partialReport, []string{written}},
		"incomplete again": {[][2]string{old}, partialReport, []string{written}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &github{head: actionHead}
			var want []string
			for _, c := range c.has {
				if g.add(c[0], c[1]); c != old {
					want = append(want, c[1])
				}
			}
			log := g.comment(t, c.report)
			if want = append(want, c.want...); !slices.Equal(g.bodies(), want) || log != "" {
				t.Errorf("got %q, want %q\n%s", g.bodies(), want, log)
			}
		})
	}
	for name, c := range map[string]struct {
		event    []string
		log      string
		requests int
	}{
		"fork":         {[]string{"EVENT_HEAD_REPOSITORY=mallory/repository"}, "::notice::schedlint: comment: pull requests from forks get none", 0},
		"fork is gone": {[]string{"EVENT_HEAD_REPOSITORY="}, "::notice::schedlint: comment: pull requests from forks get none", 0},
		"target":       {[]string{"EVENT_NAME=pull_request_target"}, "is about no pull request", 0},
		"push":         {[]string{"EVENT_NAME=push", "EVENT_NUMBER="}, "is about no pull request", 0},
		"older commit": {[]string{"EVENT_HEAD_SHA=2222222222222222222222222222222222222222"}, "the run for the newer commit " + actionHead, 2},
		"token":        {[]string{"TOKEN=other"}, "::warning::schedlint: comment: cannot find out which account the token belongs to (status 401)", 1},
		"no answer":    {[]string{"GITHUB_GRAPHQL_URL=http://127.0.0.1:1/graphql"}, "(status 000)", 0},
	} {
		t.Run(name, func(t *testing.T) {
			g := &github{head: actionHead}
			g.add(old[0], old[1])
			log := g.comment(t, cleanReport, c.event...)
			if !strings.Contains(log, c.log) || len(g.requests) != c.requests || len(g.comments) != 1 {
				t.Errorf("%s%q", log, g.requests)
			}
		})
	}
	for status, has := range map[int][][2]string{http.StatusForbidden: nil, http.StatusNotFound: {old}} {
		t.Run(fmt.Sprint("status ", status), func(t *testing.T) {
			g := &github{head: actionHead, refuse: status}
			for _, c := range has {
				g.add(c[0], c[1])
			}
			if log := g.comment(t, foundReport); !strings.HasPrefix(log, fmt.Sprintf("::warning::schedlint: comment: the comment cannot be written (status %d): ", status)) {
				t.Error(log)
			}
		})
	}
}
