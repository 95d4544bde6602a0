// want package:"functions"

// Package ignored silences lines.
package ignored

import (
	"context"
	"fmt"
	"time"

	"example.com/agl"
)

var reader = agl.Reader[agl.None]{Name: "reader", Model: "claude/opus", Prompt: "Read."}

func workflow(ctx context.Context, run *agl.Run) error {
	fmt.Println(time.Now()) //aglvet:ignore only printed
	//aglvet:ignore only printed
	fmt.Println(time.Now())
	fmt.Println(time.Now()) // want `time.Now reads the clock`
	//aglvet:ignore its failure does not matter
	_ = run.Step(ctx, reader)
	_ = time.Now() //aglvet:ignore // want `//aglvet:ignore needs a reason` `time.Now reads the clock`
	_ = time.Now() //aglvet:ignored is another word // want `time.Now reads the clock`
	log("x") //aglvet:ignore what it calls is only printed
	return nil
}

func log(s string) { fmt.Println(time.Now(), s) }
