// Command embed is a service with AGL inside: it runs the workflow fix for
// whoever asks over HTTP.
//
//	embed -repo /srv/repo -listen localhost:8080
//	curl -X PUT --data 'handle nil in Parse' localhost:8080/runs/issue-1432
//	curl localhost:8080/runs
//
// A run belongs to the service, not to the request that asked for it. When
// the service is stopped, its runs are stopped in order; when it is started
// again, it goes on with them.
package main

import (
	"context"
	"errors"
	"flag"
	"log/slog"
	"net/http"
	"os"
	"os/signal"

	"example.com/agl"
	"example.com/agl/adapters/local"
)

func main() {
	repo := flag.String("repo", ".", "a folder in the repository")
	listen := flag.String("listen", "localhost:8080", "the address to listen at")
	script := flag.String("script", "", "a script that stands in for every agent")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, local.Options{Repo: *repo, Script: *script}, *listen); err != nil {
		slog.Error("the service ended", "err", err)
		os.Exit(agl.ExitCode(err))
	}
}

// serve answers requests until ctx is cancelled, then stops the runs in order.
func serve(ctx context.Context, opts local.Options, listen string) error {
	set, err := local.New(ctx, opts) // every adapter of this machine
	if err != nil {
		return err
	}
	engine, err := agl.New(set, &agl.Options{Logger: slog.Default(), Agents: 8})
	if err != nil {
		return err
	}
	defer engine.Close()
	s := newService(ctx, engine, slog.Default())
	defer s.wait()
	if err := s.resume(); err != nil {
		return err
	}
	server := &http.Server{Addr: listen, Handler: s}
	context.AfterFunc(ctx, func() { _ = server.Shutdown(context.WithoutCancel(ctx)) })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
