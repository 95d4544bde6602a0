package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/agl/ports"
)

// A guard is what could make git run programs or look elsewhere, at one
// moment. Values are kept as digests only: configuration can hold secrets.
type guard struct {
	Format int                `json:"format"`
	Files  map[string]guarded `json:"files"` // by absolute path; in JSON, by name
}

// guarded is one file, as it was.
type guarded struct {
	State  string            `json:"state"`            // a digest of mode and bytes, or why there is none
	Config bool              `json:"config,omitempty"` // it is configuration: only the keys count
	Keys   map[string]string `json:"keys,omitempty"`   // digests of what is set for each dangerous key
}

const guardFormat = 1

// configLimit is how large a guarded file may be; a larger one is not read.
const configLimit = 4 << 20

// Guard returns what could make git run programs or look elsewhere. Files that
// git has read for AGL before, and that have not changed since, cost no
// process.
func (c *checkout) Guard(ctx context.Context) (json.RawMessage, error) {
	g, err := c.takeGuard(ctx)
	if err != nil {
		return nil, c.repo.fault("note the git configuration before a step", err)
	}
	return json.Marshal(c.named(g))
}

// toldChanges is how many changes are named: an agent could make any number.
const toldChanges = 20

// Verify compares with an earlier guard.
func (c *checkout) Verify(ctx context.Context, old json.RawMessage) error {
	const op = "compare the git configuration with that before the step"
	if len(old) == 0 || string(old) == "null" {
		return nil
	}
	var before guard
	if err := json.Unmarshal(old, &before); err != nil || before.Format != guardFormat {
		return ports.Unexpected.Errorf(op, "what was noted cannot be read (format %d): %w", before.Format, err)
	}
	now, err := c.Guard(ctx)
	if err != nil {
		return err
	}
	var after guard // as before went through JSON, which keeps no bytes that are not UTF-8
	if err := json.Unmarshal(now, &after); err != nil {
		return ports.Internal.Errorf(op, "%w", err)
	}
	var changes []string
	paths := maps.Clone(before.Files)
	maps.Copy(paths, after.Files)
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		was, wasThere := before.Files[name]
		is, isThere := after.Files[name]
		path, inside := c.pathOf(name)
		switch {
		case was.State == is.State:
		case !inside && (!wasThere || !isThere): // the user's, and this is another HOME; or included, and the key that says so tells
		case strings.HasPrefix(is.State, linked), is.State == waits:
			changes = append(changes, path+" "+ports.Clip(ports.Printable(is.State), 200))
		case !was.Config && !is.Config:
			changes = append(changes, path+" was "+howChanged(was.State, is.State))
		case !wasThere || !isThere: // included, or not any more: the key that says so tells
		case strings.HasPrefix(is.State, irregular):
			changes = append(changes, path+" "+is.State)
		default:
			changes = append(changes, c.repo.changedKeys(path, was.Keys, is.Keys)...)
		}
	}
	if more := len(changes) - toldChanges; more > 0 {
		changes = append(changes[:toldChanges], fmt.Sprintf("and %d more", more))
	}
	if len(changes) > 0 {
		return &ports.TamperedError{Changes: changes}
	}
	return nil
}

const (
	absent    = "absent"
	asMade    = "as AGL made it"
	irregular = "is not readable as a regular file"
)

func howChanged(was, is string) string {
	switch {
	case was == absent || was == "":
		return "added"
	case is == absent || is == "":
		return "removed"
	}
	return "changed"
}

// changedKeys says which dangerous keys of a configuration file changed.
func (r *Repo) changedKeys(path string, was, is map[string]string) []string {
	var lines []string
	keys := maps.Clone(was)
	if keys == nil {
		keys = make(map[string]string)
	}
	maps.Copy(keys, is)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		shown := ports.Clip(ports.Printable(key), 200)
		switch {
		case was[key] == is[key]:
		case is[key] == "":
			lines = append(lines, fmt.Sprintf("%s was removed from %s", shown, path))
		default:
			value := ports.Clip(ports.Printable(r.parsed.value(path, key)), 200)
			lines = append(lines, fmt.Sprintf("%s in %s is now %q", shown, path, value))
		}
	}
	return lines
}

// takeGuard looks at every file.
func (c *checkout) takeGuard(ctx context.Context) (*guard, error) {
	g := &guard{Format: guardFormat, Files: make(map[string]guarded)}
	for _, path := range c.repo.configFiles(c.gitDir) {
		if err := c.repo.guardConfig(ctx, g, path, 0); err != nil {
			return nil, err
		}
	}
	for _, path := range c.repo.otherFiles(c.gitDir) {
		_, g.Files[path] = c.repo.guardFile(path)
	}
	for _, link := range c.links() { // what they hold is another when AGL's home was moved
		if got, err := readRegular(link.path, 64<<10); err == nil && string(got) == link.holds {
			g.Files[link.path] = guarded{State: asMade}
		}
	}
	hooks := filepath.Join(c.repo.common, "hooks")
	entries, err := os.ReadDir(hooks)
	if err != nil && !missing(err) {
		g.Files[hooks] = guarded{State: irregular}
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sample") { // git never runs one
			continue
		}
		path := filepath.Join(hooks, e.Name())
		_, g.Files[path] = c.repo.guardFile(path)
	}
	return g, c.guardWays(g)
}

