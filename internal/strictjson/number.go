package strictjson

import (
	"bytes"
	"strconv"
)

// appendNumber appends a JSON number in its canonical form: an integer as it
// is, anything else as ECMAScript writes it, from its decimal digits. An
// exponent no number has is left alone.
func appendNumber(dst, literal []byte) []byte {
	if !bytes.ContainsAny(literal, ".eE") && string(literal) != "-0" {
		return append(dst, literal...)
	}
	mantissa, exponent := literal, 0
	if i := bytes.IndexAny(literal, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(string(literal[i+1:])); err != nil || exponent > 1<<30 || exponent < -1<<30 {
			exponent = 0
			if bytes.ContainsAny(literal[:i], "123456789") {
				return append(dst, literal...)
			}
		}
		mantissa = literal[:i]
	}
	negative := mantissa[0] == '-'
	if negative {
		mantissa = mantissa[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})

	// The value is 0.DIGITS × 10^point.
	digits := append(append(make([]byte, 0, 32), whole...), fraction...)
	point := len(whole) + exponent
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
		point--
	}
	digits = bytes.TrimRight(digits, "0")
	if len(digits) == 0 {
		return append(dst, '0')
	}
	if negative {
		dst = append(dst, '-')
	}
	switch n := len(digits); {
	case n <= point && point <= 21:
		dst = append(dst, digits...)
		for range point - n {
			dst = append(dst, '0')
		}
	case 0 < point && point <= 21:
		dst = append(dst, digits[:point]...)
		dst = append(append(dst, '.'), digits[point:]...)
	case -6 < point && point <= 0:
		dst = append(dst, "0."...)
		for range -point {
			dst = append(dst, '0')
		}
		dst = append(dst, digits...)
	default:
		dst = append(dst, digits[0])
		if n > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		dst = append(dst, 'e')
		if point > 0 {
			dst = append(dst, '+')
		}
		dst = strconv.AppendInt(dst, int64(point-1), 10)
	}
	return dst
}
