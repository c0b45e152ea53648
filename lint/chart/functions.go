package chart

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	texttemplate "text/template"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/semver/v3"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/schedlint/schedlint/lint/chart/chartutil"
	"github.com/schedlint/schedlint/lint/chart/template"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sorting"
)

// functions returns Helm's functions except include and tpl. They do not charge for their work,
// because wrap does. They behave as in Helm, with two exceptions. The results of keys and values
// are sorted. The functions in constants return fixed values.
func (e *engine) functions() map[string]any {
	all := sprig.TxtFuncMap()
	delete(all, "env")
	delete(all, "expandenv")
	maps.Copy(all, e.constants.functions())
	maps.Copy(all, map[string]any{
		"toToml": func(v any) string {
			var text bytes.Buffer
			if err := toml.NewEncoder(&text).Encode(v); err != nil {
				return err.Error()
			}
			return text.String()
		},
		"toYaml": toYAML,
		"toYamlPretty": func(v any) string {
			var text bytes.Buffer
			to := goyaml.NewEncoder(&text)
			to.SetIndent(2)
			if to.Encode(v) != nil {
				return ""
			}
			return strings.TrimSuffix(text.String(), "\n")
		},
		"toJson": func(v any) string {
			text, _ := json.Marshal(v) // nil if it fails
			return string(text)
		},
		"fromToml":      tableFrom(toml.Unmarshal),
		"fromYaml":      tableFrom(unmarshalYAML),
		"fromYamlArray": listFrom(unmarshalYAML),
		"fromJson":      tableFrom(json.Unmarshal),
		"fromJsonArray": listFrom(json.Unmarshal),
		"lookup":        func(_, _, _, _ string) (map[string]any, error) { return map[string]any{}, nil },
		"getHostByName": func(string) string { return "" },
		"required":      required,
		"fail":          func(why string) (string, error) { return "", failure(why) },
		"typeOf":        typeOf,
		"typeIs":        func(want string, v any) bool { return typeOf(v) == want },
		"typeIsLike":    func(want string, v any) bool { return typeOf(v) == want || typeOf(v) == "*"+want },
		"keys":          sortedKeys,
		"values":        sortedValues,
		"print":         fmt.Sprint,
		"printf":        printf,
		"println":       fmt.Sprintln,
		"html":          texttemplate.HTMLEscaper,
		"js":            texttemplate.JSEscaper,
		"urlquery":      texttemplate.URLQueryEscaper,
	})
	return all
}

// failure is the error message of a template that called fail or required.
type failure string

func (f failure) Error() string { return string(f) }

func required(why string, value any) (any, error) {
	if value == nil || value == "" {
		return value, failure(why)
	}
	return value, nil
}

// address matches a formatting verb that prints a memory address.
var address = lazy.Regexp(`%[^%a-zA-Z]*p`)

func printf(format string, args ...any) (string, error) {
	if address().MatchString(strings.ReplaceAll(format, "%%", "")) {
		return "", fmt.Errorf("%q prints an address, which is different each time", cut(format))
	}
	return fmt.Sprintf(format, args...), nil
}

func sortedKeys(dicts ...map[string]any) []string {
	all := []string{}
	for _, d := range dicts {
		all = append(all, sorting.Keys(d)...)
	}
	return all
}

func sortedValues(dict map[string]any) []any {
	all := []any{}
	for _, key := range sorting.Keys(dict) {
		all = append(all, dict[key])
	}
	return all
}

func toYAML(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(text), "\n")
}

func unmarshalYAML(text []byte, into any) error { return yaml.Unmarshal(text, into) }

// tableFrom and listFrom return functions that parse a text. For an invalid text, such a function
// returns the error message in its result.
func tableFrom(unmarshal func([]byte, any) error) func(text string) map[string]any {
	return func(text string) map[string]any {
		m := map[string]any{}
		if err := unmarshal([]byte(text), &m); err != nil {
			m["Error"] = err.Error()
		}
		return m
	}
}

func listFrom(unmarshal func([]byte, any) error) func(text string) []any {
	return func(text string) []any {
		list := []any{}
		if err := unmarshal([]byte(text), &list); err != nil {
			return []any{err.Error()}
		}
		return list
	}
}

