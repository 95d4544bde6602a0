package schema

import "example.com/agl/internal/strictjson"

// Validate calls the Validate method of what v, a pointer, points at, if it or
// the pointer has one.
func Validate(v any) error {
	if v, ok := v.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// Revive reads a recorded value into *into, and validates it: what was valid
// when it was recorded may not be any more.
func Revive(recorded []byte, into any) error {
	if err := strictjson.Decode(recorded, into); err != nil {
		return err
	}
	return Validate(into)
}
