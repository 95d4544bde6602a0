//go:build linux

package killtest_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAfterAPowerCutWhatHasLandedIsThere kills a run whose children land, all
// but two of them cleanly, where it calls git, and takes away all that no sync
// was seen for; and again when a resume has landed the rest.
func TestAfterAPowerCutWhatHasLandedIsThere(t *testing.T) {
	t.Parallel()
	for _, p := range []*play{pairPlay, crowdPlay} {
		w := p.uninterrupted(t)
		points := []point{{}} // it is not killed: all has landed when the power is cut
		for i, back := range every(44, 1, w.calls/2) {
			if p == crowdPlay {
				back += w.calls / 8 // its calls are not as many every time
			}
			points = append(points, point{gitCall, w.calls - back, []moment{after, before}[i%2]})
		}
		for _, at := range points {
			t.Run(p.workflow+" "+at.String(), func(t *testing.T) {
				takeTurn(t)
				s := p.sandbox(t)
				d := newDisk(t, s.dir, s.repo)
				operators := s.operators()
				proc := s.prepare(at, nil, "agl", p.run(s)...)
				d.watch(0, proc)
				r := proc.wait()
				require.Equal(t, at != point{}, r.killed, "%s", r)
				s.endAll()
				require.NoError(t, s.cutPower(d, lossNone))
				s.headsAreThere()

				proc = s.prepare(point{}, nil, "agl", s.next(p)...)
				d.watch(0, proc)
				r = proc.wait()
				require.Zero(t, r.code, "%s", r)
				require.NoError(t, s.cutPower(d, lossNone))
				s.headsAreThere()
				s.sameAs(w)
				s.leavesNothing(operators)
			})
		}
	}
}
