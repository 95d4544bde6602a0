package strictjson

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// The options of every call: constants, but for Go's syntax. What the library
// keeps inside them follows from types alone.
var (
	writing = json.JoinOptions(
		legacyTags,
		json.WithMarshalers(json.JoinMarshalers(
			json.MarshalToFunc(writeDuration),
			json.MarshalToFunc(writeTime),
			json.MarshalToFunc(writeNumber),
		)),
	)
	reading = json.JoinOptions(
		legacyTags,
		json.RejectUnknownMembers(true),
		json.WithUnmarshalers(unmarshalers),
	)
	// readingWhole also takes 1.0 for an integer. It looks at every value, so
	// it is used only on documents that need it.
	readingWhole = json.JoinOptions(
		reading,
		json.WithUnmarshalers(json.JoinUnmarshalers(unmarshalers, json.UnmarshalFromFunc(readWhole))),
	)

	legacyTags = json.JoinOptions(
		jsonv1.OmitEmptyWithLegacySemantics(true),
		jsonv1.StringifyWithLegacySemantics(true),
		jsonv1.FormatByteArrayAsArray(true),
	)
	unmarshalers = json.JoinUnmarshalers(
		json.UnmarshalFromFunc(readDuration),
		json.UnmarshalFromFunc(readNumber),
		json.UnmarshalFromFunc(readAny),
	)
)

func writeDuration(enc *jsontext.Encoder, d time.Duration) error {
	return enc.WriteToken(jsontext.String(d.String()))
}

func writeTime(enc *jsontext.Encoder, t time.Time) error {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return fmt.Errorf("the year %d cannot be written in RFC 3339", y)
	}
	b := append(enc.AvailableBuffer(), '"')
	b = t.AppendFormat(b, time.RFC3339Nano)
	return enc.WriteValue(append(b, '"'))
}

func writeNumber(enc *jsontext.Encoder, n stdjson.Number) error {
	return jsonv1.Number(n).MarshalJSONTo(enc)
}

func readNumber(dec *jsontext.Decoder, n *stdjson.Number) error {
	return (*jsonv1.Number)(n).UnmarshalJSONFrom(dec)
}

func readDuration(dec *jsontext.Decoder, d *time.Duration) error {
	switch dec.PeekKind() {
	case 'n':
		*d = 0
		return dec.SkipValue()
	case '"':
		tok, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if *d, err = time.ParseDuration(tok.String()); err != nil {
			return expectation(wantDuration + ", got " + clipped(strconv.Quote(tok.String())))
		}
		return nil
	default:
		raw, err := dec.ReadValue()
		if err != nil {
			return err
		}
		return expectation(wantDuration + ", got " + got(raw))
	}
}

// readAny keeps every digit of a number whose type nobody declared.
func readAny(dec *jsontext.Decoder, v *any) error {
	if dec.PeekKind() != '0' {
		return errSkip
	}
	raw, err := dec.ReadValue()
	*v = stdjson.Number(raw)
	return err
}

// readWhole reads an integer written with a fraction or an exponent: models
// send 1.0 where 1 is meant.
func readWhole(dec *jsontext.Decoder, v any) error {
	dst := reflect.ValueOf(v).Elem()
	if !isInt(dst.Kind()) || dec.PeekKind() != '0' || custom(dst.Type()) {
		return errSkip
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	text := string(appendNumber(nil, raw))
	if dst.CanInt() {
		var n int64
		if n, err = strconv.ParseInt(text, 10, dst.Type().Bits()); err == nil {
			dst.SetInt(n)
		}
	} else {
		var n uint64
		if n, err = strconv.ParseUint(text, 10, dst.Type().Bits()); err == nil {
			dst.SetUint(n)
		}
	}
	if err != nil {
		return expectation(notInteger(dst.Type(), raw, errors.Is(err, strconv.ErrRange)))
	}
	return nil
}

func isInt(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uintptr }

// custom reports whether t reads or writes its own JSON or text.
func custom(t reflect.Type) bool {
	m := MethodsOf(t)
	return m != Methods{}
}

// Methods says which of the methods that replace the encoding of a type a type
// or its pointer has.
type Methods struct{ MarshalJSON, UnmarshalJSON, MarshalText, UnmarshalText bool }

// MethodsOf returns the encoding methods of t and *t.
func MethodsOf(t reflect.Type) Methods {
	p := reflect.PointerTo(t)
	has := func(types ...reflect.Type) bool {
		for _, i := range types {
			if p.Implements(i) {
				return true
			}
		}
		return false
	}
	return Methods{
		MarshalJSON:   has(reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.MarshalerTo]()),
		UnmarshalJSON: has(reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[json.UnmarshalerFrom]()),
		MarshalText:   has(reflect.TypeFor[textMarshaler](), reflect.TypeFor[textAppender]()),
		UnmarshalText: has(reflect.TypeFor[textUnmarshaler]()),
	}
}
