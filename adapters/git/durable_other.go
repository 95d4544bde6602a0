//go:build !linux

package git

import "os"

func writeOut(f *os.File) error { return f.Sync() }