// methods returns all methods that templates can call on Helm's objects and on the results of
// functions. The first argument of each function is the receiver. The methods Error and String need
// no entry.
func (e *engine) methods() template.Methods {
	whole := func(f files, _ string) files { return f }
	all := map[reflect.Type]map[string]any{
		reflect.TypeFor[files]():         fileMethods(e, whole, whole),
		reflect.TypeFor[*partialFiles](): fileMethods(e, (*partialFiles).need, (*partialFiles).needAll),
		reflect.TypeFor[chartutil.Values](): {
			"AsMap":     chartutil.Values.AsMap,
			"Table":     chartutil.Values.Table,
			"PathValue": chartutil.Values.PathValue,
			"YAML": func(v chartutil.Values) string {
				e.budget.marshalled(reflect.ValueOf(v))
				return toYAML(v) + "\n"
			},
		},
		reflect.TypeFor[*chartutil.KubeVersion](): {"GitVersion": func(v *chartutil.KubeVersion) string { return v.Version }},
		reflect.TypeFor[chartutil.VersionSet]():   {"Has": chartutil.VersionSet.Has},
		reflect.TypeFor[time.Time](): {
			"Add": time.Time.Add, "AddDate": time.Time.AddDate, "Sub": time.Time.Sub,
			"After": time.Time.After, "Before": time.Time.Before, "Equal": time.Time.Equal, "Compare": time.Time.Compare, "IsZero": time.Time.IsZero, "IsDST": time.Time.IsDST,
			"Year": time.Time.Year, "Month": time.Time.Month, "Day": time.Time.Day, "YearDay": time.Time.YearDay, "Weekday": time.Time.Weekday,
			"Hour": time.Time.Hour, "Minute": time.Time.Minute, "Second": time.Time.Second, "Nanosecond": time.Time.Nanosecond,
			"Unix": time.Time.Unix, "UnixMilli": time.Time.UnixMilli, "UnixMicro": time.Time.UnixMicro, "UnixNano": time.Time.UnixNano,
			"UTC": time.Time.UTC, "Local": time.Time.UTC, "Location": time.Time.Location, // every zone is UTC; see constants
			"Round": time.Time.Round, "Truncate": time.Time.Truncate, "Format": time.Time.Format, "GoString": time.Time.GoString,
		},
		reflect.TypeFor[time.Duration](): {
			"Hours": time.Duration.Hours, "Minutes": time.Duration.Minutes, "Seconds": time.Duration.Seconds, "Milliseconds": time.Duration.Milliseconds,
			"Microseconds": time.Duration.Microseconds, "Nanoseconds": time.Duration.Nanoseconds,
			"Abs": time.Duration.Abs, "Round": time.Duration.Round, "Truncate": time.Duration.Truncate,
		},
		reflect.TypeFor[semver.Version](): {
			"Major": semver.Version.Major, "Minor": semver.Version.Minor, "Patch": semver.Version.Patch,
			"Prerelease": semver.Version.Prerelease, "Metadata": semver.Version.Metadata,
			"IncMajor": semver.Version.IncMajor, "IncMinor": semver.Version.IncMinor, "IncPatch": semver.Version.IncPatch,
			"SetPrerelease": semver.Version.SetPrerelease, "SetMetadata": semver.Version.SetMetadata,
		},
		reflect.TypeFor[*semver.Version](): {
			"Original": (*semver.Version).Original, "Compare": (*semver.Version).Compare, "Equal": (*semver.Version).Equal,
			"LessThan": (*semver.Version).LessThan, "LessThanEqual": (*semver.Version).LessThanEqual,
			"GreaterThan": (*semver.Version).GreaterThan, "GreaterThanEqual": (*semver.Version).GreaterThanEqual,
		},
	}
	for _, table := range all {
		for name, f := range table {
			table[name] = e.charged(reflect.ValueOf(f))
		}
	}
	return all
}

