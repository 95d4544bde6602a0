package aglvet

import (
	"go/types"
	"slices"
	"strings"
)

// What functions do that a workflow function must not.
const (
	readsClock  = "reads the clock"
	waits       = "waits on the clock"
	random      = "is random"
	environment = "reads the environment"
	files       = "uses the file system"
	processes   = "starts processes"
	network     = "uses the network"
)

// does says what a function or variable outside the module does that differs
// when it is done again, and is empty if that is nothing. Deadlines of contexts
// are none of it, and neither is writing of logs and of output.
func does(obj types.Object) string {
	if obj.Pkg() == nil {
		return ""
	}
	name := nameOf(obj)
	method := strings.Contains(name, ".")
	if _, ok := obj.(*types.Var); ok {
		return doesVariable(obj.Pkg().Path(), name)
	}
	in := func(names ...string) bool { return slices.Contains(names, name) }
	begins := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	}
	switch path := obj.Pkg().Path(); path {
	case "time":
		switch {
		case in("Now", "Since", "Until"):
			return readsClock
		case in("Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"):
			return waits
		}
	case "math/rand", "math/rand/v2": // a generator is as random as its seed
		if !method && !begins("New") {
			return random
		}
	case "crypto/rand":
		if !method {
			return random
		}
	case "hash/maphash":
		if in("MakeSeed", "Hash.Sum64", "Hash.Seed", "Hash.Sum") {
			return random
		}
	case "github.com/google/uuid":
		if in("New", "NewString", "NewRandom", "NewUUID", "NewV6", "NewV7") {
			return random
		}
	case "os":
		return doesOS(name, method)
	case "os/user":
		if !method {
			return environment
		}
	case "runtime":
		if in("NumCPU", "GOMAXPROCS", "NumGoroutine", "NumCgoCall", "ReadMemStats") {
			return environment
		}
	case "flag":
		if !method && !in("NewFlagSet", "UnquoteUsage") {
			return environment
		}
	case "path/filepath":
		switch {
		case in("Abs"):
			return environment
		case in("Walk", "WalkDir", "Glob", "EvalSymlinks"):
			return files
		}
	case "io/ioutil":
		if !method && !in("ReadAll", "NopCloser") {
			return files
		}
	case "text/template", "html/template":
		if in("ParseFiles", "ParseGlob", "Template.ParseFiles", "Template.ParseGlob") {
			return files
		}
	case "archive/zip":
		if in("OpenReader") {
			return files
		}
	case "os/exec":
		if begins("Command", "LookPath", "Cmd.") {
			return processes
		}
	case "os/signal":
		return "waits for signals"
	case "syscall":
		if !method {
			return "calls the system"
		}
	case "net":
		if begins("Dial", "Listen", "Lookup", "Resolve", "Interface", "File", "Resolver.", "Interface.") {
			return network
		}
	case "net/http":
		if in("Get", "Head", "Post", "PostForm", "ListenAndServe", "ListenAndServeTLS", "Serve", "ServeTLS", "ServeFile") ||
			begins("Client.", "Server.", "Transport.RoundTrip") {
			return network
		}
	case "net/smtp", "net/rpc", "net/rpc/jsonrpc", "crypto/tls":
		if begins("Dial", "SendMail", "Listen", "Dialer.") {
			return network
		}
	case "database/sql":
		if begins("Open", "DB.", "Tx.", "Conn.", "Stmt.") {
			return "uses a database"
		}
	}
	return ""
}

func doesOS(name string, method bool) string {
	switch name {
	case "IsExist", "IsNotExist", "IsPermission", "IsTimeout", "IsPathSeparator", "Expand", "NewSyscallError", "SameFile":
		return ""
	case "Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv", "Hostname", "Getwd", "Executable",
		"UserHomeDir", "UserCacheDir", "UserConfigDir", "TempDir", "Getpagesize",
		"Getpid", "Getppid", "Getuid", "Geteuid", "Getgid", "Getegid", "Getgroups":
		return environment
	case "StartProcess", "FindProcess":
		return processes
	case "Exit":
		return "ends the process"
	}
	recv, _, _ := strings.Cut(name, ".")
	switch {
	case !method, recv == "Root":
		return files
	case recv == "Process":
		return processes
	}
	return "" // a file that is open was opened somewhere
}

func doesVariable(path, name string) string {
	switch path + "." + name {
	case "os.Args", "flag.CommandLine":
		return environment
	case "os.Stdin":
		return "reads what somebody types"
	case "crypto/rand.Reader":
		return random
	case "net/http.DefaultClient", "net/http.DefaultTransport", "net.DefaultResolver":
		return network
	}
	return ""
}
