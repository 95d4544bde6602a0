package strictjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"example.com/agl/internal/strictjson"
	"example.com/agl/ports"
)

func record(value string) ports.Record {
	r := ports.Record{
		Seq: 7, Kind: ports.KindStep, Namespace: "_base", Name: "reviewer", Key: strings.Repeat("ab", 32),
		Value: json.RawMessage(value), Before: strings.Repeat("c", 40), Head: strings.Repeat("d", 40), Called: 6,
		Model: "claude/opus", Ending: "read", Session: "3b0b3c0e-1111",
		Usage:   ports.Usage{Input: 12000, Output: 900, Cached: 44, Cost: 0.123, Complete: true},
		Started: time.Unix(1e9, 12345), Ended: time.Unix(1e9, 98765),
	}
	for i := range 4 {
		r.Terms = append(r.Terms, ports.Term{Name: fmt.Sprintf("term%d", i), Digest: strings.Repeat("ef", 32)})
	}
	return r
}

// manyFindings is a report of about n bytes.
func manyFindings(n int) map[string]any {
	var items []any
	for size := 0; size < n; size += 150 {
		items = append(items, map[string]any{
			"severity": "high", "line": len(items), "file": "internal/foo/bar.go",
			"text": fmt.Sprintf("finding %d: the error of Close is not checked, so a full disk \"looks\" like success", len(items)),
		})
	}
	return map[string]any{"items": items}
}

func BenchmarkDecodeExact(b *testing.B) {
	for name, value := range map[string]string{
		"1KB":               `{"items":[{"severity":"high","text":"no test"}]}`,
		"256KB of findings": canonical(b, manyFindings(256<<10)),
		"256KB of text":     canonical(b, strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 256<<10/45)),
	} {
		doc := []byte(canonical(b, record(value)))
		b.Run(name, func(b *testing.B) {
			compare(b, len(doc),
				func() error { var r ports.Record; return strictjson.DecodeExact(doc, &r) },
				func() error { var r ports.Record; return json.Unmarshal(doc, &r) })
		})
	}
}

func BenchmarkCanonical(b *testing.B) {
	for name, v := range map[string]any{
		"1KB record":         record(`{"items":[{"severity":"high","text":"no test"}]}`),
		"1KB text":           strings.Repeat("word ", 200),
		"1KB of findings":    findingsOf(1 << 10),
		"256KB of findings":  findingsOf(256 << 10),
		"256KB raw":          json.RawMessage(canonical(b, findingsOf(256<<10))),
		"256KB of text":      strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 256<<10/45),
		"1KB of map[string]": manyFindings(1 << 10),
	} {
		b.Run(name, func(b *testing.B) {
			compare(b, len(canonical(b, v)),
				func() error { _, err := strictjson.Canonical(v); return err },
				func() error { _, err := json.Marshal(v); return err })
		})
	}
}

func findingsOf(n int) findings {
	var f findings
	for size := 0; size < n; size += 130 {
		f.Items = append(f.Items, finding{
			Severity: "high", Line: len(f.Items), Score: 0.5, Wait: time.Second,
			N: "12", Tags: map[string]any{"file": "internal/foo/bar.go", "also": true},
		})
	}
	return f
}

// compare benchmarks ours, and reports the best of many short turns of it
// against the best of encoding/json's in between: a busy machine slows both.
func compare(b *testing.B, size int, ours, theirs func() error) {
	b.ReportAllocs()
	b.SetBytes(int64(size))
	for b.Loop() {
		if err := ours(); err != nil {
			b.Fatal(err)
		}
	}
	turns := max(1, 1<<16/size)
	best := func(least time.Duration, f func() error) time.Duration {
		start := time.Now()
		for range turns {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
		return min(least, time.Since(start))
	}
	o, t := time.Hour, time.Hour
	for range 50 {
		o, t = best(o, ours), best(t, theirs)
	}
	b.ReportMetric(float64(o)/float64(turns)/1e3, "best-µs")
	b.ReportMetric(float64(o)/float64(t), "×encoding/json")
}
