package facts

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestSchemaFile keeps the committed schema equal to the structs. An update is seen when the test
// is compiled again.
func TestSchemaFile(t *testing.T) {
	want := generated(described(t))
	diff := cmp.Diff(string(want), string(Schema()))
	if diff == "" {
		return
	}
	if os.Getenv("SCHEDLINT_UPDATE") == "" {
		t.Fatalf("schema.json.gz is out of date; run SCHEDLINT_UPDATE=1 go test ./lint/facts -run Schema\n%s", diff)
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = w.Write(want)
	}
	if err := errors.Join(err, w.Close(), os.WriteFile("schema.json.gz", out.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// TestSchemaAcceptsFacts validates a row of every list against the schema.
func TestSchemaAcceptsFacts(t *testing.T) {
	schema := compiled(t)
	f := oneOfEach()
	if err := schema.Validate(decoded(t, f)); err != nil {
		t.Errorf("facts do not fit their schema: %v", err)
	}
}

func TestSchemaIsClosed(t *testing.T) {
	schema := compiled(t)
	for name, spoil := range map[string]func(map[string]any){
		"an unknown list":    func(m map[string]any) { m["worklods"] = []any{} },
		"a missing list":     func(m map[string]any) { delete(m, "workloads") },
		"an unknown field":   func(m map[string]any) { row(m, "workloads")["nmae"] = "x" },
		"a missing field":    func(m map[string]any) { delete(row(m, "workloads"), "name") },
		"an outcome unheard": func(m map[string]any) { row(m, "room")["outcome"] = "maybe" },
		"an answer unheard":  func(m map[string]any) { row(m, "label_keys")["on_pod"] = "perhaps" },
		"a number as string": func(m map[string]any) { row(m, "room")["pods"] = "3" },
	} {
		value := decoded(t, oneOfEach()).(map[string]any)
		spoil(value)
		if schema.Validate(value) == nil {
			t.Errorf("the schema accepts %s", name)
		}
	}
}

// TestNames checks that every row has an id and that every field name is in snake case.
func TestNames(t *testing.T) {
	for list := range reflect.TypeFor[Facts]().Fields() {
		if list.Type.Kind() != reflect.Slice {
			continue
		}
		if id, ok := list.Type.Elem().FieldByName("ID"); !ok || id.Tag.Get("json") != "id" {
			t.Errorf("%s: a row has no id", list.Name)
		}
		for f := range list.Type.Elem().Fields() {
			if name := f.Tag.Get("json"); name == "" || name != strings.ToLower(name) || strings.ContainsAny(name, ",-") {
				t.Errorf("%s.%s: the name %q is not a plain one in snake case", list.Name, f.Name, name)
			}
		}
	}
}

func row(m map[string]any, list string) map[string]any { return m[list].([]any)[0].(map[string]any) }

// oneOfEach returns one row of each list, with values that the schema allows.
func oneOfEach() *Facts {
	f := &Facts{}
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		if list := v.Field(i); list.Kind() == reflect.Slice {
			r := reflect.New(list.Type().Elem()).Elem()
			fill(r)
			list.Set(reflect.Append(list, r))
		}
	}
	return f
}

// fill gives a row and its nested rows values that the schema allows.
func fill(r reflect.Value) {
	for i := range r.NumField() {
		switch field := r.Field(i); {
		case enumeration(r.Type().Field(i)) != nil:
			field.SetString(enumeration(r.Type().Field(i))[0])
		case field.Kind() == reflect.Map:
			field.Set(reflect.MakeMap(field.Type()))
		case field.Kind() == reflect.Struct:
			fill(field)
		case field.Kind() == reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
			if field.Type().Elem().Kind() == reflect.Struct {
				fill(field.Index(0))
			}
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	// The test cannot use Schema, which returns the file as it was when the test was compiled.
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(generated(described(t))))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("facts.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("facts.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func decoded(t *testing.T, f *Facts) any {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
