package agl_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/agl"
)

func noop[P any](context.Context, *agl.Run, P) error { return nil }

type node struct {
	Kids []*node `json:"kids"`
}

type channel struct {
	Inner struct {
		C chan int `json:"c"`
	} `json:"inner"`
}

type misspelt struct {
	A string `json:"a" jsonschema:"description=one, two"`
}

func TestAMalformedDeclarationPanicsNamingItsPlace(t *testing.T) {
	t.Parallel()
	spec := func(roles ...agl.Role) agl.Spec { return agl.Spec{Name: "w", Version: 1, Roles: roles} }
	declare := func(s agl.Spec) func() { return func() { agl.NewWorkflow(s, noop[agl.None]) } }
	tool := func(ctx context.Context, w agl.World, in patch) (string, error) { return "", nil }
	for name, c := range map[string]struct {
		declare func()
		want    string
	}{
		"no name":          {declare(agl.Spec{Version: 1, Roles: []agl.Role{}}), "workflow"},
		"no version":       {declare(agl.Spec{Name: "w", Roles: []agl.Role{}}), "Version"},
		"nil roles":        {declare(agl.Spec{Name: "w", Version: 1}), "Roles are nil"},
		"a nil role":       {declare(spec(nil)), "role 1 is nil"},
		"two of one name":  {declare(spec(editor, editor)), "two roles"},
		"names by case":    {declare(spec(editor, agl.Reader[agl.None]{Name: "EDITOR", Model: "a/b", Prompt: "p"})), "two roles"},
		"no function":      {func() { agl.NewWorkflow[agl.None](spec(editor), nil) }, "function is nil"},
		"a long doc":       {declare(agl.Spec{Name: "w", Version: 1, Doc: "a\nb", Roles: []agl.Role{}}), "Doc"},
		"no struct":        {func() { agl.NewWorkflow(agl.Spec{Name: "w", Version: 1, Roles: []agl.Role{}}, noop[int]) }, "must be a struct"},
		"a channel inside": {func() { agl.NewWorkflow(agl.Spec{Name: "w", Version: 1, Roles: []agl.Role{}}, noop[channel]) }, "cannot be recorded"},
		"role name":        {declare(spec(agl.Reader[agl.None]{Name: "a b", Model: "a/b", Prompt: "p"})), "reader"},
		"blank prompt":     {declare(spec(agl.Reader[agl.None]{Name: "a", Model: "a/b", Prompt: " "})), "Prompt"},
		"bare model":       {declare(spec(agl.Reader[agl.None]{Name: "a", Model: "opus", Prompt: "p"})), "provider/name"},
		"restriction":      {declare(spec(agl.Reader[agl.None]{Name: "a", Model: "a/b", Prompt: "p", Deny: []agl.Restriction{"x"}})), "no restriction"},
		"a recursive type": {declare(spec(agl.Reader[node]{Name: "a", Model: "a/b", Prompt: "p"})), "kids"},
		"a channel":        {declare(spec(agl.Reader[channel]{Name: "a", Model: "a/b", Prompt: "p"})), "inner.c"},
		"a cut directive":  {declare(spec(agl.Reader[misspelt]{Name: "a", Model: "a/b", Prompt: "p"})), "two"},
		"a slice":          {declare(spec(agl.Reader[[]int]{Name: "a", Model: "a/b", Prompt: "p"})), "struct"},
		"a zero tool":      {declare(spec(editor.With(agl.Tool{}))), "zero Tool"},
		"tool name":        {func() { agl.NewTool("a b", "d", tool) }, "tool"},
		"tool report":      {func() { agl.NewTool("report", "d", tool) }, "report"},
		"tool doc":         {func() { agl.NewTool("t", "", tool) }, "doc"},
		"tool handler":     {func() { agl.NewTool[patch, string]("t", "d", nil) }, "handler"},
		"tool arguments": {func() {
			agl.NewTool("t", "d", func(context.Context, agl.World, channel) (int, error) { return 0, nil })
		}, "inner.c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				p := recover()
				require.NotNil(t, p, "it does not panic")
				require.Contains(t, fmt.Sprint(p), c.want)
				require.True(t, strings.HasPrefix(fmt.Sprint(p), "agl: "), "%v", p)
			}()
			c.declare()
		})
	}
}

// picky are parameters that check themselves.
type picky struct{ N int }

func (p picky) Validate() error {
	if p.N < 0 {
		return errors.New("N is negative")
	}
	return nil
}

func TestParametersAreCheckedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	wf := agl.NewWorkflow(agl.Spec{Name: "picky", Version: 1, Roles: []agl.Role{}}, noop[picky])
	err := w.start(wf.With(picky{-1}))
	require.ErrorIs(t, err, agl.Invalid)
	require.ErrorContains(t, err, "N is negative")
	_, err = wf.Job(&picky{-1})
	require.ErrorIs(t, err, agl.Invalid)
	_, err = wf.Job(picky{1})
	require.ErrorIs(t, err, agl.Invalid, "a value, not a pointer")
	_, err = w.store.Read(t.Context(), "job", "run.json")
	require.ErrorIs(t, err, agl.NotFound)
	require.NoError(t, w.start(wf.With(picky{1})))
}

// folded are parameters that put themselves in order.
type folded struct{ Name string }

func (p *folded) Validate() error {
	p.Name = strings.ToLower(p.Name)
	return nil
}

func TestParametersAreRecordedAsTheirValidateLeavesThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, twoRounds)
	var seen []string
	wf := agl.NewWorkflow(agl.Spec{Name: "folded", Version: 1, Roles: []agl.Role{}}, func(_ context.Context, _ *agl.Run, p folded) error {
		seen = append(seen, p.Name)
		return nil
	})
	require.NoError(t, w.start(wf.With(folded{"ABC"})))
	require.NoError(t, w.resume(wf))
	require.NoError(t, w.start(wf.With(folded{"Abc"}), agl.StartOptions{Resume: true}), "the same job")
	require.Equal(t, []string{"abc"}, slices.Compact(seen))
	require.JSONEq(t, `{"Name":"abc"}`, string(w.info().Params))
}

func TestResolveWithNothingPanics(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "agl: ResolveWith: fix is nil", func() { agl.ResolveWith(nil, 1, nil) })
}
