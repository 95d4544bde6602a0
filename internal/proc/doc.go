// Package proc starts child processes and ends them, whole families at a time.
//
// A [Cmd] runs one program to its end. The program is in a session of its own,
// so it has no terminal to ask at and cannot be reached by the keys that stop
// AGL; its standard input is what the caller gives it or nothing; its
// environment does not carry the variables by which git is pointed at another
// repository. When it has ended, or the caller's context has, every process
// left in its group is ended too: asked by SIGTERM, and after a grace made to
// by SIGKILL. A process that has left the group but still holds an output pipe
// holds up nobody.
//
// A program with a mark does not outlive AGL either, however that ends: on
// Linux a shell that waits for AGL's end does what is left to be done.
//
// A [Tail] keeps the end of what a program writes. An [ID] names a process so
// that it is not confused with a later one of the same number. A [Reaper] finds
// processes by a mark in their environment, wherever they have gone.
//
// On Windows only the program itself is ended, not what it started.
package proc
