package agl_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	block = regexp.MustCompile("(?ms)(?:^<!-- from ([^ ]+) -->\n)?^```(\\w*)\n(.*?)^```$")
	link  = regexp.MustCompile(`\]\(([^): ]+)\)`)
)

// documents returns what is written for people, by its path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(text)
		}
	}
	return texts
}

// A program in a document that nobody compiles is wrong before long.
func TestTheProgramsInTheDocumentsAreCutFromTheirFiles(t *testing.T) {
	t.Parallel()
	compared := 0
	for doc, text := range documents(t) {
		for _, b := range block.FindAllStringSubmatch(text, -1) {
			file, language, program := b[1], b[2], b[3]
			if file == "" {
				if language == "go" && doc != "docs/aglvet.md" { // whose lines are those that are to be found
					t.Errorf("%s: this program does not say which file it is from:\n%s", doc, program)
				}
				continue
			}
			compared++
			source, err := os.ReadFile(file)
			if err != nil {
				t.Errorf("%s: %v", doc, err)
				continue
			}
			if !holds(string(source), program) {
				t.Errorf("%s: this is not in %s:\n%s", doc, file, program)
			}
		}
	}
	if compared < 30 {
		t.Errorf("only %d programs were found in the documents", compared)
	}
}

// holds reports whether source has the lines of program, which a document may
// show less deeply indented, or without being a comment.
func holds(source, program string) bool {
	for _, indent := range []string{"", "\t", "\t\t", "\t\t\t\t", "\t// ", "\t// Output: "} {
		if strings.Contains("\n"+source, "\n"+regexp.MustCompile("(?m)^(.)").ReplaceAllString(program, indent+"$1")) {
			return true
		}
	}
	return false
}

func TestTheDocumentsLinkToFilesAndSectionsThatExist(t *testing.T) {
	t.Parallel()
	texts := documents(t)
	for doc, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			file, section, _ := strings.Cut(m[1], "#")
			to := doc
			if file != "" {
				to = filepath.Join(filepath.Dir(doc), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s: %v", doc, err)
			}
			if section != "" && !sections(texts[to])[section] {
				t.Errorf("%s: %s has no section #%s", doc, to, section)
			}
		}
	}
}

// sections returns the names by which a document's headings are linked to.
func sections(text string) map[string]bool {
	names := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

func TestTheTestsThatTheDocumentsNameExist(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	for _, pattern := range []string{"*_test.go", "*/*_test.go", "*/*/*_test.go"} {
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
	for _, doc := range []string{"README.md", "docs/testing.md"} {
		for _, name := range regexp.MustCompile("`((?:Test|Example)[A-Z_]\\w+)`").FindAllStringSubmatch(documents(t)[doc], -1) {
			if !strings.Contains(tests.String(), "func "+name[1]+"(") {
				t.Errorf("%s names %s, which is no test", doc, name[1])
			}
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
