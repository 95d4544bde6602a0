package ledger

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
)

// largeValue is the size, in bytes, from which a value is kept behind its
// document, and read again when it is needed: a book holds what a resume of
// many steps needs, not all that they said.
const largeValue = 4 << 10

var newline = []byte("\n")

// behind is what a document says of the value behind it, so that a torn one
// shows.
type behind struct {
	Size  int    `json:"size"`   // bytes
	CRC32 uint32 `json:"crc32c"` // Castagnoli's, of the bytes
}

// shorten returns what of a value is in its document: the value, or what is
// behind it.
func shorten(value json.RawMessage) (json.RawMessage, *behind) {
	if len(value) < largeValue {
		return value, nil
	}
	return nil, &behind{Size: len(value), CRC32: checksum(value)}
}

// lengthen puts a value behind its document.
func lengthen(doc []byte, value json.RawMessage) []byte {
	return append(append(doc, newline...), value...)
}

// check compares what is behind a document with what the document says.
func (b *behind) check(value []byte) error {
	switch {
	case (b == nil) != (len(value) == 0):
		return errNoValue
	case b == nil:
		return nil
	case len(value) != b.Size:
		return fmt.Errorf("its value has %d bytes, and had %d", len(value), b.Size)
	case checksum(value) != b.CRC32:
		return fmt.Errorf("its value is not what was written")
	}
	return nil
}

func checksum(value []byte) uint32 {
	return crc32.Checksum(value, crc32.MakeTable(crc32.Castagnoli))
}
