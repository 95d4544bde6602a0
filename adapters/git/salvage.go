package git

import (
	"context"

	"example.com/agl/ports"
)

func (c *checkout) salvage(ctx context.Context, head, reason string) (*ports.Salvage, error) {
	return nil, nil
}

func (r *Repo) Salvaged(ctx context.Context, label string) ([]ports.Salvage, error) { return nil, nil }

func (r *Repo) WriteSalvage(ctx context.Context, label string, n int, dir string) error { return nil }

func (r *Repo) DropSalvage(ctx context.Context, label string, n int) error { return nil }
