package archtest_test

// A rule places packages of the module and says what their code, tests aside,
// may import.
type rule struct {
	pkgs   []string // below the module; "/..." at the end takes everything below as well; "" is the root package
	inside []string // patterns of this module's packages it may import
	mods   []string // third-party modules it may import
	why    string
}

// rules is the dependency rule. The first rule that places a package counts.
var rules = []rule{
	{
		pkgs: []string{"ports"},
		why:  "the interfaces between the engine and the world outlive every implementation: standard library only",
	},
	{
		pkgs:   []string{"ports/porttest"},
		inside: []string{"ports"},
		mods:   []string{"github.com/google/go-cmp", "github.com/stretchr/testify"},
		why:    "contract suites know the contract and a way to compare, no implementation",
	},
	{
		pkgs:   []string{""},
		inside: []string{"ports", "internal/engine", "internal/ledger", "internal/fingerprint", "internal/schema", "internal/strictjson"},
		why:    "the typed surface stands on the engine; an adapter or a flag library here would reach every user's program",
	},
	{
		pkgs:   []string{"internal/engine"},
		inside: []string{"ports", "internal/ledger", "internal/fingerprint", "internal/schedule", "internal/schema", "internal/strictjson"},
		why:    "the engine is untyped, holds reports to their schemas, and sees the world only through ports",
	},
	{
		pkgs:   []string{"internal/ledger"},
		inside: []string{"ports", "internal/fingerprint", "internal/strictjson"},
		why:    "the ledger writes records through ports.Store; it knows no file system",
	},
	{
		pkgs:   []string{"internal/fingerprint"},
		inside: []string{"ports", "internal/strictjson"},
		why:    "keys are made of values alone: nothing else could be allowed to move them",
	},
	{
		pkgs: []string{"internal/schedule"},
		why:  "it marks places in the engine for tests, and knows nothing",
	},
	{
		pkgs:   []string{"internal/questions"},
		inside: []string{"ports"},
		why:    "which question a key belongs to must not depend on how a terminal is drawn",
	},
	{
		pkgs:   []string{"internal/schema"},
		inside: []string{"ports", "internal/strictjson"},
		mods:   []string{"github.com/invopop/jsonschema", "github.com/santhosh-tekuri/jsonschema/v6"},
		why:    "the JSON Schema libraries stay in one package, so that they can be replaced",
	},
	{
		pkgs:   []string{"internal/strictjson"},
		inside: []string{"ports"},
		mods:   []string{"github.com/go-json-experiment/json"},
		why:    "the JSON library stays in one package, until the standard library has it",
	},
	{
		pkgs:   []string{"internal/proc"},
		inside: []string{"ports"},
		mods:   []string{"golang.org/x/sys"},
		why:    "processes are started in one place, which knows errors and no more",
	},
	{
		pkgs:   []string{"internal/jsonlines"},
		inside: []string{"internal/strictjson"},
		why:    "it reads any program's lines, and knows what no line means",
	},
	{
		pkgs:   []string{"internal/jsonrpc"},
		inside: []string{"internal/jsonlines"},
		why:    "it speaks to any program, and knows what no method means",
	},
	{
		pkgs:   []string{"internal/toolserve"},
		inside: []string{"ports", "internal/jsonrpc"},
		why:    "tools are served the same way to every vendor's program, whatever its channel",
	},
	{
		pkgs:   []string{"internal/vendorprog"},
		inside: []string{"ports", "internal/proc"},
		why:    "what the vendors' programs have in common is in one place, and knows none of their channels",
	},
	{
		pkgs:   []string{"internal/instructions"},
		inside: []string{"ports"},
		why:    "which files of a repository speak to agents is said in one place, for every vendor",
	},
	{
		pkgs:   []string{"internal/examine"},
		inside: []string{"ports", "internal/proc", "internal/vendorprog", "internal/fakeapi", "internal/sealed"},
		why:    "a program is looked into the same way whoever its vendor is: what differs, the adapter brings",
	},
	{
		pkgs:   []string{"internal/mem"},
		inside: []string{"ports"},
		why:    "every port in memory: a fake that used an implementation would hide its faults",
	},
	{
		pkgs:   []string{"internal/intercept"},
		inside: []string{"ports"},
		why:    "it stands between an engine and any implementation, and knows neither",
	},
	{
		pkgs: []string{"adapters/local"},
		inside: []string{
			"ports", "internal/instructions", "internal/proc", "adapters/git", "adapters/files", "adapters/shell", "adapters/script",
			"adapters/claude", "adapters/codex", "adapters/copilot", "adapters/terminal",
		},
		mods: []string{"github.com/BurntSushi/toml"},
		why:  "the composition root is the one place that knows every driven adapter, and the one that reads settings",
	},
	{
		pkgs:   []string{"adapters/cli"},
		inside: []string{"", "ports", "adapters/local"},
		mods:   []string{"github.com/alecthomas/kong"},
		why:    "the command line drives agl as any program would, and kong stays in it",
	},
	{
		pkgs:   []string{"adapters/git", "adapters/files"},
		inside: []string{"ports", "internal/proc", "internal/strictjson"},
		mods:   []string{"golang.org/x/sys"},
		why:    "a driven adapter knows ports, never agl nor another adapter: each can be replaced alone",
	},
	{
		pkgs:   []string{"adapters/shell"},
		inside: []string{"ports", "internal/proc"},
		why:    "a driven adapter knows ports, never agl nor another adapter: each can be replaced alone",
	},
	{
		pkgs: []string{"adapters/claude", "adapters/codex", "adapters/copilot"},
		inside: []string{
			"ports", "internal/instructions", "internal/proc", "internal/jsonlines", "internal/jsonrpc", "internal/toolserve", "internal/vendorprog", "internal/schema",
			"internal/strictjson", "internal/examine", "internal/sealed",
		},
		why: "a driven adapter knows ports, never agl nor another adapter: each can be replaced alone",
	},
	{
		pkgs:   []string{"adapters/cassette"},
		inside: []string{"ports", "internal/strictjson"},
		mods:   []string{"github.com/google/go-cmp", "golang.org/x/sys"},
		why:    "it stands in a vendor's program's place, for any adapter, and knows no program; it shows differences to tests",
	},
	{
		pkgs:   []string{"adapters/terminal"},
		inside: []string{"ports", "internal/questions"},
		mods: []string{
			"charm.land/bubbletea/v2", "charm.land/lipgloss/v2", "github.com/charmbracelet/colorprofile",
			"github.com/charmbracelet/x/ansi", "github.com/charmbracelet/x/term", "github.com/muesli/cancelreader", "golang.org/x/sys",
		},
		why: "a driven adapter; the libraries that draw stay in it",
	},
	{
		pkgs:   []string{"adapters/script"},
		inside: []string{"ports", "internal/proc", "internal/strictjson"},
		mods:   []string{"golang.org/x/tools", "github.com/rogpeppe/go-internal"},
		why:    "a driven adapter; its files are txtar archives",
	},
	{
		pkgs:   []string{"agltest"},
		inside: []string{"", "ports", "internal/mem", "internal/intercept", "internal/schedule", "internal/strictjson", "internal/gittest", "adapters/git"},
		mods:   []string{"github.com/google/go-cmp"},
		why:    "the authors' harness runs agl in memory or on real git, and needs no other adapter",
	},
	{
		pkgs:   []string{"agltest/aglvet", "agltest/aglvet/cmd/aglvet"},
		inside: []string{"agltest/aglvet"},
		mods:   []string{"golang.org/x/tools"},
		why:    "it reads programs that use agl, of any version, and knows agl's names instead of importing it",
	},
	{
		pkgs:   []string{"examples/..."},
		inside: []string{"", "ports", "adapters/local", "adapters/cli", "examples/..."},
		why:    "an example may use only what a reader's program can: nothing internal",
	},
	{
		pkgs:   []string{"internal/bench", "internal/killtest"},
		inside: []string{"...", ""},
		mods:   []string{"golang.org/x/sys"},
		why:    "they measure and break the whole of it, and nothing imports them",
	},
	{
		pkgs: []string{"internal/killtest/gitshim"},
		why:  "it starts for every git call of a kill test: nothing but the standard library, to be quick",
	},
	{
		pkgs: []string{"internal/fakeapi", "internal/sealed"},
		why:  "they stand for the vendors, and know nothing of what is looked into",
	},
	{
		pkgs:   []string{"internal/vendortest"},
		inside: []string{"internal/sealed"},
		why:    "it gives tests the vendors' programs, and knows nothing of what is tested",
	},
	{
		pkgs:   []string{"internal/tapetest"},
		inside: []string{"ports", "ports/porttest", "adapters/cassette"},
		why:    "what the tests of the vendors' adapters share that play recordings; it knows no adapter of theirs",
	},
	{
		pkgs: []string{"internal/gittest"},
		why:  "it makes repositories for tests with git alone: what it tests must not have made them",
	},
	{
		pkgs: []string{"internal/ptytest"},
		mods: []string{"github.com/creack/pty"},
		why:  "it opens pseudo-terminals for tests of several packages, and knows none of them",
	},
	{
		pkgs: []string{"internal/exampletest"},
		why:  "it runs the lines of a test in an Example, and knows nothing but the testing package",
	},
	{
		pkgs: []string{"internal/archtest"},
		why:  "it reads the graph and is no part of it",
	},
}

