package git

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// gitIn runs git in dir, isolated from the caller's configuration.
func gitIn(t testing.TB, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(childEnv(os.Environ()), "HOME="+dir, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return out
}

// indexedRepo is a repository whose index holds every kind of entry.
func indexedRepo(t testing.TB, format string) string {
	t.Helper()
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q", "--object-format="+format)
	long := strings.Repeat("long/", 30) + strings.Repeat("n", 200)
	for i, name := range []string{"a", "ab", "abc/d", "é", "skip", "assume", "both", "intent", long, "new\nline", "x.gitattributes", "sub/.gitattributes"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, fmt.Appendln(nil, i), 0o644); err != nil {
			t.Fatal(err)
		}
		if name != "intent" {
			gitIn(t, dir, "add", "--", name)
		}
	}
	gitIn(t, dir, "add", "-N", "intent")
	gitIn(t, dir, "update-index", "--skip-worktree", "skip", "both")
	gitIn(t, dir, "update-index", "--assume-unchanged", "assume", "both")
	blob := strings.TrimSpace(string(gitIn(t, dir, "rev-parse", ":a")))
	info := fmt.Sprintf("100644 %[1]s 1\tconflict\n100644 %[1]s 2\tconflict\n100755 %[1]s 3\tconflict\n160000 %[1]s 0\tlink\n", blob)
	cmd := exec.Command("git", "update-index", "--index-info")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(info)
	cmd.Env = childEnv(os.Environ())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

func TestTheIndexIsReadAsGitReadsIt(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		for _, version := range []string{"2", "3", "4"} {
			t.Run(format+" version "+version, func(t *testing.T) {
				t.Parallel()
				dir := indexedRepo(t, format)
				if version == "2" { // which has no room for these bits
					gitIn(t, dir, "update-index", "--no-skip-worktree", "skip", "both")
					gitIn(t, dir, "rm", "-q", "--cached", "intent")
				}
				gitIn(t, dir, "update-index", "--index-version", version)
				data, err := os.ReadFile(filepath.Join(dir, ".git/index"))
				if err != nil {
					t.Fatal(err)
				}
				var got, want index
				if err := walkIndex(data, map[string]int{"sha1": 20, "sha256": 32}[format], got.add); err != nil {
					t.Fatal(err)
				}
				if err := walkListing(gitIn(t, dir, "ls-files", "-v", "--stage", "-z"), want.add); err != nil {
					t.Fatal(err)
				}
				if len(want.unmerged) != 1 || len(want.gitlinks) != 1 || len(want.attributes) != 1 || len(want.assumed) != 2 {
					t.Errorf("the index does not hold what it should: %+v", want)
				}
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(index{})); diff != "" {
					t.Errorf("(-git +own):\n%s", diff)
				}
			})
		}
	}
}

func FuzzWalkIndex(f *testing.F) {
	for _, version := range []string{"3", "4"} {
		dir := indexedRepo(f, "sha1")
		gitIn(f, dir, "update-index", "--index-version", version)
		data, err := os.ReadFile(filepath.Join(dir, ".git/index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries := 0
		err := walkIndex(data, 20, func(e indexEntry) {
			entries++
			if bytes.IndexByte(e.path, 0) >= 0 {
				t.Errorf("a path holds a NUL: %q", e.path)
			}
		})
		if err == nil && entries*62 > len(data) {
			t.Errorf("%d entries in %d bytes", entries, len(data))
		}
	})
}

func FuzzWalkListing(f *testing.F) {
	f.Add([]byte("H 100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\ta\x00s 160000 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 2\tb\nc\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		_ = walkListing(out, func(e indexEntry) {
			if bytes.IndexByte(e.path, 0) >= 0 {
				t.Errorf("a path holds a NUL: %q", e.path)
			}
		})
	})
}

func FuzzParseStatus(f *testing.F) {
	f.Add([]byte("# branch.oid 1234\x00# branch.head main\x001 .M N... 100644 100644 100644 aa bb a file\x00? new\x00"))
	f.Add([]byte("2 R. N... 100644 100644 100644 aa bb R100 to\x00from\x00u UU N... 1 2 3 4 a b c path\x00! x\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		s, err := parseStatus(out)
		if err == nil && bytes.Contains(out, []byte("\x00? ")) && len(s.untracked)+len(s.tracked) == 0 {
			t.Errorf("%q is clean", out)
		}
	})
}

