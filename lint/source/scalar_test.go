package source

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	kubectl "go.yaml.in/yaml/v2"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// scalarTypes maps plain scalars to the types that kubectl gives them, which are those of YAML 1.1
// as in go-yaml v2.
var scalarTypes = map[string]Type{
	"y": Bool, "Y": Bool, "n": Bool, "N": Bool, "yes": Bool, "Yes": Bool, "YES": Bool, "yEs": String, "no": Bool, "NO": Bool,
	"on": Bool, "On": Bool, "ON": Bool, "oN": String, "off": Bool, "OFF": Bool, "true": Bool, "True": Bool, "TRUE": Bool, "tRUE": String,
	"false": Bool, "FALSE": Bool, "t": String, "f": String, "yesterday": String, "nothing": String, "onto": String, "o": String,
	"~": Null, "null": Null, "Null": Null, "NULL": Null, "nUll": String, "nil": String, "none": String, "~~": String,
	"0": Int, "7": Int, "+9": Int, "-0": Int, "-12": Int, "007": Int, "010": Int, "08": Float, "09.5": Float, "0o10": Int, "0O10": Int,
	"0x1f": Int, "0X1F": Int, "0xg": String, "0b101": Int, "-0b1": Int, "0b2": String, "0b+1": Int, "0b-1": Int, "-0b+1": String, "0b": String, "1_000": Int, "_1": String,
	"1__0": Int, "1_": Int, "0_7": Int, "9223372036854775807": Int, "9223372036854775808": Int, "0b1111111111111111111111111111111111111111111111111111111111111111": Int, "0b11111111111111111111111111111111111111111111111111111111111111111": String, "18446744073709551616": Float, "-9223372036854775809": Float,
	"1e3": Float, "1E3": Float, "1e+3": Float, "1e": String, "e3": String, "1.": Float, ".5": Float, "-.5": Float, "+.5": Float, ".": String,
	"1.5": Float, "1_0.5": Float, "._5": String, ".5_0": Float, ".5e3": Float, "1.5.5": String, "1e999": String, "1e-999": Float, "0x1p-2": String,
	".inf": Float, ".Inf": Float, ".INF": Float, "-.inf": Float, "+.INF": Float, ".iNF": String, ".nan": Float, ".NaN": Float, "-.nan": String,
	"inf": String, "nan": String, "Infinity": String, "+": String, "-": String, "--1": String, "+-1": String, "1-1": String,
	"2001-12-14": String, "2001-12-14t21:59:43.10-05:00": String, "12:30:45": String, "1:30": String, "190:20:30": String,
	"=": String, "<<": String, "100m": String, "128Mi": String, "1Gi": String, "25%": String, "v1": String, "1.2.3": String, "apps/v1": String,
	"0.5": Float, "1,000": String, "１２": String, "½": String,
}

func TestPlainScalars(t *testing.T) {
	for text, want := range scalarTypes {
		if got := resolvePlain(text); got != want {
			t.Errorf("%s is type %d, want %d", text, got, want)
		}
	}
}

// kubectlTypes returns the types that kubectl's decoder gives to the values of a map
// (sigs.k8s.io/yaml uses go-yaml v2).
func kubectlTypes(text string) (map[string]Type, error) {
	var values map[string]any
	if err := kubectl.Unmarshal([]byte(text), &values); err != nil {
		return nil, err
	}
	types := map[string]Type{}
	for key, value := range values {
		switch value.(type) {
		case nil:
			types[key] = Null
		case bool:
			types[key] = Bool
		case int, int64, uint64:
			types[key] = Int
		case float64:
			types[key] = Float
		}
	}
	return types, nil
}

// TestScalarsAsKubectl compares types and numbers with kubectl's decoder, for scalarTypes and for
// random scalars that consist of relevant characters.
func TestScalarsAsKubectl(t *testing.T) {
	texts := slices.Sorted(maps.Keys(scalarTypes))
	random := rand.New(rand.NewPCG(1, 2))
	for range trials.AtLeast(t, 20_000, 5000) {
		const alphabet = "0123456789abefxoXOB_.+-:eEyYnNtT~ "
		var b strings.Builder
		for range 1 + random.IntN(7) {
			b.WriteByte(alphabet[random.IntN(len(alphabet))])
		}
		texts = append(texts, b.String())
	}
	for _, text := range texts {
		sameScalar(t, text)
	}
}

func sameScalar(t *testing.T, text string) {
	docs, errs := documents([]byte("a: "+text+"\n"), everything)
	types, err := kubectlTypes("a: " + text + "\n")
	if err != nil || len(errs) > 0 || len(docs) != 1 {
		return // the parsers reject it or read a map
	}
	n := docs[0].root.Get("a")
	want, ok := types["a"]
	if n == nil || n.Kind != Scalar {
		return
	}
	if ok && n.Type != want || !ok && n.Type != String {
		t.Errorf("%q is type %d, want %d", text, n.Type, want)
	}
	var value map[string]int64
	if err := kubectl.Unmarshal([]byte("a: "+text+"\n"), &value); err == nil && n.Type == Int {
		if i, ok := n.Int(); !ok || i != value["a"] {
			t.Errorf("%q is %d (%t), want %d", text, i, ok, value["a"])
		}
	}
}

func TestTaggedAndQuotedScalars(t *testing.T) {
	for text, want := range map[string]Type{
		`"1"`: String, `'true'`: String, `"~"`: String, `""`: String, "|\n  1": String, ">\n  true": String,
		"!!str 1": String, "!!str true": String, "!!str": String, "!!int 1": Int, `!!int "1"`: Int, "!!int x": String, "!!float 1": Float,
		`!!bool "yes"`: Bool, `!!bool ""`: String, "!!bool": String, "!!null": Null, `!!null ""`: Null, "!!null x": String, "!other 1": String,
		"!<tag:yaml.org,2002:int> 1": Int, "!!binary aGk=": String, "!!timestamp 2001-12-14": String, "&a 1": Int, "&a": Null, "": Null,
	} {
		docs, errs := documents([]byte("a: "+text+"\n"), everything)
		if len(docs) != 1 || len(errs) > 0 {
			t.Fatalf("%s: %v", text, errs)
		}
		n := docs[0].root.Get("a")
		if n.Type != want {
			t.Errorf("%s is type %d, want %d", text, n.Type, want)
		}
		if n.Type == Bool && !n.truth() {
			t.Errorf("%s is false", text)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"3": "3", "3.0": "3", "1e3": "1000", "0x1f": "31", "010": "8", "0o10": "8", "1_000": "1000", "-0": "0", "+9": "9", "08": "8", "1_0.0": "10",
		"3.5": "no", ".inf": "no", "-.inf": "no", ".nan": "no", "1e30": "no", "9223372036854775808": "no", "9223372036854775808.0": "no",
		"-9223372036854775808": "-9223372036854775808", "x": "no", `"3"`: "no", "true": "no", "[]": "no", "": "no", "18446744073709551615": "no",
	} {
		docs, _ := documents([]byte("a: "+text+"\n"), everything)
		got := "no"
		if i, ok := docs[0].root.Get("a").Int(); ok {
			got = strconv.FormatInt(i, 10)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
