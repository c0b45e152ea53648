package change

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/worktree"
)

// LoadBaseline reads the baseline at path or, if path is empty, the baseline that the configuration
// names. It returns nil if there is neither.
func LoadBaseline(path string, conf *config.Config) (b *accept.Baseline, err error) {
	switch {
	case path != "":
		b, err = ReadBaseline(path)
	case conf.Baseline != "":
		path = worktree.Here(worktree.Absolute(conf.Dir, conf.Baseline))
		var text []byte
		if text, err = conf.Read(conf.Baseline); err == nil {
			b, err = accept.ReadBaseline(path, text)
		}
	default:
		return nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the baseline: %s: there is no such file; --write-baseline makes one", path)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	return b, nil
}

// maxBaseline limits the bytes of a baseline.
const maxBaseline = 64 << 20

// ReadBaseline reads a baseline that the user names, so its path is trusted.
func ReadBaseline(path string) (*accept.Baseline, error) {
	text, err := worktree.ReadTrusted(path, maxBaseline)
	if err != nil {
		return nil, err
	}
	return accept.ReadBaseline(path, text)
}
