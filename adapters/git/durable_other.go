//go:build !linux || !(amd64 || arm64 || 386 || riscv64 || loong64 || s390x)

package git

import "os"

func writeOut(f *os.File) error { return f.Sync() }
