package source

import (
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
)

// words lists plain scalars that YAML 1.1 reads as booleans and nulls, like the decoder behind
// kubectl (go-yaml v2, resolve.go), including y and n.
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

// yamlFloat matches floats of go-yaml v2.
var yamlFloat = lazy.Regexp(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// resolvePlain returns the type of an unquoted scalar without a tag.
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

// numeric reports whether a text has only characters of numbers. Most texts that begin with a
// digit, such as 100m, need no further check.
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

// resolveNumber returns the type of a text that may be a number outside the range of int64.
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

// parseInt parses an integer like go-yaml v2: with underscores anywhere, with a sign after 0b, and
// as octal after a leading 0.
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

// resolveTag returns the type of a scalar with an explicit tag. A tag that does not fit the text
// changes nothing.
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

// Limits of a quantity. Kubernetes has none and computes with as many digits as the text asks for,
// so that 1e-100000000 takes hours and gigabytes. The quantities that it writes itself have at most
// 19 digits and exponents from -9 to 18.
const (
	maxQuantityLength   = 64
	maxQuantityExponent = 100
)

// quantityType is the name of the type that is only decoded within the limits.
const quantityType = "Quantity"

// quantityWithin describes a quantity within the limits, for messages.
var quantityWithin = "quantity of at most " + strconv.Itoa(maxQuantityLength) + " characters with an exponent from -" +
	strconv.Itoa(maxQuantityExponent) + " to " + strconv.Itoa(maxQuantityExponent)

// Unwieldy reports whether a quantity exceeds the limits, in which case the Kubernetes library must
// not parse it. Every quantity is checked here first.
func Unwieldy(quantity string) bool {
	quantity = strings.TrimSpace(quantity) // like the library
	if len(quantity) > maxQuantityLength {
		return true
	}
	at := strings.LastIndexAny(quantity, "eE")
	if at < 0 {
		return false
	}
	digits := strings.TrimLeft(quantity[at+1:], "+-0")
	if digits == "" || strings.Trim(digits, "0123456789") != "" { // a suffix as in 2Ei, or not a quantity
		return false
	}
	n, err := strconv.Atoi(digits)
	return err != nil || n > maxQuantityExponent
}
