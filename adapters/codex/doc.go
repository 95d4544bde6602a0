// Package codex runs turns with Codex, OpenAI's program, over its live channel,
// "codex app-server": calls in both directions, one a line. On it the program also
// calls the role's tools ("dynamicTools"), which run in this process. Version
// 0.171.0 is what it is tested with; the tools are called experimental there.
//
// # What reaches the model
//
// The instructions of the task, word for word. Beside them, Codex's own
// instructions, a few lines that say that nobody is there and what is denied, what
// the sandbox allows, where the checkout is, and the descriptions of the tools.
//
// Nothing in the repository, in the folders above it or at home configures the
// agent: no AGENTS.md, skills, rules, hooks, servers of tools, notification or
// profile, and no config.toml; with Options.Instructions the AGENTS.md at the
// root of the checkout, up to 64 KiB of it, as AGL reads it itself. Codex has no switch for all of that, so that each
// turn has a home folder of its own (CODEX_HOME), which is removed after it. Two
// things of the user's are in it: the login, a link to the user's auth.json, which
// Codex renews in its place; and which service Codex is to speak to
// (model_provider, model_providers, openai_base_url, chatgpt_base_url), which the
// program is asked for once for all turns, in its user's home, without beginning anything there.
// A thread that begins in a sandbox that writes would have Codex trust the
// checkout, and take the repository's .codex/config.toml: each begins in one that
// only reads, and its turn is then given its own.
// A login that Codex keeps in the system's keyring is not found:
// cli_auth_credentials_store has to be "file", its default. Commands run in a
// shell that reads no profile, but see the user's home. What the machine's
// administrator has decreed for Codex (/etc/codex) stands above all of this.
//
// A tool's schema is passed on as it is. Codex does not make such tools strict
// ("strict": false is what its service gets), so that a property need not be
// required, and null is no way to leave one out; it drops what that service does
// not read, as lengths and patterns, which AGL checks itself. The service has no
// mark for a call that was refused: what the model reads of one begins with
// "Error: ".
//
// # Restrictions
//
// An agent without restrictions reads, writes, runs commands and reaches the
// network without being asked. Any restriction puts its commands and patches into
// Codex's sandbox: they reach no network; they write to the checkout and to a
// folder for temporary files that the turn has for itself, and not beside them, so
// that the repository's own folder, with all its branches, stays as it is; with
// NoWrite they write nothing at all. A build that keeps a cache at home finds it
// read-only. NoNetwork takes away the search of the web too, and NoShell what runs
// commands; then Codex has nothing to read files with but what it is told. If
// Codex says that it works in another sandbox, the turn is refused. Models that
// Codex lets write programs, which call its tools, are held to the same. On Windows the
// sandbox has to be set up first, and Capabilities says NoShell alone.
//
// The keys of the service (OPENAI_API_KEY, CODEX_API_KEY, CODEX_ACCESS_TOKEN, and
// the variables that config.toml names: env_key, env_http_headers) are kept from
// commands. The login is a file, which they could read.
//
// # Outcomes
//
// What comes first in this table decides.
//
//	seen                                                   outcome
//	the context has ended                                  its error, after an interruption, SIGTERM, SIGKILL
//	more than MaxPrompt characters                         Invalid, nothing started
//	no program, or it cannot be started                    Unavailable, how to install it
//	settings or tools are not taken, another sandbox       Unavailable
//	told of nothing for Options.Idle, no tool running      Unexpected, wraps context.DeadlineExceeded
//	it ends before its turn has                            Unexpected, with its exit and what it wrote to stderr
//	max_output_tokens                                      StopLimit
//	contextWindowExceeded                                  Invalid; StopLimit after the model has spoken
//	turn completed, and the program does not end           success; it is ended
//	turn completed, and the program ends badly             Unexpected
//	turn completed, and the program ends well              success; Denied has the permissions that it asked for
//	usageLimitExceeded, rateLimitExceeded, 429             *LimitError; Reset where the service tells it
//	usageLimitExceeded: "Quota exceeded", 402              Unavailable
//	sessionBudgetExceeded                                  Denied
//	cyberPolicy and its like, content_filter               Denied
//	modelNotFound                                          Invalid
//	unauthorized, 401, 403                                 Unavailable, how to log in
//	no key in the environment                              Unavailable, which
//	413                                                    Invalid
//	serverOverloaded, internalServerError, 408, 5xx        Unavailable
//	no answer                                              Unavailable
//	sandboxError                                           Unavailable
//	interrupted by nobody, anything else                   Unexpected
//
// The program makes a request that failed again by itself. How often is
// Options.Retries where config.toml names the service, and Codex's own default (5)
// at OpenAI's. Its waiting for a network, which has no end, is off. That a service
// is tried again is no sign of life to the idle limit.
//
// # Examination
//
// Examine compares the version, runs a turn over the channel and asks which
// service it would be, and for the login there. The turn is with a fake of the
// service on loopback, in an environment that has nothing of the operator's but
// the PATH. Ready asks for the version, too, and refuses an older one.
//
// # Usage
//
// Tokens are told after each response, as Codex sums them over a thread; they are
// complete when the turn is. Output has reasoning in it, and Input is without what
// was cached. There is no cost. Codex's nested agents are off; a thread that it
// would start all the same is counted once.
package codex
