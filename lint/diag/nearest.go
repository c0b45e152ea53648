package diag

import "strings"

// Nearest returns the candidate that the user most likely meant instead of word, or "" if no
// candidate is near. At most a third of the letters in word may be wrong, and no more than three.
// Letter case is ignored. If several candidates are equally near, the first one is returned. A word
// longer than any valid name has no near candidate.
func Nearest(word string, candidates []string) string {
	return Within(word, candidates, min(3, max(1, len(word)/3)))
}

// Within returns the candidate that needs the fewest edits to become word. It returns "" if every
// candidate needs more than the given number of edits. An edit inserts, deletes or replaces a
// letter, or swaps two letters. Letter case is ignored. A candidate equal to word is skipped.
func Within(word string, candidates []string, edits int) string {
	if len(word) > longestName {
		return ""
	}
	best, bestDistance := "", edits+1
	lower := strings.ToLower(word)
	var d distances
	for _, c := range candidates {
		if c == word {
			continue
		}
		if n := d.between(lower, strings.ToLower(c), bestDistance); n < bestDistance {
			best, bestDistance = c, n
		}
	}
	return best
}

// longestName is the maximum length of a qualified name: a domain of 253 characters, a slash and 63
// more characters. Longer words are ignored, because comparing long words is slow.
const longestName = 317

// distances holds rows of the distance table. Later comparisons reuse them.
type distances struct{ before, last, row []int }

// between returns the number of edits that turn a into b. An edit inserts, deletes or replaces a
// letter, or swaps two adjacent letters. A result of limit or more is not exact.
func (d *distances) between(a, b string, limit int) int {
	if n := len(a) - len(b); n >= limit || -n >= limit {
		return limit
	}
	if len(d.row) <= len(b) {
		d.before, d.last, d.row = make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	}
	before, last, row := d.before[:len(b)+1], d.last[:len(b)+1], d.row[:len(b)+1]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least >= limit { // no row has a smaller minimum than the row before it
			return limit
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Question asks the user whether name was meant. It returns "" if name is empty.
func Question(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}
