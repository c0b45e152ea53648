package facts

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"sync"
)

//go:embed schema.json.gz
var packed []byte

// Schema returns the JSON Schema (draft-07) for the input of rules. It is generated from Facts and
// its comments. Every field is required and no other field is allowed. A rule with a misspelled
// field therefore does not load. Apart from descriptions, the schema uses only keywords that OPA
// supports. Callers must not modify it.
func Schema() []byte { return schema() }

// schema unpacks the schema on first use. Runs without custom rules need none.
var schema = sync.OnceValue(func() (text []byte) {
	file, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		text, err = io.ReadAll(file)
	}
	if err != nil {
		panic("facts: " + err.Error()) // the schema is part of the program
	}
	return text
})
