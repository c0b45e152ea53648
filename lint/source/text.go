package source

// LoadText reads a text that is in no file, such as the result of a render. Name stands
// for it in places.
func LoadText(opts Options, name string, text []byte) *Set {
	if opts.Keep == nil {
		opts.Keep = func(string, string) bool { return true }
	}
	if opts.Drop == nil {
		opts.Drop = func(string) bool { return false }
	}
	r := result{file: NewFile(name, name, text), printed: true}
	r.parse(opts)
	return join([]result{r})
}
