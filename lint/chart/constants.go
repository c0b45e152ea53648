package chart

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"
)

// constants generates the results of functions that are random or that read the clock or the time
// zones of the machine. They are the same in each run, and differ from call to call.
type constants struct {
	chart, template string
	call            uint64
}

// stream returns n bytes for the next call.
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

// from returns a function that generates n characters of an alphabet.
func (c *constants) from(alphabet string) func(int) string {
	return func(n int) string {
		text := c.stream(n)
		for i, b := range text {
			text[i] = alphabet[int(b)%len(alphabet)]
		}
		return string(text)
	}
}

// certificate has the fields of Helm's type that templates read.
type certificate struct{ Cert, Key string }

func (c *constants) pem(kind string) string {
	body := base64.StdEncoding.EncodeToString(c.stream(48))
	return "-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n"
}

func (c *constants) pair() (certificate, error) {
	return certificate{c.pem("CERTIFICATE"), c.pem("RSA PRIVATE KEY")}, nil
}

// bcrypt returns a text in the form of a hash with the default cost.
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

// encrypt encrypts with AES-CBC and a constant vector, so that decryptAES of sprig can decrypt the
// result.
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

// now returns the time of every rendering.
func now() time.Time { return time.Date(2025, time.January, 1, 0, 0, 0, 0, time.UTC) }

// moment converts a date like the functions of sprig.
func moment(date any) time.Time {
	switch date := date.(type) {
	case time.Time:
		return date
	case *time.Time:
		return *date
	case int64:
		return time.Unix(date, 0)
	case int:
		return time.Unix(int64(date), 0)
	case int32:
		return time.Unix(int64(date), 0)
	}
	return now()
}

func formatted(layout string, date any) string { return moment(date).UTC().Format(layout) }

// functions returns the functions by their names in sprig. Every time zone is UTC, because the
// zones of the machine are not read.
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

// buildCustomCert is a certificate from texts in base64; that it is one is not checked.
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

// Constants are the functions that a rendering has in place of random ones, of those that
// depend on the machine and of those with a random order, and what sets the template that
// calls them from then on. What holds Render against another engine gives it these.
func Constants(chart string) (functions template.FuncMap, start func(template string)) {
	c := &constants{chart: chart}
	functions = c.functions()
	functions["keys"], functions["values"] = sortedKeys, sortedValues
	return functions, func(template string) { c.template, c.call = template, 0 }
}
