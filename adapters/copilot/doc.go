// Package copilot runs turns with the Copilot CLI, GitHub's program, over the
// channel that its SDK speaks: JSON-RPC in both directions, on which it also
// calls the role's tools, which run in this process. Version 1.0.102 is what it is
// tested with.
//
// The models are GitHub's, as one is logged in there, or those of a provider of
// one's own, if the program's variables (COPILOT_PROVIDER_BASE_URL and the others)
// name one.
//
// # What reaches the model
//
// The instructions of the task, word for word: a "/" at their beginning is no
// command, "@path" is no file. Before them, the time; beside them, Copilot's own
// system prompt, a few lines that say that nobody is there and what is denied, and
// the descriptions of the tools. Nothing in the repository, in the folders above
// it or at home configures the agent: no AGENTS.md, CLAUDE.md or
// copilot-instructions.md, no skills, agents, prompts, hooks or servers of tools,
// and no setting. Each turn has a folder of its own for the program's
// configuration and state, which is removed after it. What remains outside are the
// variables of the environment, and what the machine's administrator has decreed
// for Copilot (managed settings).
//
// With Options.Instructions the .github/copilot-instructions.md and AGENTS.md at
// the root of the checkout stand behind the system prompt: AGL reads them, and the
// program no more than before.
//
// # Restrictions
//
// Copilot's sandbox is not there on every system, so each restriction is held to
// by the tools that the model has, and by what it is permitted. An agent without
// restrictions reads, writes, runs commands and reaches the network without being
// asked; only its tools for files write in nothing but the checkout and the
// folder of temporary files. Any restriction takes the shell away, since a command
// could do what is denied; NoWrite takes away what writes files too, and NoNetwork
// what fetches pages; with NoVCS no file below a ".git" is written. A role that has to run commands, and must be kept from
// something, needs another agent. Other agents, which Copilot could start, it does
// not have.
//
// The program keeps COPILOT_PROVIDER_API_KEY and COPILOT_GITHUB_TOKEN from the
// commands that it runs; GH_TOKEN and GITHUB_TOKEN reach them.
//
// # Outcomes
//
// What comes first in this table decides.
//
//	seen                                                  outcome
//	the context has ended                                 its error, after session.abort, SIGTERM, SIGKILL
//	no program, or it cannot be started                   Unavailable, how to install it
//	Ready: a version that is too old, nobody logged in    Unavailable, what to do
//	it ends before there is a session                     Unavailable, with its exit and what it wrote to stderr
//	session.create names the model in its error           Invalid
//	session.create or session.send is not taken           Unavailable
//	nothing written for Options.Idle (twice that while a
//	tool of its own runs), no tool of the role's running  Unexpected, wraps context.DeadlineExceeded
//	it ends before session.idle                           Unexpected, with its exit and what it wrote to stderr
//	a request failed more than Options.Retries times      as the session.error that would follow
//	session.error, the request is too long                Invalid; once the model has spoken, StopLimit
//	session.error rate_limit, quota, 429                  *LimitError; Reset where it is told, or GitHub says when a quota is renewed
//	session.error authentication, authorization, 401, 403 Unavailable, how to log in
//	session.error, 402                                    Unavailable
//	session.error, 404                                    Invalid: there is no such model
//	session.error policy                                  Denied
//	session.error, 408, 5xx, the connection failed        Unavailable
//	session.error, anything else                          Unexpected
//	session.idle, aborted                                 Unexpected
//	session.idle, the last answer stopped by a filter     Denied
//	session.idle, the model has not answered              Unexpected
//	session.idle, and the program ends badly              Unexpected
//	session.idle, the last answer cut off at its length   StopLimit
//	session.idle, and it ends well, or does not end       success; Denied has the permissions it was refused
//
// An error that an answer of the model comes after is none. A turn whose agent has
// ended (assistant.idle) while commands that it started run on ends two seconds
// later, as by session.idle, and they with it.
//
// The program makes a request that failed again by itself, three times by default;
// a service that cannot be reached is reported after some 10 seconds. A call that a
// tool refuses is told to the model by its text alone, which begins with "Refused:":
// most services have no other sign.
//
// # What Examine does
//
// The turn by which the channel is looked into is in an environment made from
// nothing, with a fake of a provider on loopback; the operator's PATH is in it, and
// the folder in which their Copilot unpacks what it is made of (235 MB, at its first
// start, be it for --version), which holds nothing else: COPILOT_PKG_CACHE_HOME, or
// where it is without that. So all is unpacked once, and what is looked into is what
// a run would run. On two busy cores that takes 4 to 12 s, and some 7 s more at a
// first start. Whether somebody is logged in is asked in the operator's own
// environment.
//
// # Usage
//
// Tokens are told after each request, and are the sum over all of them, those of
// nested agents, and those that shorten a conversation which becomes too long,
// included. Input is without what was read from a cache. There is no cost: Copilot
// counts requests, not dollars. After an error they are not Complete, since of a
// request that failed nothing is told.
package copilot
