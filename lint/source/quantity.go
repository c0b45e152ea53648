package source

import (
	"strconv"
	"strings"
)

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
