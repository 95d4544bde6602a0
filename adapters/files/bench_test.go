package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"example.com/agl/adapters/files"
	"example.com/agl/ports"
)

// BenchmarkWrite and BenchmarkRead compare the store with the bare calls it
// cannot do without: a write within 1.05 of them, a read about the same.
func BenchmarkWrite(b *testing.B) {
	doc := make([]byte, 1<<10)
	b.Run("bare", func(b *testing.B) {
		dir := b.TempDir()
		for b.Loop() {
			if err := bareWrite(dir, doc); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, durability := range map[string]ports.Durability{"durable": ports.Durable, "volatile": ports.Volatile} {
		b.Run(name, func(b *testing.B) {
			s := files.New(b.TempDir(), "p")
			for b.Loop() {
				if err := s.Write(b.Context(), label, "records/1.json", doc, durability); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func bareWrite(dir string, doc []byte) error {
	f, err := os.CreateTemp(dir, "tmp")
	if err != nil {
		return err
	}
	if _, err := f.Write(doc); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, "1.json")); err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := folder.Sync(); err != nil {
		return err
	}
	return folder.Close()
}

func BenchmarkRead(b *testing.B) {
	s := files.New(b.TempDir(), "p")
	if err := s.Write(b.Context(), label, "records/1.json", make([]byte, 1<<10), ports.Durable); err != nil {
		b.Fatal(err)
	}
	b.Run("bare", func(b *testing.B) {
		path := s.Path(label, "records/1.json")
		for b.Loop() {
			if _, err := os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("store", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Read(b.Context(), label, "records/1.json"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
