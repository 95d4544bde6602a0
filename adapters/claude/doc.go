// Package claude runs turns with Claude Code, Anthropic's program, over its live
// channel: lines of JSON in both directions, on which it also calls the role's
// tools, which run in this process. Version 2.1.332 is what it is tested with;
// 2.1.197 speaks the same channel.
//
// # What reaches the model
//
// The instructions of the task, word for word: a "/" at their beginning is no
// command, "@path" is no file. Beside them, Claude Code's own system prompt, a
// few lines that say that nobody is there and what is denied, and the descriptions
// of the tools. Nothing in the repository, in the folders above it or at home
// configures the agent: no CLAUDE.md or AGENTS.md, no settings, hooks, skills,
// agents, commands, output styles or servers of tools, and no key helper.
// With Options.Instructions the CLAUDE.md and AGENTS.md at the root of the
// checkout are added, up to 64 KiB of each, as AGL reads them itself: what they
// name by "@path" is not, nor is any other file. Two
// things remain outside: the variables of the environment, and what the
// machine's administrator has decreed for Claude Code (managed settings), which no
// flag turns off.
//
// # Restrictions
//
// Claude Code has no sandbox, so each restriction is held to by the tools that
// the model has. An agent without restrictions reads, writes, runs commands and
// reaches the network without being asked. Any restriction takes the shell away,
// since a command could do what is denied; NoWrite takes away what writes files
// too, and NoNetwork what fetches pages. A role that has to run commands, and
// must be kept from something, needs another agent.
//
// The key by which Claude Code speaks to its service is in the environment of
// the commands that it runs, if it is in its own (ANTHROPIC_API_KEY). Who has
// logged in instead (claude auth login) has none there.
//
// # Outcomes
//
// What comes first in this table decides. Where the program names the class of a
// failure and a success at once, it is a failure.
//
//	seen                                                  outcome
//	the context has ended                                 its error, after an interruption, SIGTERM, SIGKILL
//	no program, or it cannot be started                   Unavailable, how to install it
//	settings or tools are not taken                       Unavailable
//	nothing written for Options.Idle, no tool running     Unexpected, wraps context.DeadlineExceeded
//	no result line                                        Unexpected, with its exit and what it wrote to stderr
//	result success, and it does not end                   success; it is ended
//	result success, and it ends badly                     Unexpected
//	result success, and it ends well                      success; Denied has the permissions it was refused
//	max_turns, max_output_tokens                          StopLimit
//	prompt too long, before the model has spoken          Invalid; after that StopLimit
//	budget_exhausted                                      Denied
//	stop_reason refusal                                   Denied
//	rate_limit, 429                                       *LimitError; Reset where the program tells it
//	model_not_found                                       Invalid
//	authentication_failed, 401, 403                       Unavailable, how to log in
//	billing_error                                         Unavailable
//	overloaded, server_error, connection_failed, 5xx      Unavailable
//	anything else                                         Unexpected
//
// The program makes a request that failed again by itself, five times by default;
// a service that cannot be reached is reported after some 16 seconds.
//
// # Examination
//
// Examine compares the version with the two above, runs a turn over the channel
// and asks for the login. The turn is with a fake of the service on loopback, in
// an environment that has nothing of the operator's but the PATH. Ready asks for
// the version, too, and refuses an older one.
//
// # Usage
//
// Tokens are told as they are streamed. At the end they are the program's own
// sum, over all models and nested agents, or what was streamed if that is more.
// The cost is Claude Code's own estimate, by its list of prices. Reasoning is not
// told apart from output.
package claude