func TestAStatusIsReadWhole(t *testing.T) {
	t.Parallel()
	out := "# branch.oid 1234\x00# branch.head main\x001 .M N... 100644 100644 100644 aa bb a  file \x00" +
		"2 R. N... 100644 100644 100644 aa bb R100 to\x00from\x00u UU N... 1 2 3 4 a b c new\nline\x00! ignored\x00? -x\x00? nested/\x00"
	got, err := parseStatus([]byte(out))
	if err != nil {
		t.Fatal(err)
	}
	want := status{oid: "1234", tracked: []string{"a  file ", "from", "new\nline", "to"}, changed: []string{"a  file ", "new\nline"}, untracked: []string{"-x", "nested/"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(status{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, bad := range []string{"x", "1 .M N...\x00", "2 R. N... 1 2 3 a b R1 to\x00", "Z what\x00", "1 .M N... 100644 100644 100644 aa bb \x00"} {
		if _, err := parseStatus([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
	if got, err := parseStatus([]byte("# branch.oid (initial)\x00")); err != nil || got.oid != "" {
		t.Errorf("a branch without a commit: %+v, %v", got, err)
	}
}

func FuzzParseRaw(f *testing.F) {
	f.Add([]byte(":100644 160000 aa bb M\x00path\x00:000000 100644 00 cc A\x00new\nline\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		changes, err := parseRaw(out)
		if err == nil && len(changes) != bytes.Count(out, []byte{0})/2 {
			t.Errorf("%d changes in %q", len(changes), out)
		}
	})
}

func FuzzReadConfig(f *testing.F) {
	f.Add([]byte("core.bare\nfalse\x00filter.x.clean\nsed\ns/a/b/\x00include.path\n~/more\x00core.fsmonitor\x00"))
	f.Fuzz(func(t *testing.T, out []byte) {
		parsed := readConfig(out)
		for key := range parsed.keys {
			if _, ok := parsed.values[key]; !ok {
				t.Errorf("%q has no value", key)
			}
		}
	})
}

func FuzzParseRef(f *testing.F) {
	f.Add("ref: refs/heads/main\n")
	f.Add("0123456789012345678901234567890123456789\n")
	f.Fuzz(func(t *testing.T, data string) {
		r := (&Repo{format: "sha1"}).parseRef(data)
		if r.target != "" && (!strings.HasPrefix(r.target, "refs/") || strings.Contains(r.target, "..")) || r.oid != "" && len(r.oid) != 40 {
			t.Errorf("%q was read as %+v", data, r)
		}
	})
}

func TestAGitVersionIsRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]int{
		"git version 2.39.5 (Apple Git-154)\n": {2, 39}, "git version 2.38.0.windows.1": {2, 38}, "git version 3.0": {3, 0}, "git version 2.45.GIT": {2, 45},
	} {
		if major, minor, ok := parseVersion(text); !ok || [2]int{major, minor} != want {
			t.Errorf("%q is %d.%d, %v", text, major, minor, ok)
		}
	}
	for _, text := range []string{"", "hub version 2", "git version x", "git version 99999999999999999999.1"} {
		if _, _, ok := parseVersion(text); ok {
			t.Errorf("%q was read", text)
		}
	}
}

func TestEveryVariableThatIsLocalToARepositoryIsStripped(t *testing.T) {
	t.Parallel()
	names := strings.Fields(string(gitIn(t, t.TempDir(), "rev-parse", "--local-env-vars")))
	names = append(names, "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0", "GIT_TRACE", "GIT_NAMESPACE", "GIT_LITERAL_PATHSPECS", "GIT_EXTERNAL_DIFF")
	keep := []string{"GIT_AUTHOR_NAME", "GIT_COMMITTER_EMAIL", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "HOME", "PATH"}
	var base []string
	for _, name := range append(names, keep...) {
		base = append(base, name+"=x")
	}
	got := make(map[string]string)
	for _, entry := range childEnv(base) {
		name, value, _ := strings.Cut(entry, "=")
		got[name] = value
	}
	for _, name := range names {
		if got[name] == "x" {
			t.Errorf("%s is passed on", name)
		}
	}
	for _, name := range keep {
		if got[name] != "x" {
			t.Errorf("%s is not passed on", name)
		}
	}
}

func TestWhatNamesTheLFSFilter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"*.psd filter=lfs diff=lfs merge=lfs -text\n": true, "a\n*.x\tfilter=lfs": true, "*.x filter=lfs\r\n": true,
		"# *.x filter=lfs\n": false, "*.x filter=lfsx\n": false, "*.x -filter\n": false, "": false, "*.x xfilter=lfs": false,
	} {
		if got := wantsLFS([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
