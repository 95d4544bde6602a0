package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"example.com/agl/ports"
)

// An action is what a command does in a turn.
type action func(ctx context.Context, t *turn) error

// parseCommand returns what a line does. files are the script's sections.
func parseCommand(line string, files map[string][]byte) (action, error) {
	word, rest := cut(line)
	switch word {
	case "write":
		return parseWrite(rest, files)
	case "append":
		name, text := cut(rest)
		if err := checkPath(name); err != nil {
			return nil, fmt.Errorf("append PATH TEXT: %w", err)
		}
		return func(_ context.Context, t *turn) error { return t.append(name, text) }, nil
	case "rm":
		name := uncomment(rest)
		if err := checkPath(name); err != nil {
			return nil, fmt.Errorf("rm PATH: %w", err)
		}
		return func(_ context.Context, t *turn) error { return t.remove(name) }, nil
	case "exec":
		return withText(rest, "exec COMMAND", func(ctx context.Context, t *turn) error { return t.exec(ctx, rest) })
	case "say":
		return withText(rest, "say TEXT", func(_ context.Context, t *turn) error { t.say(rest); return nil })
	case "activity":
		return withText(rest, "activity TEXT", func(_ context.Context, t *turn) error { t.activity(rest); return nil })
	case "call":
		tool, args := cut(rest)
		return withJSON(args, "call TOOL JSON", func(ctx context.Context, t *turn, args json.RawMessage) error {
			return t.call(ctx, tool, args)
		})
	case "report":
		return withJSON(rest, "report JSON", func(ctx context.Context, t *turn, args json.RawMessage) error {
			return t.report(ctx, args)
		})
	case "usage":
		return parseUsage(rest)
	case "sleep":
		d, err := time.ParseDuration(uncomment(rest))
		if err != nil || d < 0 {
			return nil, fmt.Errorf("sleep DURATION: %q is no duration like 300ms or 2s", rest)
		}
		return func(ctx context.Context, _ *turn) error { return sleep(ctx, d) }, nil
	case "stop":
		if reason := uncomment(rest); reason != string(ports.StopLimit) {
			return nil, fmt.Errorf("stop: %q is no reason; there is: limit", reason)
		}
		return func(_ context.Context, t *turn) error { t.outcome.Stop = ports.StopLimit; return nil }, nil
	case "fail":
		return parseFail(rest)
	case "crash":
		if uncomment(rest) != "" {
			return nil, errors.New("crash takes nothing more")
		}
		return func(context.Context, *turn) error { return crash() }, nil
	default:
		return nil, fmt.Errorf("unknown command %q; there are write, append, rm, exec, say, activity, call, report, "+
			"usage, sleep, stop, fail and crash (if the section is a file, have a write name it)", ports.Clip(word, 40))
	}
}

func parseWrite(rest string, files map[string][]byte) (action, error) {
	name, from := cut(rest)
	if err := checkPath(name); err != nil {
		return nil, fmt.Errorf("write PATH SECTION: %w", err)
	}
	from = uncomment(from)
	data, ok := files[from]
	if !ok {
		return nil, fmt.Errorf("write PATH SECTION: there is no section %q", from)
	}
	return func(_ context.Context, t *turn) error { return t.write(name, data) }, nil
}

// checkPath refuses what does not lead to something in the checkout.
func checkPath(name string) error {
	switch {
	case name == "":
		return errors.New("the path is missing")
	case path.Clean(name) == "." || !filepath.IsLocal(filepath.FromSlash(name)):
		return fmt.Errorf("%q is no path in the checkout", name)
	}
	return nil
}

func withText(text, usage string, do action) (action, error) {
	if text == "" {
		return nil, fmt.Errorf("%s: nothing follows", usage)
	}
	return do, nil
}

// withJSON reads one value, and nothing but a comment after it.
func withJSON(text, usage string, do func(context.Context, *turn, json.RawMessage) error) (action, error) {
	var args json.RawMessage
	dec := json.NewDecoder(strings.NewReader(text))
	if err := dec.Decode(&args); err != nil {
		return nil, fmt.Errorf("%s: %q is no JSON: %w", usage, ports.Clip(text, 80), err)
	}
	if more := strings.TrimSpace(text[dec.InputOffset():]); more != "" && !strings.HasPrefix(more, "#") {
		return nil, fmt.Errorf("%s: %q follows the JSON", usage, ports.Clip(more, 80))
	}
	return func(ctx context.Context, t *turn) error { return do(ctx, t, args) }, nil
}

func parseUsage(rest string) (action, error) {
	fields := strings.Fields(uncomment(rest))
	var tokens []int64
	for _, f := range fields {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("usage INPUT OUTPUT: %q is no number of tokens", f)
		}
		tokens = append(tokens, n)
	}
	if len(tokens) != 2 {
		return nil, fmt.Errorf("usage INPUT OUTPUT: there are %d numbers", len(tokens))
	}
	return func(_ context.Context, t *turn) error { t.use(tokens[0], tokens[1]); return nil }, nil
}

func parseFail(rest string) (action, error) {
	word, text := cut(rest)
	if text == "" {
		return nil, errors.New("fail KIND TEXT: no text follows")
	}
	switch k := ports.Kind(word); k {
	case ports.Unavailable, ports.Unexpected, ports.Denied:
		return func(context.Context, *turn) error { return k.Errorf("", "%s", text) }, nil
	default:
		return nil, fmt.Errorf("fail KIND TEXT: %q is none of unavailable, unexpected, denied", word)
	}
}
