package agl_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	goBlock  = regexp.MustCompile("(?s)(?:<!-- from ([^ ]+) -->\n)?```go\n(.*?)```")
	fileLink = regexp.MustCompile(`\]\(([^)#:]+)\)`)
)

// A program in a README that nobody compiles is wrong before long.
func TestTheProgramsInTheREADMEAreCutFromTheirFiles(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := goBlock.FindAllStringSubmatch(string(readme), -1)
	if len(blocks) == 0 {
		t.Fatal("no program found in README.md")
	}
	for _, block := range blocks {
		file, program := block[1], block[2]
		if file == "" {
			t.Errorf("this program does not say which file it is from:\n%s", program)
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(text), program) {
			t.Errorf("this is not in %s:\n%s", file, program)
		}
	}
}

func TestTheDocumentsLinkToFilesThatExist(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range fileLink.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(link[1]); err != nil {
				t.Errorf("%s: %v", doc, err)
			}
		}
	}
}

func TestTheTestsThatTheREADMENamesExist(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, pattern := range []string{"*_test.go", "*/*/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
		}
	}
	for _, name := range regexp.MustCompile("`(Test[A-Z]\\w+)`").FindAllStringSubmatch(string(readme), -1) {
		if !strings.Contains(tests.String(), "func "+name[1]+"(") {
			t.Errorf("README.md names %s, which is no test", name[1])
		}
	}
}

func TestTheREADMEsTestCommandIsWhatCIRunsFirst(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "\ngo test ./...\n") {
		t.Error("README.md has no line go test ./...")
	}
	ci, err := os.ReadFile(".ci/run")
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile(`(?m)^(?:go|tool|must_be_empty) .*$`).FindString(string(ci))
	if first != "go test ./... </dev/null" {
		t.Errorf("the first check of .ci/run is %q", first)
	}
}
