//go:build linux && !race

package killtest_test

// raced tells that the race detector makes everything slow.
const raced = false
