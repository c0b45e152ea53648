package source

import (
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
)

// words are the plain scalars that YAML 1.1 takes for booleans and nulls, as
// the decoder behind kubectl does (go-yaml v2, resolve.go): y and n included.
var words = map[string]Type{
	"y": Bool, "Y": Bool, "yes": Bool, "Yes": Bool, "YES": Bool,
	"n": Bool, "N": Bool, "no": Bool, "No": Bool, "NO": Bool,
	"true": Bool, "True": Bool, "TRUE": Bool, "false": Bool, "False": Bool, "FALSE": Bool,
	"on": Bool, "On": Bool, "ON": Bool, "off": Bool, "Off": Bool, "OFF": Bool,
	"": Null, "~": Null, "null": Null, "Null": Null, "NULL": Null,
	".nan": Float, ".NaN": Float, ".NAN": Float,
	".inf": Float, ".Inf": Float, ".INF": Float,
	"+.inf": Float, "+.Inf": Float, "+.INF": Float,
	"-.inf": Float, "-.Inf": Float, "-.INF": Float,
}

// yamlFloat is the float form of go-yaml v2.
var yamlFloat = lazy.Regexp(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// resolvePlain gives the type of an unquoted, untagged scalar.
func resolvePlain(s string) Type {
	if s == "" {
		return Null
	}
	switch c := s[0]; {
	case strings.IndexByte("yYnNtTfFoO~", c) >= 0:
		return words[s] // String is the zero Type
	case c != '.' && c != '+' && c != '-' && (c < '0' || c > '9'):
		return String
	case c < '0':
		if t, ok := words[s]; ok {
			return t
		}
	}
	if !numeric(s) {
		return String
	}
	if s[0] == '.' {
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return Float
		}
		return String
	}
	if _, ok := parseInt(s); ok {
		return Int
	}
	return resolveNumber(strings.ReplaceAll(s, "_", ""))
}

// numeric reports whether a text has only characters that numbers have; most
// texts that begin with a digit, as 100m does, need no further look.
func numeric(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
		case strings.IndexByte("+-._xXoO", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// resolveNumber gives the type of what may be a number that int64 cannot hold.
func resolveNumber(s string) Type {
	if _, err := strconv.ParseUint(s, 0, 64); err == nil {
		return Int
	}
	if yamlFloat().MatchString(s) {
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return Float
		}
	}
	if bits, ok := strings.CutPrefix(s, "0b"); ok {
		if _, err := strconv.ParseUint(bits, 2, 64); err == nil {
			return Int
		}
	}
	return String
}

// parseInt reads a whole number as go-yaml v2 does: with underscores anywhere,
// with a sign behind 0b, and octal behind a bare 0.
func parseInt(s string) (int64, bool) {
	s = strings.ReplaceAll(s, "_", "")
	i, err := strconv.ParseInt(s, 0, 64)
	if err == nil {
		return i, true
	}
	if bits, ok := strings.CutPrefix(s, "0b"); ok {
		i, err = strconv.ParseInt(bits, 2, 64)
	} else if bits, ok := strings.CutPrefix(s, "-0b"); ok {
		i, err = strconv.ParseInt("-"+bits, 2, 64)
	}
	return i, err == nil
}

// resolveTag gives the type of a scalar with an explicit tag; a tag that the
// text does not fit changes nothing.
func resolveTag(tag, value string) Type {
	plain := resolvePlain(value)
	switch tag {
	case "!!int", "!!bool", "!!null":
		if tag == tags[plain] {
			return plain
		}
	case "!!float":
		if plain == Int || plain == Float {
			return Float
		}
	}
	return String
}

var tags = map[Type]string{Int: "!!int", Bool: "!!bool", Null: "!!null"}

// Limits of a quantity. Kubernetes has none and counts with as many digits as the
// text asks for, so that 1e-100000000 takes hours and gigabytes. The quantities
// that it writes itself have at most 19 digits and the exponents -9 to 18.
const (
	maxQuantityLength   = 64
	maxQuantityExponent = 100
)

// quantityType is the name of the type that is decoded within the limits.
const quantityType = "Quantity"

// quantityWithin is what a quantity beyond the limits is expected to be.
var quantityWithin = "quantity of at most " + strconv.Itoa(maxQuantityLength) + " characters with an exponent from -" +
	strconv.Itoa(maxQuantityExponent) + " to " + strconv.Itoa(maxQuantityExponent)

// Unwieldy reports whether the text of a quantity is beyond the limits within which
// the Kubernetes library may see it. Every text goes through here first.
func Unwieldy(quantity string) bool {
	quantity = strings.TrimSpace(quantity) // as the library does
	if len(quantity) > maxQuantityLength {
		return true
	}
	at := strings.LastIndexAny(quantity, "eE")
	if at < 0 {
		return false
	}
	digits := strings.TrimLeft(quantity[at+1:], "+-0")
	if digits == "" || strings.Trim(digits, "0123456789") != "" { // a suffix as in 2Ei, or no quantity
		return false
	}
	n, err := strconv.Atoi(digits)
	return err != nil || n > maxQuantityExponent
}
