package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelpWidth checks that the help of every command and the text about every rule fit into 80
// columns, except for examples.
func TestHelpWidth(t *testing.T) {
	var calls [][]string
	var collect func(cmd *cobra.Command, path []string)
	collect = func(cmd *cobra.Command, path []string) {
		calls = append(calls, append(path[:len(path):len(path)], "--help"))
		for _, sub := range cmd.Commands() {
			if sub.Name() != "completion" { // its text is cobra's
				collect(sub, append(path[:len(path):len(path)], sub.Name()))
			}
		}
	}
	collect(newRoot(strings.NewReader(""), &bytes.Buffer{}, &bytes.Buffer{}), nil)
	for _, id := range ruleIDs(nil, "") {
		id, _, _ = strings.Cut(id, "\t")
		calls = append(calls, []string{"rules", id})
	}
	for _, args := range calls {
		var out, errs bytes.Buffer
		if code := Run(args, strings.NewReader(""), &out, &errs); code != 0 {
			t.Fatalf("%q: %s", args, &errs)
		}
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > helpWidth && !strings.HasPrefix(line, "    ") && !strings.Contains(line, "https://") {
				t.Errorf("%q: %d columns: %s", args, n, line)
			}
		}
	}
}
