package facts

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// JSON returns the facts in the form that rules see, without the parameters of a rule: fields in
// the order of the schema, empty lists as [].
func (f *Facts) JSON() []byte { return appendValue(nil, reflect.ValueOf(f).Elem()) }

func appendValue(to []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Struct:
		return appendStruct(to, v)
	case reflect.Slice:
		to = append(to, '[')
		for i := range v.Len() {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendValue(to, v.Index(i))
		}
		return append(to, ']')
	case reflect.Map:
		if v.Len() == 0 {
			return append(to, "{}"...)
		}
	}
	return appendPlain(to, v.Interface())
}

func appendStruct(to []byte, v reflect.Value) []byte {
	to = append(to, '{')
	first := true
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("json")
		if name == "" {
			continue
		}
		if !first {
			to = append(to, ',')
		}
		first = false
		to = append(appendPlain(to, name), ':')
		to = appendValue(to, v.Field(i))
	}
	return append(to, '}')
}

// appendPlain appends the encoding of package encoding/json.
func appendPlain(to []byte, v any) []byte {
	var out bytes.Buffer
	if err := encode(&out, v); err != nil {
		panic("facts: " + err.Error()) // strings, numbers, labels and manifests always encode
	}
	return append(to, bytes.TrimRight(out.Bytes(), "\n")...)
}

var _ json.Marshaler = (*Facts)(nil)

// MarshalJSON returns the result of JSON.
func (f *Facts) MarshalJSON() ([]byte, error) { return f.JSON(), nil }
