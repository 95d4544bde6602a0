package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
)

// dangerous are the keys, in git's canonical form, that make git run a
// program, read another file, or look at another place. Who commits, where a
// branch is pushed, and how output looks are not among them: agents set those
// for good reasons.
var dangerous = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`filter\..*`, `extensions\..*`, `include\..*`, `includeif\..*`, `alias\..*`, `gpg\..*`, `credential\..*`,
	`hook\..*`, `pager\..*`, `uploadpack\..*`, `uploadarchive\..*`, `protocol\..*`, `url\..*`, `ssh\..*`,
	`diff\..*\.(?:command|textconv|cachetextconv)`, `diff\.(?:external|orderfile)`, `merge\..*\.(?:driver|recursive)`,
	`(?:diff|merge)tool\..*`, `interactive\.difffilter`, `sequence\.editor`, `init\.templatedir`, `gc\.recentobjectshook`,
	`core\.(?:fsmonitor|hookspath|worktree|bare|repositoryformatversion|sshcommand|gitproxy|askpass|editor|pager|` +
		`attributesfile|excludesfile|alternaterefscommand|alternaterefsprefixes|sparsecheckout|sparsecheckoutcone|virtualfilesystem)`,
	`remote\..*\.(?:uploadpack|receivepack|vcs|proxy|promisor|partialclonefilter)`, `submodule\..*\.update`,
	`http\..*proxy.*`, `https\..*proxy.*`, `tar\..*\.command`, `trailer\..*\.(?:command|cmd)`, `man\..*`, `browser\..*`,
	`web\.browser`, `sendemail\..*`, `imap\..*`, `instaweb\..*`, `guitool\..*`,
	`lfs\.(?:url|standalonetransferagent|customtransfer\..*|extension\..*)`,
}, "|") + `)$`)

// parsedConfigs remembers what git said about configuration files, by their
// bytes.
type parsedConfigs struct {
	mu     sync.Mutex
	byHash map[[sha256.Size]byte]*parsedConfig
	latest map[string]*parsedConfig // by path, for messages
}

// A parsedConfig is what a configuration file sets, conditions aside.
type parsedConfig struct {
	keys     map[string]string // digests of the values of each dangerous key
	values   map[string]string // its last value
	includes []string
	all      map[string]string // the last value of each key
}

// parse has git read the bytes of a configuration file. Git runs nothing for
// that: it reads them from its standard input, and follows no include.
func (p *parsedConfigs) parse(ctx context.Context, r *Repo, path string, data []byte) (*parsedConfig, error) {
	hash := sha256.Sum256(data)
	known := p.known(hash)
	if known == nil {
		out, err := r.run(ctx, call{
			discover: "/", read: true, stdin: bytes.NewReader(data),
			args: []string{"config", "--file", "-", "--no-includes", "--null", "--list"},
		})
		if err != nil {
			return nil, err
		}
		known = readConfig(out)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byHash == nil {
		p.byHash, p.latest = make(map[[sha256.Size]byte]*parsedConfig), make(map[string]*parsedConfig)
	}
	p.byHash[hash], p.latest[path] = known, known
	return known, nil
}

// known returns what is remembered of the bytes that have a hash; nil if that
// is nothing.
func (p *parsedConfigs) known(hash [sha256.Size]byte) *parsedConfig {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byHash[hash]
}

// value returns the value a key has in a file, as last parsed.
func (p *parsedConfigs) value(path, key string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if parsed := p.latest[path]; parsed != nil {
		return parsed.values[key]
	}
	return ""
}

// readConfig reads git config --null --list: "key\nvalue\0", or "key\0" where
// a key stands without a value.
func readConfig(out []byte) *parsedConfig {
	parsed := &parsedConfig{keys: map[string]string{}, values: map[string]string{}, all: map[string]string{}}
	sums := make(map[string][]byte)
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		if len(entry) == 0 {
			continue
		}
		name, value, _ := bytes.Cut(entry, []byte("\n"))
		key := string(name)
		parsed.all[key] = string(value)
		lower := strings.ToLower(key)
		if !dangerous.MatchString(lower) {
			continue
		}
		sum := sha256.Sum256(append(sums[key], entry...))
		sums[key] = sum[:]
		parsed.values[key] = string(value)
		if (strings.HasPrefix(lower, "include.") || strings.HasPrefix(lower, "includeif.")) && strings.HasSuffix(lower, ".path") {
			parsed.includes = append(parsed.includes, string(value))
		}
	}
	for key, sum := range sums {
		parsed.keys[key] = hex.EncodeToString(sum)
	}
	return parsed
}
