//go:build linux

package proc

// ParseStat gives the tests the parser of /proc/PID/stat.
func ParseStat(line []byte) (start uint64, group int, ok bool) {
	s, ok := parseStat(line)
	return s.start, s.group, ok
}
