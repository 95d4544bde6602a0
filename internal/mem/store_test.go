package mem_test

import (
	"testing"

	"example.com/agl/internal/mem"
	"example.com/agl/ports"
	"example.com/agl/ports/porttest"
)

func TestTheStoreKeepsTheContract(t *testing.T) {
	t.Parallel()
	porttest.Store(t, porttest.StoreOptions{
		New: func(testing.TB) ports.Store { return new(mem.Store) },
		PowerCut: func(_ testing.TB, s ports.Store) ports.Store {
			s.(*mem.Store).PowerCut()
			return s
		},
		WriteWithoutRoom: func(t testing.TB, s ports.Store, label, name string, doc []byte, durability ports.Durability) error {
			s.(*mem.Store).Fill(true)
			defer s.(*mem.Store).Fill(false)
			return s.Write(t.Context(), label, name, doc, durability)
		},
	})
}
