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

// lineHash is the hash that GitHub's upload action computes for a line of a file. The name of the
// hash in the upload is primaryLocationLineHash. If the upload already contains the hash, the
// action keeps it. It logs a warning if it computes a different hash. schedlint must therefore
// write the same hash as the action, or none.
type lineHash struct {
	sum uint64
	nth int // index among all lines in the file with the same sum, from 1
}

// String returns the sum in hexadecimal and the index, separated by a colon.
func (h lineHash) String() string {
	return strconv.FormatUint(h.sum, 16) + ":" + strconv.Itoa(h.nth)
}

// hashedUnits is the number of UTF-16 code units to hash for each line, not counting blanks. If the
// line is too short, the following lines are included.
const hashedUnits = 100

// power37 is 37^hashedUnits mod 2^64.
const power37 = 0xe59cd09a331cdb71

// roller computes a rolling hash of the last hashedUnits units, sum = Σ unit·37^age mod 2^64.
type roller struct {
	units  [hashedUnits]uint16
	starts [hashedUnits]bool // whether the unit at the same index starts a line
	next   int
	sum    uint64
	seen   map[uint64]int
	lines  []lineHash
}

// push adds a unit and removes the oldest one. If the oldest unit is the first of a line, push
// completes the hash of that line.
func (r *roller) push(unit uint16, startsLine bool) {
	if r.starts[r.next] {
		r.seen[r.sum]++
		r.lines = append(r.lines, lineHash{r.sum, r.seen[r.sum]})
	}
	r.sum = r.sum*37 + uint64(unit) - power37*uint64(r.units[r.next])
	r.units[r.next], r.starts[r.next] = unit, startsLine
	r.next = (r.next + 1) % hashedUnits
}

// lineHashes returns the hash of every line in text. It ignores spaces and tabs, counts every line
// break as a single LF, and adds a unit for the end of the file. If text is not valid UTF-8, it
// returns nil. GitHub's action would replace invalid bytes before hashing, and the number of
// replacement characters is unknown.
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

// fingerprint returns the schedlint/v1 fingerprint of d. The fingerprint is a hash of d's key and a
// number. The number differs between findings with equal keys. The map seen counts findings by key.
func fingerprint(d *diag.Diagnostic, seen map[diag.Key]int) string {
	key := d.ResultKey()
	seen[key]++
	// %q keeps the parts separate, whatever they contain.
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", append(key.Parts(), strconv.Itoa(seen[key]))))
	return hex.EncodeToString(sum[:])
}
