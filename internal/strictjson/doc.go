// Package strictjson writes Go values as canonical JSON and reads JSON without
// guessing. Equal values have equal bytes, in every process; what it reads is
// either exactly what the type describes or an [Error] that says where it is
// not.
//
// # Canonical form
//
// Keys are sorted by their bytes (maps and struct fields alike), there is no
// white space, and strings are escaped only where JSON asks for it.
//
//   - An integer keeps all its digits. Every other number has the form
//     ECMAScript gives it (1.0 is 1, 1e3 is 1000, 1E30 is 1e+30), computed on
//     its decimal digits, so that no number passes through a float. -0 is 0.
//   - NaN, infinities, invalid UTF-8, lone surrogates, duplicate keys,
//     functions, channels and complex numbers are refused. Strings are not
//     normalized: é and e followed by an accent are different values.
//   - A nil slice is [], a nil map {}, a nil pointer, interface or
//     json.RawMessage null.
//   - time.Duration is Go's text ("1m30s"). time.Time is RFC 3339 in UTC, so
//     that one instant has one text whatever its zone and its monotonic
//     reading. A []byte is base64.
//   - The tags of encoding/json and the methods MarshalJSON and MarshalText mean
//     what they mean there, except that methods on pointers are called for
//     values that cannot be addressed too (T and *T have the same bytes), that
//     a slice of a named byte type is a list, and that a type encoding/json
//     reads by guessing (two fields of one struct with the same name, an
//     embedded non-struct without a name) is refused.
//
// # What is read
//
// Keys match exactly. Unknown and duplicate keys, invalid UTF-8, lone
// surrogates and anything after the value are refused. Numbers in an any become
// json.Number. The destination is set from its zero value, and only if the
// whole document was read.
//
// It is the only package that imports the pre-release of encoding/json/v2.
package strictjson
