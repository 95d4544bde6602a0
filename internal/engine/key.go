package engine

import (
	"fmt"
	"slices"

	"example.com/agl/internal/fingerprint"
	"example.com/agl/ports"
)

// Prepare computes what a declared role adds to the key of each of its steps.
func (r *Role) Prepare() error {
	restrictions := slices.Sorted(slices.Values(r.restrictions()))
	if restrictions == nil {
		restrictions = []ports.Restriction{}
	}
	report := map[string]any{"text": r.Report, "schema": nil}
	if r.Schema != nil {
		report["schema"] = r.Schema.JSON()
	}
	var err error
	r.terms, err = makeTerms([]Input{
		{"role", r.Name},
		{"model", r.Model},
		{"restrictions", slices.Compact(restrictions)},
		{"report", report},
	})
	if err != nil {
		return err
	}
	if r.ask, err = fingerprint.Term("prompt", r.Prompt); err != nil {
		return err
	}
	r.tools, err = toolTerms(r.Tools)
	return err
}

// restrictions are the declared ones, and that a Reader does not write.
func (r *Role) restrictions() []ports.Restriction {
	if r.Writes {
		return r.Deny
	}
	return append(slices.Clone(r.Deny), ports.NoWrite)
}

// resolve replaces the step's role by the one that the workflow declares under
// its name, with the step's own prompt, report text and tools.
func (j Job) resolve(s *Step) error {
	i := slices.IndexFunc(j.Roles, func(r *Role) bool { return r.Name == s.Role.Name })
	if i < 0 {
		return ports.Invalid.Errorf("", "the role is not among the Roles of workflow %s", j.Workflow)
	}
	declared, asked := j.Roles[i], s.Role
	if asked.Model != declared.Model || s.Payload != declared.Payload || asked.Writes != declared.Writes || !slices.Equal(asked.Deny, declared.Deny) {
		return ports.Invalid.Errorf("", "the role differs from the one among the Roles of workflow %s in more than its prompt and tools", j.Workflow)
	}
	if asked.Prompt == declared.Prompt && asked.Report == declared.Report && slices.Equal(asked.Tools, declared.Tools) {
		s.Role = declared
		return nil
	}
	role := *declared
	role.Prompt, role.Report, role.Tools = asked.Prompt, asked.Report, asked.Tools
	s.Role = &role
	return role.Prepare()
}

// stepTerms are the terms of a step's key.
func stepTerms(s *Step) ([]ports.Term, error) {
	r := s.Role
	inputs, err := inputTerms(s.Inputs)
	if err != nil {
		return nil, err
	}
	ending, err := fingerprint.Term("ending", s.Ending)
	if err != nil {
		return nil, err
	}
	terms := make([]ports.Term, 0, len(r.terms)+len(r.tools)+len(inputs)+2)
	terms = append(terms, r.terms...)
	terms = append(terms, r.ask, ending)
	terms = append(terms, r.tools...)
	return append(terms, inputs...), nil
}

// callTerms are the terms of a call's key.
func callTerms(c *Call) ([]ports.Term, error) {
	name, err := fingerprint.Term("name", c.Name)
	if err != nil {
		return nil, err
	}
	inputs, err := inputTerms(c.Inputs)
	if err != nil {
		return nil, err
	}
	return append(inputs, name), nil
}

func toolTerms(tools []*Tool) ([]ports.Term, error) {
	parts := make([]Input, len(tools))
	for i, t := range tools {
		parts[i] = Input{"tool:" + t.Name, map[string]any{"doc": t.Doc, "schema": t.Schema.JSON()}}
	}
	return makeTerms(parts)
}

func inputTerms(inputs []Input) ([]ports.Term, error) {
	parts := make([]Input, len(inputs))
	for i, in := range inputs {
		if in.Name == "" {
			return nil, ports.Invalid.Errorf("", "input %d has no name", i+1)
		}
		if slices.ContainsFunc(inputs[:i], func(other Input) bool { return other.Name == in.Name }) {
			return nil, ports.Invalid.Errorf("", "input %q is given twice", in.Name)
		}
		parts[i] = Input{"input:" + in.Name, in.Value}
	}
	return makeTerms(parts)
}

func makeTerms(parts []Input) ([]ports.Term, error) {
	terms := make([]ports.Term, len(parts))
	for i, p := range parts {
		var err error
		if terms[i], err = fingerprint.Term(p.Name, p.Value); err != nil {
			return nil, ports.Invalid.Errorf("", "%s cannot be recorded: %w", p.Name, err)
		}
	}
	return terms, nil
}

// attemptKey is what identifies a verb at its position in a run to the outside
// world, the same on every attempt.
func attemptKey(nonce, namespace string, position int, key string) string {
	term, err := fingerprint.Term("attempt", []string{nonce, namespace, fmt.Sprint(position), key})
	if err != nil {
		panic(err) // strings of our own are always JSON
	}
	return term.Digest
}
