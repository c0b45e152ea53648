package derive

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// write returns a fix that replaces the text of a scalar.
func write(w *workload.Workload, n *source.Node, text string) diag.Fix {
	return writeAt(w, w.File().Span(n), text)
}

func writeAt(w *workload.Workload, at diag.Span, text string) diag.Fix {
	return diag.Fix{Description: message.Set(text), Edits: []diag.Edit{edit(w, at, text)}}
}

// edit replaces a scalar and keeps its quotes, which JSON requires.
func edit(w *workload.Workload, at diag.Span, text string) diag.Edit {
	line := []rune(w.File().Line(at.Line))
	if i := at.Column - 1; i >= 0 && i < len(line) && (line[i] == '"' || line[i] == '\'') {
		text = string(line[i]) + text + string(line[i])
	}
	return diag.Edit{Location: at, NewText: text}
}

// topologyKeyFix replaces the topology key of a term.
func topologyKeyFix(w *workload.Workload, t *model.Term, key string) diag.Fix {
	value := t.Node.Get("topologyKey")
	return safe(w, value, write(w, value, key))
}

// safe marks an edit that may be made without asking, or says why it may not: only this place may
// change, and the manifest must still apply to a cluster that has the object.
func safe(w *workload.Workload, n *source.Node, fix diag.Fix) diag.Fix {
	e := &fix.Edits[0]
	e.OldText = old(w.File(), e.Location)
	made := w.Object.Made()
	switch {
	case w.File().Recoded:
		fix.Withheld = message.WithheldRecoded
	case w.Within != "":
		fix.Withheld = message.WithheldValues
	case w.Fragment:
		fix.Withheld = message.WithheldFragment
	case w.Kind.Batch():
		fix.Withheld = message.WithheldJob
	case n.Shared:
		fix.Withheld = message.WithheldShared
	case n.Placeholder() || e.OldText != n.Value && e.OldText != `"`+n.Value+`"` && e.OldText != "'"+n.Value+"'":
		fix.Withheld = message.WithheldNoPlainText
	case made != "":
		fix.Withheld = message.WithheldMade(made)
	default:
		fix.Safe = true
	}
	return fix
}

// old returns the text at a place, or "" if the place is not within one line.
func old(f *source.File, at diag.Span) string {
	start, end, ok := f.Range(at)
	if !ok {
		return ""
	}
	return string(f.Text[start:end])
}
