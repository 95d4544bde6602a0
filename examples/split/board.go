package split

import (
	"fmt"

	"example.com/agl"
)

// board returns what is shown of a run while its chunks are built: how far each
// is, and how many have landed. What it returns is a function of the status
// alone; it is called for every frame.
func board(request string, chunks []Chunk) func(agl.Status) agl.Screen {
	return func(status agl.Status) agl.Screen {
		now := map[string]agl.NamespaceStatus{}
		for _, ns := range status.Namespaces {
			now[ns.Namespace] = ns
		}
		landed := 0
		table := agl.Table{Header: []string{"CHUNK", "STATE", "TOKENS", ""}}
		for _, chunk := range chunks {
			ns := now[chunk.ID]
			state := stateOf(ns)
			if ns.Landing == agl.LandingDone {
				landed++
			}
			table.Rows = append(table.Rows, []string{chunk.ID, state, fmt.Sprint(ns.Usage.Tokens()), ns.Activity})
		}
		return agl.Screen{
			Title: "split: " + request,
			Body:  []agl.Block{agl.Progress{Label: "landed", Done: landed, Total: len(chunks)}, table},
		}
	}
}

// stateOf says in a word or two how far a chunk is.
func stateOf(ns agl.NamespaceStatus) string {
	switch {
	case len(ns.Asking) > 0:
		return "asks you"
	case ns.Waiting != "":
		return "waits to land"
	case ns.Landing != "": // it lands, has landed, or will not
		return string(ns.Landing)
	case ns.Verb != "":
		return "builds"
	case ns.Records > 0:
		return "built"
	}
	return "waits"
}
