package page

import "io"

// Draw draws one run.
func Draw(out io.Writer, p *Page) error { return nil }
