package derive

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// write returns a fix that replaces the text of a scalar.
func write(w *workload.Workload, n *source.Node, text string) diag.Fix {
	return writeAt(w, w.File().Span(n), text)
}

// writeAt returns a fix that replaces a scalar and keeps its quotes, which JSON requires.
func writeAt(w *workload.Workload, at diag.Span, text string) diag.Fix {
	fix := diag.Fix{Description: message.Set(text)}
	line := []rune(w.File().Line(at.Line))
	if i := at.Column - 1; i >= 0 && i < len(line) && (line[i] == '"' || line[i] == '\'') {
		text = string(line[i]) + text + string(line[i])
	}
	fix.Edits = []diag.Edit{{Location: at, NewText: text}}
	return fix
}

// safe marks an edit that may be made without asking, or says why it may not: only this place may
// change, and the manifest must still apply to a cluster that has the object.
func safe(w *workload.Workload, n *source.Node, fix diag.Fix) diag.Fix {
	e := &fix.Edits[0]
	if start, end, ok := w.File().Range(e.Location); ok { // within one line
		e.OldText = string(w.File().Text[start:end])
	}
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
