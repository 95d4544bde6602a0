//go:build goexperiment.jsonv2 && !go1.27

package strictjson

import "encoding/json/v2"

// errSkip is what it was in the experiment of Go 1.26, which a program that
// embeds AGL may have been built with.
var errSkip = json.SkipFunc
