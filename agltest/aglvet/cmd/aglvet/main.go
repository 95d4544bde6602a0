// Command aglvet checks that AGL workflows can be resumed: see package
// [example.com/agl/agltest/aglvet].
//
//	go build -o aglvet example.com/agl/agltest/aglvet/cmd/aglvet
//	go vet -vettool=./aglvet ./...   # with the cache of the go command, and tests
//	./aglvet ./...                   # alone
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"example.com/agl/agltest/aglvet"
)

func main() { singlechecker.Main(aglvet.Analyzer) }
