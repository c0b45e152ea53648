package source

import (
	"regexp"
	"strconv"
	"strings"
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
var yamlFloat = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

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
	}
	if t, ok := words[s]; ok {
		return t
	}
	plain := strings.ReplaceAll(s, "_", "")
	if _, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return Int
	}
	if _, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return Int
	}
	if yamlFloat.MatchString(plain) {
		return Float
	}
	return String
}

// resolveTag gives the type of a scalar with an explicit tag.
func resolveTag(tag, value string) Type {
	switch strings.TrimPrefix(tag, "tag:yaml.org,2002:") {
	case "!!int", "int":
		return Int
	case "!!float", "float":
		return Float
	case "!!bool", "bool":
		return Bool
	case "!!null", "null":
		return Null
	}
	return String
}
