package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/diag"
)

// lineHash is the value that GitHub's upload action computes for one line of a file and stores as
// primaryLocationLineHash. The action keeps a value that it finds in the upload, but warns once per
// result when it would have computed another, so the value must be exactly the same or absent.
type lineHash struct {
	sum uint64
	nth int // the number among the lines of the file with the same sum, from 1
}

// String returns the text form: the sum in hexadecimal and the number.
func (h lineHash) String() string {
	return strconv.FormatUint(h.sum, 16) + ":" + strconv.Itoa(h.nth)
}

// hashedUnits is the number of UTF-16 units, starting with the first of a line and ignoring blanks,
// that the hash of the line covers.
const hashedUnits = 100

// power37 is 37^hashedUnits mod 2^64.
const power37 = 0xe59cd09a331cdb71

// roller hashes the last hashedUnits units: sum = Σ unit·37^age mod 2^64.
type roller struct {
	units  [hashedUnits]uint16
	starts [hashedUnits]bool // the unit at this index is the first of a line
	next   int
	sum    uint64
	seen   map[uint64]int
	lines  []lineHash
}

// push adds a unit and removes the oldest one, which completes the hash of the line that began
// there.
func (r *roller) push(unit uint16, startsLine bool) {
	if r.starts[r.next] {
		r.seen[r.sum]++
		r.lines = append(r.lines, lineHash{r.sum, r.seen[r.sum]})
	}
	r.sum = r.sum*37 + uint64(unit) - power37*uint64(r.units[r.next])
	r.units[r.next], r.starts[r.next] = unit, startsLine
	r.next = (r.next + 1) % hashedUnits
}

// lineHashes returns the hash of every line of text. Space and tab do not count, every line break
// counts as one LF, and the end of the file is a unit of its own. The action decodes invalid text
// with replacement characters; instead of reproducing their number, lineHashes returns nil for such
// text.
func lineHashes(text string) []lineHash {
	const endOfFile = 0xffff
	if !utf8.ValidString(text) {
		return nil
	}
	r := &roller{seen: map[uint64]int{}}
	lineStart, afterCR := true, false
	for _, c := range text {
		skip := c == ' ' || c == '\t' || afterCR && c == '\n'
		afterCR = c == '\r'
		if skip {
			continue
		}
		if c == '\r' {
			c = '\n'
		}
		high, low := utf16.EncodeRune(c)
		if c <= 0xffff {
			r.push(uint16(c), lineStart)
		} else {
			r.push(uint16(high), lineStart)
			r.push(uint16(low), false)
		}
		lineStart = c == '\n'
	}
	r.push(endOfFile, lineStart)
	for range hashedUnits {
		r.push(0, false)
	}
	return r.lines
}

// fingerprint returns the value of schedlint/v1: the identity of d, and the number of d among the
// results with that key, counted in seen.
func fingerprint(d *diag.Diagnostic, seen map[diag.Key]int) string {
	key := d.ResultKey()
	seen[key]++
	// %q keeps the parts apart whatever they contain.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", append(key.Parts(), strconv.Itoa(seen[key]))))
	return hex.EncodeToString(sum[:])
}
