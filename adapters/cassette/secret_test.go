package cassette_test

import (
	"encoding/base64"
	"os"
	"os/user"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl/adapters/cassette"
)

func TestNoSecretReachesTheFile(t *testing.T) {
	t.Parallel()
	const inEnv, inMember, known, named = "planted-in-env", "planted-in-a-member", "sk-ant-planted0123456789", "planted-by-name"
	host, err := os.Hostname()
	require.NoError(t, err)
	me, err := user.Current()
	require.NoError(t, err)
	opts := cassette.Options{Secrets: []string{named}, Env: []string{"SERVICE_*"}}
	home := ""
	talk := func(env, member string) drive {
		return func(t testing.TB, program string) {
			c := connect(t, program, "lines", []string{"--key=" + env}, "SERVICE_API_KEY="+env)
			home = c.cmd.Env[1][len("HOME="):]
			for _, text := range []string{
				env, "a " + env + " in a text", `{"nested":"` + env + `"}`, "Authorization: Bearer abcdefgh.ijkl", known, named,
				home + "/.config", me.HomeDir + "/x", "user " + me.Username + " at " + host, program,
			} {
				c.send(order{Say: text})
				c.hear()
			}
			c.send(map[string]any{"say": map[string]any{"provider": map[string]any{"apiKey": member, "baseUrl": "http://127.0.0.1:4711/v1"}}})
			c.hear()
			c.send(order{Say: "and later " + member})
			require.Contains(t, c.hear(), member)
			c.send(order{Self: true})
			c.hear()
			c.send(order{Err: env})
			c.end()
		}
	}
	path := recording(t, opts, talk(inEnv, inMember))
	doc := content(t, path)
	planted := []string{inEnv, inMember, known, named, "abcdefgh", home, "4711", self(t), "planted"}
	if me.HomeDir != "/" {
		planted = append(planted, `"`+me.HomeDir+"/x", " "+me.HomeDir)
	}
	if len(host) > 2 && host != "localhost" {
		planted = append(planted, host)
	}
	if me.Username != "root" && me.Username != "nobody" {
		planted = append(planted, me.Username)
	}
	for _, secret := range planted {
		require.NotContains(t, doc, secret)
	}
	require.Contains(t, doc, `"out":"⟦program⟧"`)
	// Another one's key will do.
	require.Empty(t, playing(t, path, opts, talk("another-key", "another-member")))
}

func TestASecretThatCannotBeReplacedIsNotRecorded(t *testing.T) {
	t.Parallel()
	const key = "planted\"in-env"
	for name, say := range map[string]string{
		"base64":        base64.StdEncoding.EncodeToString([]byte(key)),
		"JSON in JSON":  `{"nested":"planted\"in-env"}`,
		"twice as deep": `{"nested":"{\"deeper\":\"planted\\\"in-env\"}"}`,
	} {
		path := t.TempDir() + "/tape.jsonl"
		failure := spied(t, func(t testing.TB) {
			c := connect(t, cassette.Record(t, path, self(t), cassette.Options{}).Program, "lines", nil, "API_KEY="+key)
			c.send(order{Say: say})
			c.hear()
			c.end()
		})
		require.Contains(t, failure, "a secret of 14 bytes", name)
		require.NotContains(t, failure, strings.Trim(key, "n"), name)
		require.NoFileExists(t, path, name)
	}
}
