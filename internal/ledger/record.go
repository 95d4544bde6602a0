package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

// recordFile is a record as it is stored.
type recordFile struct {
	Format int     `json:"format"`
	Behind *behind `json:"behind,omitempty"` // the value, if it is behind the record
	ports.Record
}

// encodeRecord returns a record's document, and whether its value is a large
// one.
func encodeRecord(r *ports.Record) (doc []byte, large bool, err error) {
	file := recordFile{Format: Format, Record: *r}
	file.Value, file.Behind = shorten(r.Value)
	if doc, err = strictjson.Canonical(file); err != nil || file.Behind == nil {
		return doc, false, err
	}
	return lengthen(doc, r.Value), true, nil
}

// decodeRecord reads a record's document.
func decodeRecord(doc []byte) (r *ports.Record, large bool, err error) {
	header, value, _ := bytes.Cut(doc, newline)
	var file recordFile
	if err := decodeHeader(header, &file, &file.Format); err != nil {
		return nil, false, err
	}
	if file.Behind != nil {
		file.Value = value
	}
	return &file.Record, file.Behind != nil, file.Behind.check(value)
}

// decodeHeader decodes a document strictly. Of one of another format it says
// just that.
func decodeHeader(doc []byte, into any, format *int) error {
	err := strictjson.DecodeExact(doc, into)
	var head struct {
		Format int `json:"format"`
	}
	switch {
	case err == nil && *format == Format:
		return nil
	case err == nil:
		head.Format = *format
	case json.Unmarshal(doc, &head) != nil || head.Format <= Format:
		return err
	}
	return fmt.Errorf("it is of format %d, this program knows format %d", head.Format, Format)
}

var errNoValue = errors.New("its value is missing, or one that it has not is there")
