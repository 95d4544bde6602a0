package strictjson

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
)

// Decode sets *into to what the document says, or leaves it alone and returns
// an *[Error] that says where the document is not what the type describes. into
// is a non-nil pointer. 1.0 is taken for an integer, null for the zero value.
func Decode(data []byte, into any) error {
	dst, err := destination(into)
	if err != nil {
		return err
	}
	fresh := reflect.New(dst.Type())
	if err := decode(data, fresh.Interface()); err != nil {
		return err
	}
	dst.Set(fresh.Elem())
	return nil
}

func destination(into any) (reflect.Value, error) {
	ptr := reflect.ValueOf(into)
	if ptr.Kind() != reflect.Pointer || ptr.IsNil() {
		return reflect.Value{}, &Error{Err: fmt.Errorf("the destination must be a pointer, not %T", into)}
	}
	return ptr.Elem(), nil
}

// decode reads into a zero value.
func decode(data []byte, fresh any) error {
	err := json.Unmarshal(data, fresh, reading)
	var semantic *json.SemanticError
	if errors.As(err, &semantic) && semantic.JSONKind == '0' && semantic.GoType != nil && isInt(semantic.GoType.Kind()) {
		reflect.ValueOf(fresh).Elem().SetZero()
		err = json.Unmarshal(data, fresh, readingWhole)
	}
	if err != nil {
		return readError(err)
	}
	return nil
}