// charged returns a method that charges for its arguments and its result.
func (e *engine) charged(f reflect.Value) any {
	run := f.Call
	if f.Type().IsVariadic() {
		run = f.CallSlice
	}
	return reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		for _, arg := range args[1:] {
			e.budget.shallow(arg)
		}
		results := run(args)
		e.budget.shallow(results[0])
		return results
	}).Interface()
}

// fileMethods returns the methods of .Files. Each method charges for the files that it reads. The
// argument "one" returns the files in which a method looks up a name. The argument "many" returns
// the files in which a method looks up a pattern.
func fileMethods[T any](e *engine, one, many func(f T, name string) files) map[string]any {
	all := func(receiver T) files {
		f := many(receiver, "")
		e.budget.charge(len(f) + 1)
		for _, data := range f {
			e.budget.charge(len(data)/bytesPerStep + 1)
		}
		return f
	}
	return map[string]any{
		"Get":      func(f T, name string) string { return one(f, name).Get(name) },
		"GetBytes": func(f T, name string) []byte { return one(f, name).GetBytes(name) },
		"Lines": func(receiver T, name string) []string {
			f := one(receiver, name)
			e.budget.charge(len(f[name])/bytesPerStep + 1)
			return f.Lines(name)
		},
		"Glob": func(receiver T, pattern string) files {
			f := many(receiver, pattern)
			e.budget.charge(len(f) + len(pattern))
			return f.Glob(pattern)
		},
		"AsConfig":  func(f T) string { return all(f).AsConfig() },
		"AsSecrets": func(f T) string { return all(f).AsSecrets() },
	}
}

// constants provides replacements for Helm functions that are random or read the machine's clock or
// time zones. The results of two calls in a run may differ, but every run has the same results.
type constants struct {
	chart, template string
	call            uint64
}

// stream returns n pseudorandom bytes, different for each call.
func (c *constants) stream(n int) []byte {
	c.call++
	seed := fmt.Appendf(nil, "%q %q %d", c.chart, c.template, c.call)
	var out []byte
	for block := uint64(0); len(out) < n; block++ {
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(seed, block))
		out = append(out, sum[:]...)
	}
	return out[:max(n, 0)]
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// from returns a function that generates n characters from an alphabet.
func (c *constants) from(alphabet string) func(int) string {
	return func(n int) string {
		text := c.stream(n)
		for i, b := range text {
			text[i] = alphabet[int(b)%len(alphabet)]
		}
		return string(text)
	}
}

// certificate has the fields of Helm's certificate type that templates can read.
type certificate struct{ Cert, Key string }

func (c *constants) pem(kind string) string {
	body := base64.StdEncoding.EncodeToString(c.stream(48))
	return "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n"
}

func (c *constants) pair() (certificate, error) {
	return certificate{c.pem("CERTIFICATE"), c.pem("RSA PRIVATE KEY")}, nil
}

// bcrypt returns a string that looks like a bcrypt hash with the default cost.
func (c *constants) bcrypt(string) string {
	return "$2a$10$" + c.from("./"+letters+digits)(53)
}

func (c *constants) htpasswd(user, password string) string {
	if strings.Contains(user, ":") {
		return "invalid username: " + user
	}
	return user + ":" + c.bcrypt(password)
}

func (c *constants) integer(low, high int) (int, error) {
	if high <= low {
		return 0, errors.New("randInt: the second number must be larger than the first")
	}
	return low + int(binary.BigEndian.Uint64(c.stream(8))%uint64(high-low)), nil
}

// encrypt encrypts with AES-CBC and a constant initialization vector. sprig's decryptAES can
// decrypt the result.
func (c *constants) encrypt(password, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	key := make([]byte, 32)
	copy(key, password)
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	pad := aes.BlockSize - len(text)%aes.BlockSize
	padded := []byte(text + strings.Repeat(string(rune(pad)), pad))
	out := append(c.stream(aes.BlockSize), make([]byte, len(padded))...)
	cipher.NewCBCEncrypter(block, out[:aes.BlockSize]).CryptBlocks(out[aes.BlockSize:], padded)
	return base64.StdEncoding.EncodeToString(out), nil
}

// now returns the same time in every run.
func now() time.Time { return time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC) }

