package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"example.com/agl"
	"example.com/agl/ports"
)

// What --json writes. docs/json.md describes it, and programs outside this
// repository read it: fields are added, never changed.
type (
	runAnswer struct {
		Run runObject `json:"run"`
	}

	showAnswer struct {
		Run     runObject      `json:"run"`
		Records []recordObject `json:"records"`

		Namespaces []namespaceObject `json:"namespaces"`
		Replies    []ports.Reply     `json:"replies"`
		Usage      usageAnswer       `json:"usage"`
	}

	runObject struct {
		Label    string    `json:"label"`
		Workflow string    `json:"workflow"`
		Version  int       `json:"version"`
		Branch   string    `json:"branch"`
		Base     string    `json:"base"`
		Created  time.Time `json:"created"`
		State    agl.State `json:"state"`
		Error    string    `json:"error"`
	}

	recordObject struct {
		Seq       int              `json:"seq"`
		Kind      ports.RecordKind `json:"kind"`
		Namespace string           `json:"namespace"`
		Name      string           `json:"name"`
		Value     json.RawMessage  `json:"value"`
		Failure   *errorObject     `json:"failure,omitempty"`
		Head      string           `json:"head"`
		Session   string           `json:"session,omitempty"`
		Usage     ports.Usage      `json:"usage"`
		Started   time.Time        `json:"started"`
		Ended     time.Time        `json:"ended"`
		Landing   *landingObject   `json:"landing,omitempty"`
	}

	landingObject struct {
		agl.Landing
		Verdict *agl.Verdict `json:"verdict,omitempty"`
	}

	namespaceObject struct {
		Namespace string           `json:"namespace"`
		Parent    string           `json:"parent"`
		Records   int              `json:"records"`
		Usage     ports.Usage      `json:"usage"`
		Verb      ports.RecordKind `json:"verb"`
		Name      string           `json:"name"`
		Session   string           `json:"session,omitempty"`
		Waiting   string           `json:"waiting"`
		Asking    []string         `json:"asking"`
	}

	questionsAnswer struct {
		Questions []questionObject `json:"questions"`
	}

	questionObject struct {
		ID        string    `json:"id"`
		Run       string    `json:"run"`
		Namespace string    `json:"namespace"`
		From      string    `json:"from"`
		Text      string    `json:"text"`
		Options   []string  `json:"options"`
		Free      bool      `json:"free"`
		Asked     time.Time `json:"asked"`
		Answer    string    `json:"answer"`
		Unused    bool      `json:"unused"`
	}

	errorAnswer struct {
		Error errorObject `json:"error"`
	}

	errorObject struct {
		Kind    ports.Kind `json:"kind"`
		Message string     `json:"message"`
	}

	workflowObject struct {
		Name     string `json:"name"`
		Version  int    `json:"version"`
		Doc      string `json:"doc"`
		Disabled string `json:"disabled"`
	}

	doctorAnswer struct {
		OK      bool            `json:"ok"`
		Machine []findingObject `json:"machine"`
		Agents  []agentObject   `json:"agents"`
	}

	agentObject struct {
		Name      string              `json:"name"`
		Usable    bool                `json:"usable"`
		Program   string              `json:"program"`
		Version   string              `json:"version"`
		Supported string              `json:"supported"`
		Tools     bool                `json:"tools"`
		Enforces  []ports.Restriction `json:"enforces"`
		Findings  []findingObject     `json:"findings"`
	}

	findingObject struct {
		Name   string             `json:"name"`
		State  ports.FindingState `json:"state"`
		Detail string             `json:"detail"`
		Fix    string             `json:"fix"`
	}

	fileObject struct {
		File string `json:"file"`
	}

	projectObject struct {
		Name  string `json:"name"`
		Repo  string `json:"repo"`
		Trees string `json:"trees"`
	}

	versionObject struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
)

func runJSON(info agl.RunInfo) runObject {
	return runObject{
		Label: info.Label, Workflow: info.Workflow, Version: info.Version, Branch: info.Branch, Base: info.Base,
		Created: info.Created.UTC(), State: info.State, Error: info.Error,
	}
}

func recordJSON(r *agl.Record) recordObject {
	o := recordObject{
		Seq: r.Seq, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Value: r.Value, Head: r.Head,
		Session: r.Session, Usage: r.Usage,
		Started: r.Started.UTC(), Ended: r.Ended.UTC(),
	}
	if r.Landing != nil {
		o.Landing = &landingObject{*r.Landing, refusal(r)}
	}
	if o.Value == nil {
		o.Value = json.RawMessage("null")
	}
	if r.Failure != nil {
		o.Failure = &errorObject{Kind: r.Failure.Kind, Message: r.Failure.Message}
	}
	return o
}

func questionJSON(o agl.OpenQuestion) questionObject {
	q := o.Question
	return questionObject{
		ID: q.ID, Run: q.Run, Namespace: q.Namespace, From: q.From, Text: q.Text, Options: q.Options, Free: q.Free,
		Asked: o.Asked.UTC(), Answer: o.Answer, Unused: o.Unused,
	}
}

// encode returns v as JSON on one line, with text as it is rather than escaped
// for a web page, and with every list a list. What a terminal would act on or not
// show is escaped: a person may look at the line.
func encode(v any) (string, error) {
	lists := reflect.New(reflect.TypeOf(v)).Elem()
	lists.Set(reflect.ValueOf(v))
	fillLists(lists)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(lists.Interface())
	return visible(strings.TrimSuffix(b.String(), "\n")), err
}

// visible returns JSON with DEL, C1 controls and format characters (bidirectional
// controls, zero-width spaces, tags) escaped. They can only be in its strings.
func visible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// fillLists makes every nil list in v an empty one: a reader need not expect
// null where a list is documented.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fillLists(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return // JSON as it is
		}
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	}
}
