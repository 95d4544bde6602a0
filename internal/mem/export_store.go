package mem

import (
	"encoding/json"
	"maps"
	"slices"
)

// storeState is a Store as another process is given it.
type storeState struct {
	Cuts      int             `json:"cuts"`
	Documents []storeDocument `json:"documents"`
}

type storeDocument struct {
	Label   string `json:"label"`
	Name    string `json:"name"`
	Data    []byte `json:"data"`
	Durable bool   `json:"durable"`
}

// Export returns all that is stored, without the locks, for Import.
func (s *Store) Export() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := storeState{Cuts: s.cuts}
	for _, label := range slices.Sorted(maps.Keys(s.runs)) {
		for _, name := range slices.Sorted(maps.Keys(s.runs[label])) {
			d := s.runs[label][name]
			state.Documents = append(state.Documents, storeDocument{label, name, d.data, d.durable})
		}
	}
	return json.Marshal(state)
}

// Import replaces what is stored by what another store exported.
func (s *Store) Import(exported []byte) error {
	var state storeState
	if err := json.Unmarshal(exported, &state); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs, s.locked, s.cuts = map[string]map[string]document{}, nil, state.Cuts
	for _, d := range state.Documents {
		if s.runs[d.Label] == nil {
			s.runs[d.Label] = map[string]document{}
		}
		s.runs[d.Label][d.Name] = document{d.Data, d.Durable}
	}
	return nil
}