// moment converts a date in the same way as sprig. Templates cannot get a date of another type.
func moment(date any) time.Time {
	switch date := date.(type) {
	case time.Time:
		return date
	case int64:
		return time.Unix(date, 0)
	case int:
		return time.Unix(int64(date), 0)
	}
	return now()
}

func formatted(layout string, date any) string { return moment(date).UTC().Format(layout) }

// functions returns the functions by their sprig names. Every time zone is UTC, because schedlint
// does not read the machine's time zones.
func (c *constants) functions() map[string]any {
	inZone := func(layout string, date any, _ string) string { return formatted(layout, date) }
	return map[string]any{
		"now":            now,
		"date":           formatted,
		"dateInZone":     inZone,
		"date_in_zone":   inZone,
		"htmlDate":       func(date any) string { return formatted(time.DateOnly, date) },
		"htmlDateInZone": func(date any, _ string) string { return formatted(time.DateOnly, date) },
		"ago":            func(date any) string { return now().Sub(moment(date)).Round(time.Second).String() },
		"toDate":         func(layout, text string) time.Time { t, _ := time.Parse(layout, text); return t },
		"mustToDate":     func(layout, text string) (time.Time, error) { return time.Parse(layout, text) },
		"randAlphaNum":   c.from(letters + digits),
		"randAlpha":      c.from(letters),
		"randNumeric":    c.from(digits),
		"randAscii":      c.from(" !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~"),
		"randInt":        c.integer,
		"randBytes":      func(n int) (string, error) { return base64.StdEncoding.EncodeToString(c.stream(n)), nil },
		"shuffle": func(text string) string {
			all := []rune(text)
			for i, b := range c.stream(len(all)) {
				j := int(b) % (i + 1)
				all[i], all[j] = all[j], all[i]
			}
			return string(all)
		},
		"uuidv4": func() string {
			b := c.stream(16)
			b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		},
		"bcrypt":            c.bcrypt,
		"htpasswd":          c.htpasswd,
		"encryptAES":        c.encrypt,
		"genPrivateKey":     func(string) string { return c.pem("RSA PRIVATE KEY") },
		"derivePassword":    func(_ uint32, _, _, _, _ string) string { return c.from(letters + digits)(20) },
		"genCA":             func(string, int) (certificate, error) { return c.pair() },
		"genCAWithKey":      func(_ string, _ int, key string) (certificate, error) { return c.withKey(key) },
		"buildCustomCert":   buildCustomCert,
		"genSelfSignedCert": func(string, []any, []any, int) (certificate, error) { return c.pair() },
		"genSelfSignedCertWithKey": func(_ string, _, _ []any, _ int, key string) (certificate, error) {
			return c.withKey(key)
		},
		"genSignedCert": func(string, []any, []any, int, certificate) (certificate, error) { return c.pair() },
		"genSignedCertWithKey": func(_ string, _, _ []any, _ int, _ certificate, key string) (certificate, error) {
			return c.withKey(key)
		},
	}
}

func (c *constants) withKey(key string) (certificate, error) {
	return certificate{c.pem("CERTIFICATE"), key}, nil
}

// buildCustomCert decodes a certificate and a key from base64. It does not check that they are
// valid.
func buildCustomCert(cert, key string) (certificate, error) {
	plain, err := base64.StdEncoding.DecodeString(cert)
	if err != nil {
		return certificate{}, errors.New("unable to decode base64 certificate")
	}
	plainKey, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return certificate{}, errors.New("unable to decode base64 private key")
	}
	return certificate{string(plain), string(plainKey)}, nil
}

// Constants returns Render's replacements for functions that are random or depend on the machine,
// and for functions whose results have a random order. Before each template, the caller must call
// start with the template's name. With these functions, tests compare the output of another engine
// with Render's output.
func Constants(chart string) (functions texttemplate.FuncMap, start func(template string)) {
	c := &constants{chart: chart}
	functions = c.functions()
	functions["keys"], functions["values"] = sortedKeys, sortedValues
	return functions, func(template string) { c.template, c.call = template, 0 }
}