// testMods are the modules that tests may import on top of their package's
// own. Code that is not a test imports none of them, unless its rule says so.
var testMods = []string{
	"github.com/google/go-cmp",
	"github.com/stretchr/testify",
	"github.com/rogpeppe/go-internal",
	"golang.org/x/sync",
	"github.com/creack/pty",         // adapters/terminal is driven over a real one
	"github.com/charmbracelet/x/vt", // and its screen read back
}

// A reach says what a package must not pull into a program, at any depth.
type reach struct {
	pkg       string
	mods      []string // the only third-party modules it may reach
	forbidden []string // packages of the standard library it must not reach
	why       string
}

var reaches = []reach{
	{
		pkg: "",
		mods: []string{
			"github.com/go-json-experiment/json",
			"github.com/invopop/jsonschema", "github.com/pb33f/ordered-map/v2", "github.com/bahlo/generic-list-go",
			"github.com/buger/jsonparser", "github.com/mailru/easyjson", "github.com/wk8/go-ordered-map/v2",
			"go.yaml.in/yaml/v4", "gopkg.in/yaml.v3",
			"github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/text",
		},
		forbidden: []string{"testing", "flag", "os/exec", "net/http"},
		why:       "whoever imports agl gets schemas and JSON; no flags, no processes, no network",
	},
	{
		pkg:       "ports",
		forbidden: []string{"testing", "flag", "os/exec", "net"},
		why:       "whoever writes an adapter gets plain values",
	},
}