// guardFile returns a file's bytes and how it is now.
func (r *Repo) guardFile(path string) ([]byte, guarded) {
	data, err := readLinked(path, configLimit)
	switch {
	case missing(err):
		return nil, guarded{State: absent}
	case err != nil:
		return nil, guarded{State: irregular + ": " + reason(err)}
	}
	sum := sha256.New()
	if info, err := os.Lstat(path); err == nil {
		fmt.Fprintf(sum, "%v\n", info.Mode()&(fs.ModeType|0o111))
	}
	sum.Write(data)
	return data, guarded{State: hex.EncodeToString(sum.Sum(nil))}
}

// reason is an error's text without a path.
func reason(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err.Error()
	}
	if errors.Is(err, errIrregular) {
		return errIrregular.Error()
	}
	return err.Error()
}

// guardConfig adds a configuration file and what it includes.
func (r *Repo) guardConfig(ctx context.Context, g *guard, path string, depth int) error {
	if _, seen := g.Files[path]; seen || depth > 10 {
		return nil
	}
	data, state := r.guardFile(path)
	state.Config = true
	var includes []string
	if data != nil {
		parsed, err := r.parsed.parse(ctx, r, path, data)
		var exit *exitError
		switch {
		case errors.As(err, &exit): // git itself cannot read it, and stops at it
			state.State = irregular + ": " + firstLine(exit.Stderr)
		case err != nil:
			return err
		default:
			state.Keys, includes = parsed.keys, parsed.includes
			r.guardNamed(g, parsed)
		}
	}
	g.Files[path] = state
	for _, include := range includes {
		if err := r.guardConfig(ctx, g, r.includePath(path, include), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// guardNamed adds the files of ignore rules and attributes that a configuration
// file names. One that is in the checkout is like any other file there.
func (r *Repo) guardNamed(g *guard, parsed *parsedConfig) {
	for _, key := range []string{"core.excludesfile", "core.attributesfile"} {
		named := parsed.values[key]
		if !filepath.IsAbs(named) && !strings.HasPrefix(named, "~/") {
			continue
		}
		path := r.includePath("", named)
		_, g.Files[path] = r.guardFile(path)
	}
}

// configFiles are the configuration files that git reads for a checkout.
func (r *Repo) configFiles(admin string) []string {
	files := []string{
		filepath.Join(r.common, "config"),
		filepath.Join(r.common, "config.worktree"),
		filepath.Join(admin, "config.worktree"),
	}
	if _, set := r.variable("GIT_CONFIG_NOSYSTEM"); !set {
		system, set := r.variable("GIT_CONFIG_SYSTEM")
		if !set {
			system = "/etc/gitconfig"
		}
		files = append(files, system)
	}
	if global, set := r.variable("GIT_CONFIG_GLOBAL"); set {
		return append(files, global)
	}
	if home, set := r.variable("HOME"); set {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return append(files, filepath.Join(r.userConfig(), "config"))
}

// otherFiles are the files beside the configuration that decide what git does
// in a checkout; any change of one counts.
func (r *Repo) otherFiles(admin string) []string {
	files := []string{
		filepath.Join(r.common, "commondir"), // there is none, but git would follow it
		filepath.Join(admin, "commondir"),
		filepath.Join(admin, "gitdir"),
		filepath.Join(r.common, "objects", "info", "alternates"),
	}
	for _, dir := range []string{r.common, admin} {
		for _, name := range []string{"exclude", "attributes", "sparse-checkout", "grafts"} {
			files = append(files, filepath.Join(dir, "info", name))
		}
	}
	for _, name := range []string{"attributes", "ignore"} {
		files = append(files, filepath.Join(r.userConfig(), name))
	}
	return files
}

// userConfig is git's own folder among the user's configuration.
func (r *Repo) userConfig() string {
	if dir, set := r.variable("XDG_CONFIG_HOME"); set && dir != "" {
		return filepath.Join(dir, "git")
	}
	home, _ := r.variable("HOME")
	return filepath.Join(home, ".config", "git")
}

// includePath resolves the path of an include in a configuration file.
func (r *Repo) includePath(file, include string) string {
	if rest, ok := strings.CutPrefix(include, "~/"); ok {
		home, _ := r.variable("HOME")
		return filepath.Join(home, rest)
	}
	if filepath.IsAbs(include) {
		return filepath.Clean(include)
	}
	return filepath.Join(filepath.Dir(file), include)
}

// variable returns a variable of the environment that git children get.
func (r *Repo) variable(name string) (string, bool) {
	for i := len(r.env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(r.env[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}
