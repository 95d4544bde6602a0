// Package odd has code that an analyzer can stumble on. It need not run.
package odd

import (
	"context"
	"fmt"
	"iter"
	"unsafe"

	"example.com/agl"
)

type embeds struct {
	*agl.Run
	tasks []agl.Task
}

func (e embeds) one(ctx context.Context) error { return e.Step(ctx, e.tasks[0]) }

func (e *embeds) two(ctx context.Context) (err error) {
	go e.Step(ctx, e.tasks[0])
	defer e.Verify(ctx)
	return e.Run.Step(ctx, e.tasks[1])
}

type deep struct{ embeds }

type set[K comparable, V any] map[K]V

func (s set[K, V]) put(k K, v V) { s[k] = v }
func (s *set[K, V]) reset()      { *s = nil }
func (s set[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for k, v := range s {
			if !yield(k, v) {
				return
			}
		}
	}
}

type tree[T any] struct {
	left, right *tree[T]
	value       T
	self        **tree[T]
}

func (t *tree[T]) walk(f func(*T)) *tree[T] {
	for n := t; n != nil; n = n.left {
		f(&n.value)
		n.right = n.right.walk(f)
		*n.self = n
	}
	return t
}

type ints interface{ ~[]int | ~map[int]int }

func poke[S ~[]E, E any](s S, e E) { s[0] = e }
func pokeMap[M ~map[int]int](m M)  { m[0] = 1 }
func pokeAny[T ints](t T)          { _ = len(t) }
func point[T any, P interface {
	*T
	set()
}](p P) { *p = *new(T); p.set() }

type setter struct{ n int }

func (s *setter) set() { s.n = 1 }

var (
	global = set[string, int]{}
	root   = &tree[int]{}
	table  = []int{1}
	byInt  = map[int]int{}
	array  [3]int
	matrix [2][2]*int
	s      setter
	fn     func(*int)         = func(n *int) { *n = 1 }
	fns                       = []func(*int){fn}
	cycleA                    = func() int { return useB() }
	iface  interface{ set() } = &s
	anon   struct {
		p *struct{ q []map[string]*int }
	}
	ptr  = &ptr2
	ptr2 *int
	loop any = &ptr2
)

func useB() int { return len(table) }

var _, _ = fmt.Println(unsafe.Sizeof(array))

func init()  { init2() }
func init()  { array[0]++ }
func init2() { _ = cycleA() }

func _() { table[0]++ }
func _() { fn(&array[0]) }

func odd[T any](ctx context.Context, run *agl.Run, xs ...T) (err error) {
	global.put("a", 1)
	(*set[string, int]).reset(&global)
	set[string, int].put(global, "a", 2)
	put := global.put
	put("x", 1)
	poke(table, 1)
	poke[[]int](table[:], 1)
	pokeMap(byInt)
	pokeAny(byInt)
	point[setter](&s)
	(&s).set()
	(*setter).set(&s)
	iface.set()
	fns[0](&array[1])
	func(p ...*int) { *p[0] = 1 }(&array[0], matrix[0][1])
	*matrix[1][0]++
	**ptr = 1
	(*(&array))[1], array[2] = 2, 3
	copy(array[:], table)
	clear(byInt)
	delete(anon.p.q[0], "x")
	root.walk(func(n *int) { *n++ })
	for array[0] = range 3 {
	}
	for global["x"] = range 3 {
	}
	for k, v := range global.all() {
		defer run.Step(ctx, nil)
		go func() { _, _ = k, v; _ = run.Step(ctx, nil) }()
	}
	p := p2()
	p, q := p2(), p2()
	*p, *q = 1, 2
	a, b := p2(), p2()
	*a = *b
	n := (*int)(unsafe.Pointer(&array[0]))
	*n = 3
	switch x := any(xs).(type) {
	case []int:
		x[0] = 1
	case *setter:
		x.set()
	}
	fmt.Println(min(1, 2), new(T), [...]int{1, 2}[0], struct{ a []int }{table}.a)
	f, ok := any(run).(interface{ Step() })
	_, _ = f, ok
	m, has := global["x"]
	_, _ = m, has
outer:
	for {
		select {
		default:
			break outer
		case err = <-make(chan error):
		case array[0] = <-make(chan int):
			e := &embeds{Run: run}
			go e.one(ctx)
			d := deep{*e}
			_ = d.two(ctx)
			d.Step(ctx, nil)
		}
	}
	select {}
}

func p2() *int { return &array[0] }

type method interface {
	Step(context.Context, agl.Task, ...agl.Input) error
}

func through[R method](ctx context.Context, r R, run *agl.Run) error {
	go r.Step(ctx, nil)
	defer r.Step(ctx, nil)
	defer func() { recover() }()
	defer panic("x")
	x := []any{agl.Text("x"), &x0, nil}
	x[0] = x
	type local struct {
		*local
		t agl.Task
	}
	l := &local{}
	l.local, l.t = l, agl.Reader[int]{}.Into(nil)
	goto end
end:
	return through(ctx, run, run)
}

var (
	x0 = any(x1)
	x1 = func() any { return 1 }
)

type (
	alias      = agl.Run
	gen[T any] = set[string, T]
)

func aliased(ctx context.Context, r *alias, g gen[int]) { _ = r.Step(ctx, nil); g.put("", 1); g["x"]++ }
