package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// largeValue is the size, in bytes, from which a value is kept behind its
// record, and read again when it is needed: a book holds what a resume of many
// steps needs, not all that they said.
const largeValue = 4 << 10

// recordFile is a record as it is stored.
type recordFile struct {
	Format int     `json:"format"`
	Behind *behind `json:"behind,omitempty"` // the value, if it is behind the record
	ports.Record
}

// behind tells a large value from a torn one.
type behind struct {
	Size  int    `json:"size"`   // bytes
	CRC32 uint32 `json:"crc32c"` // Castagnoli's, of the bytes
}

func checksum(value []byte) uint32 {
	return crc32.Checksum(value, crc32.MakeTable(crc32.Castagnoli))
}

// encodeRecord returns a record's document, and whether its value is a large
// one.
func encodeRecord(r *ports.Record) (doc []byte, large bool, err error) {
	file := recordFile{Format: Format, Record: *r}
	if large = len(r.Value) >= largeValue; large {
		file.Behind = &behind{Size: len(r.Value), CRC32: checksum(r.Value)}
		file.Value = nil
	}
	if doc, err = strictjson.Canonical(file); err != nil || !large {
		return doc, large, err
	}
	doc = append(doc, '\n')
	return append(doc, r.Value...), large, nil
}

// decodeRecord reads a record's document.
func decodeRecord(doc []byte) (r *ports.Record, large bool, err error) {
	header, value, large := bytes.Cut(doc, []byte("\n"))
	var file recordFile
	err = strictjson.DecodeExact(header, &file)
	switch {
	case err == nil && file.Format != Format, err != nil && otherFormat(header):
		return nil, false, errFormat(header)
	case err != nil:
		return nil, false, err
	case large != (file.Behind != nil):
		return nil, false, fmt.Errorf("its value is missing, or one that it has not is there")
	case !large:
		return &file.Record, false, nil
	case len(value) != file.Behind.Size:
		return nil, false, fmt.Errorf("its value has %d bytes, and had %d", len(value), file.Behind.Size)
	case checksum(value) != file.Behind.CRC32:
		return nil, false, fmt.Errorf("its value is not what was written")
	}
	file.Value = json.RawMessage(value)
	return &file.Record, true, nil
}
