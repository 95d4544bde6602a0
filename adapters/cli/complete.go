package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"example.com/agl"
)

// completeCommand is what the completion scripts call, with the words typed so
// far; the last of them is the one to complete.
const completeCommand = "__complete"

// complete writes what the last word can be, one a line; nothing where the
// shell's own file names are what fits.
func (p Program) complete(ctx context.Context, words []string, stdout io.Writer) {
	if len(words) == 0 {
		return
	}
	s := &session{program: p, grammar: newGrammar(p), stdout: io.Discard, stderr: io.Discard}
	k, err := s.grammar.kong(io.Discard, func(int) {})
	if err != nil {
		return
	}
	last := words[len(words)-1]
	node, values, arg := follow(k.Model.Node, words[:len(words)-1])
	var found []string
	switch {
	case arg != nil: // the value of a flag
		found = enum(arg)
	case strings.HasPrefix(last, "-"):
		for _, group := range node.AllFlags(true) {
			for _, flag := range group {
				found = append(found, "--"+flag.Name)
			}
		}
	case len(node.Children) > 0:
		for _, child := range node.Children {
			found = append(found, child.Name)
		}
	case len(values) < len(node.Positional):
		found = s.values(ctx, words, node, values)
	}
	slices.Sort(found)
	for _, word := range slices.Compact(found) {
		if strings.HasPrefix(word, last) {
			fmt.Fprintln(stdout, word)
		}
	}
}

// follow walks the words and returns the command they lead to, its arguments
// among them, and the flag whose value comes next, if one does.
func follow(node *kong.Node, words []string) (_ *kong.Node, values []string, arg *kong.Value) {
	for _, word := range words {
		if arg != nil {
			arg = nil
			continue
		}
		if strings.HasPrefix(word, "-") {
			arg = expects(node, word)
			continue
		}
		i := slices.IndexFunc(node.Children, func(child *kong.Node) bool { return child.Name == word })
		if i < 0 {
			values = append(values, word)
			continue
		}
		node, values = node.Children[i], nil
	}
	return node, values, arg
}

// expects returns the flag that word names, if its value is the next word.
func expects(node *kong.Node, word string) *kong.Value {
	for _, group := range node.AllFlags(true) {
		for _, flag := range group {
			if slices.Contains(spellings(flag), word) && !flag.IsBool() && !flag.IsCounter() {
				return flag.Value
			}
		}
	}
	return nil
}

// values returns what the next argument of a command can be.
func (s *session) values(ctx context.Context, words []string, node *kong.Node, values []string) []string {
	switch arg := node.Positional[len(values)]; {
	case arg.Enum != "":
		return enum(arg)
	case node.Name == "workflows":
		var names []string
		for _, w := range s.grammar.workflows {
			names = append(names, w.name)
		}
		return names
	case node.Depth() > 0: // a workflow's own argument
	case arg.Name == "label":
		return s.ask(ctx, words, func(engine *agl.Engine) (found []string, err error) {
			runs, err := engine.Runs(ctx)
			for _, info := range runs {
				found = append(found, info.Label)
			}
			return found, err
		})
	case node.Name == "salvage":
		return s.ask(ctx, words, func(engine *agl.Engine) (found []string, err error) {
			all, err := engine.Salvaged(ctx, values[0])
			for _, salvage := range all {
				found = append(found, strconv.Itoa(salvage.N))
			}
			return found, err
		})
	}
	return nil
}

// ask returns what an engine says for the repository that the words are about.
func (s *session) ask(ctx context.Context, words []string, what func(*agl.Engine) ([]string, error)) (found []string) {
	for i, word := range words[:len(words)-1] {
		switch word {
		case "--repo":
			s.globals.Repo = words[i+1]
		case "--home":
			s.globals.Home = words[i+1]
		}
	}
	s.globals.JSON = true // and so nothing but what is asked for
	err := s.with(ctx, func(engine *agl.Engine) (err error) {
		found, err = what(engine)
		return err
	})
	if err != nil {
		return nil // a shell that completes a word has no place for an error
	}
	return found
}

func enum(value *kong.Value) []string {
	if value.Enum == "" {
		return nil
	}
	return value.EnumSlice()
}

// completionScript returns what a shell sources.
func completionScript(shell, program string) string {
	function := "_" + strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '_'
	}, program)
	return strings.NewReplacer("FUNCTION", function, "PROGRAM", program, "COMPLETE", completeCommand).Replace(map[string]string{
		"bash": `FUNCTION() {
	local IFS=$'\n'
	COMPREPLY=($(PROGRAM COMPLETE "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F FUNCTION PROGRAM
`,
		"zsh": `#compdef PROGRAM
FUNCTION() {
	local -a found
	found=(${(f)"$(PROGRAM COMPLETE "${(@)words[2,CURRENT]}" 2>/dev/null)"})
	if (( $#found )); then compadd -a found; else _files; fi
}
if [ "$funcstack[1]" = FUNCTION ]; then FUNCTION "$@"; else compdef FUNCTION PROGRAM; fi
`,
		"fish": `complete -c PROGRAM -a '(PROGRAM COMPLETE (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
	}[shell])
}
