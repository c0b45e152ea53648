// Package locate answers one question: where was this written?
//
// Contract: findings are made in what the scheduler would see, which may be the result of a
// render, and are reported where a person edits. Files names what a run has read, Renders holds
// the results and their sources, and Renders.ToSources and Relocate move a finding with its
// related places and its edits. A place that was not found becomes the start of the render, and
// the finding says so; nothing is guessed. An edit moves only if the sources contain exactly the
// text that it replaces; any other is withheld, with a reason.
//
// Ways from a place to its source:
//
//	kustomization   the marks of the render (package origin), then the chart that it inflates
//	chart           the values file that sets the text, or else the line of the template
//	pointer         the values that it gives the chart (Render.WithEdit)
//	piped input     origin annotations, comments of Helm, or the same object below --source-root
//	other files     the text itself; a Locator finds the object and the field there
//
// Invariants: names are relative to the root of the run, with slashes. The text of a render is
// in Files under a name that no file can have.
//
// Non-goals: rendering (package render), and what a finding says.
package locate
