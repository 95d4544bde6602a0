package proc

import (
	"fmt"
	"os"
)

// An ID names one process for good. A pid alone is given to another process
// once its own has ended.
type ID struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // when it started, in the kernel's ticks since boot; 0 where that is not known
	Boot  string `json:"boot"`  // of which boot of the machine
	Space string `json:"space"` // in which numbering of processes: a container has its own
	Host  string `json:"host"`
}

// Self returns the ID of this process.
func Self() ID { return Of(os.Getpid()) }

// Of returns the ID of the process that has the number now.
func Of(pid int) ID {
	host, _ := os.Hostname()
	start, _ := startOf(pid)
	return ID{PID: pid, Start: start, Boot: bootID(), Space: pidSpace(), Host: host}
}

// A Life says whether a process still lives.
type Life int

// The lives.
const (
	Ended     Life = iota
	Living         // it runs
	Elsewhere      // it is on another machine or in another container: it cannot be told from here
)

// Life says whether the process still lives. One that has ended and was not
// waited for yet does not.
func (id ID) Life() Life {
	here := Self()
	switch {
	case id.Boot != here.Boot && id.Host == here.Host:
		return Ended // the machine was started anew
	case id.Boot != here.Boot, id.Space != here.Space, id.Boot == "" && id.Host != here.Host:
		return Elsewhere
	}
	if start, ok := startOf(id.PID); !ok || start != id.Start {
		return Ended
	}
	return Living
}

// String names the process for a person.
func (id ID) String() string {
	if id.Life() == Elsewhere {
		return fmt.Sprintf("process %d on %s", id.PID, id.Host)
	}
	return fmt.Sprintf("process %d", id.PID)
}
