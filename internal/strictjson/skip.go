//go:build !goexperiment.jsonv2 || go1.27

package strictjson

import "errors"

// errSkip is what a function returns to let the library read a value as usual.
var errSkip = errors.ErrUnsupported
