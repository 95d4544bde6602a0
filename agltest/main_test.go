package agltest_test

import (
	"testing"

	"example.com/agl/agltest"
)

func TestMain(m *testing.M) { agltest.Main(m) }
