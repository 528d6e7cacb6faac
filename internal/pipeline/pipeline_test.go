package pipeline

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
)

// TestOrdered checks that results are consumed in order, that the first error ends the run, and
// that no goroutine is left running.
func TestOrdered(t *testing.T) {
	for _, workers := range []int{1, 2, 7} {
		for _, n := range []int{0, 1, 2, 100} {
			next := 0
			err := Ordered(t.Context(), n, workers, func(i int) (int, error) { return i * i, nil }, func(i, v int) error {
				if i != next || v != i*i {
					t.Errorf("result %d is %d, after %d", i, v, next)
				}
				next++
				return nil
			})
			if err != nil || next != n {
				t.Errorf("%d workers: %d of %d results, %v", workers, next, n, err)
			}
		}
		broken := errors.New("broken")
		var at atomic.Int32
		produce := func(i int) (int, error) {
			at.Add(1)
			if i == 50 {
				return 0, broken
			}
			return i, nil
		}
		if err := Ordered(t.Context(), 1000, workers, produce, func(int, int) error { return nil }); !errors.Is(err, broken) {
			t.Errorf("%d workers: %v", workers, err)
		}
		if n := at.Load(); n > int32(51+2*workers+2) {
			t.Errorf("%d workers: %d calls for an error in the 51st", workers, n)
		}
		if err := Ordered(t.Context(), 1000, workers, func(i int) (int, error) { return i, nil }, func(i, _ int) error {
			if i == 30 {
				return broken
			}
			return nil
		}); !errors.Is(err, broken) {
			t.Errorf("%d workers: consumer: %v", workers, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if err := Ordered(ctx, 1000, workers, func(i int) (int, error) { return i, nil }, func(i, _ int) error {
			if i == 30 {
				cancel()
			}
			return nil
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("%d workers: cancelled: %v", workers, err)
		}
	}
}

// TestLine checks that items are delivered in order while later ones are in progress, that the
// first error in order ends the run, and that no goroutine is left running.
func TestLine(t *testing.T) {
	for _, workers := range []int{1, 3} {
		for _, n := range []int{0, 1, 5, 200} {
			var taken []int
			var made, at atomic.Int32
			l := New(workers, func() func(*int) error {
				made.Add(1)
				return func(v *int) error {
					at.Add(1)
					*v *= 2
					return nil
				}
			}, func(v *int) error {
				taken = append(taken, *v)
				return nil
			})
			for i := range n {
				v := i
				if err := l.Add(&v); err != nil {
					t.Fatal(err)
				}
				if under := i + 1 - len(taken); under >= 2*workers {
					t.Fatalf("%d workers: %d under way", workers, under)
				}
			}
			if err := l.Finish(); err != nil {
				t.Fatal(err)
			}
			l.Stop()
			for i, v := range taken {
				if v != 2*i {
					t.Fatalf("%d workers: item %d is %d", workers, i, v)
				}
			}
			if len(taken) != n || at.Load() != int32(n) || made.Load() != int32(workers) {
				t.Errorf("%d workers: %d of %d taken, %d worked on, by %d", workers, len(taken), n, at.Load(), made.Load())
			}
		}
		first, second := errors.New("first"), errors.New("second")
		block := make(chan struct{})
		l := New(workers, func() func(int) error {
			return func(v int) error {
				switch v {
				case 0:
					if workers > 1 {
						<-block // until the next item has failed
					}
					return first
				case 1:
					close(block)
					return second
				}
				return nil
			}
		}, func(v int) error {
			t.Errorf("item %d is taken", v)
			return nil
		})
		err := error(nil)
		for i := 0; i < 10 && err == nil; i++ {
			err = l.Add(i)
		}
		if l.Stop(); !errors.Is(err, first) {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// TestConcat checks that all values and errors are yielded in order, and that no goroutine is left
// running when the loop or the context ends.
func TestConcat(t *testing.T) {
	broken := errors.New("broken")
	var running atomic.Int32
	sources := func(ctx context.Context) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			running.Add(1)
			defer running.Add(-1)
			for i := range 20 {
				var err error
				if i == 7 {
					err = broken
				}
				if !yield(i, err) {
					return
				}
			}
		}
	}
	expand := func(ctx context.Context, from int) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			running.Add(1)
			defer running.Add(-1)
			for i := range from {
				if !yield(100*from+i, nil) {
					return
				}
			}
			if from == 11 {
				yield(-11, broken)
			}
		}
	}
	var want []int
	for i := range 20 {
		if i == 7 {
			want = append(want, 0)
			continue
		}
		for v := range expand(t.Context(), i) {
			want = append(want, v)
		}
	}
	for _, workers := range []int{1, 2, 5} {
		for _, ahead := range []int{0, 1, 3} {
			var got []int
			for v, err := range Concat(t.Context(), workers, ahead, sources, expand) {
				if (err != nil) != (v == 0 || v == -11) {
					t.Errorf("value %d with error %v", v, err)
				}
				got = append(got, v)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d workers, %d ahead: %v", workers, ahead, got)
			}
			for range Concat(t.Context(), workers, ahead, sources, expand) {
				break
			}
			if n := running.Load(); n != 0 {
				t.Errorf("%d workers, %d ahead: %d sequences run after the loop", workers, ahead, n)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var last error
			for v, err := range Concat(ctx, workers, ahead, sources, expand) {
				if v == 500 {
					cancel()
				}
				last = err
			}
			if !errors.Is(last, context.Canceled) || running.Load() != 0 {
				t.Errorf("%d workers, %d ahead: cancelled, the last error is %v; %d sequences run", workers, ahead, last, running.Load())
			}
			cancel()
		}
	}
}

// TestArrivals checks that all values are yielded in order, that seq is never too far ahead, and
// that no goroutine is left running.
func TestArrivals(t *testing.T) {
	for _, count := range []int{1, 3, 1000} {
		var came, ended atomic.Int32
		seq := func(ctx context.Context) iter.Seq2[int, int] {
			return func(yield func(int, int) bool) {
				defer ended.Add(1)
				for i := range 100 {
					if came.Add(1); !yield(i, 10) {
						return
					}
				}
			}
		}
		next := 0
		for values := range Arrivals(t.Context(), count, 50, seq) {
			for _, v := range values {
				if v != next {
					t.Fatalf("%d where %d is next", v, next)
				}
				next++
			}
			if ahead := int(came.Load()) - next; len(values) > min(count, 5) || ahead > min(count, 5)+1 {
				t.Errorf("at most %d and 50 bytes: %d values at a time, %d more have come", count, len(values), ahead)
			}
		}
		if next != 100 || ended.Load() != 1 {
			t.Errorf("%d of 100 values, %d sequences have ended", next, ended.Load())
		}
		for range Arrivals(t.Context(), count, 50, seq) {
			break
		}
		if ended.Load() != 2 {
			t.Error("the sequence runs after the loop")
		}
	}
}

// TestReader reads all data and the error, and checks that a read stops waiting when the context
// ends.
func TestReader(t *testing.T) {
	text := strings.Repeat("0123456789", 20_000)
	if err := iotest.TestReader(Reader(t.Context(), strings.NewReader(text)), []byte(text)); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(Reader(t.Context(), iotest.ErrReader(io.ErrNoProgress))); err != io.ErrNoProgress {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	from, to := io.Pipe()
	defer to.Close()
	go func() {
		io.WriteString(to, "begun")
		cancel(io.ErrUnexpectedEOF)
	}()
	if got, err := io.ReadAll(Reader(ctx, from)); string(got) != "begun" && len(got) > 0 || err != io.ErrUnexpectedEOF {
		t.Errorf("%q, %v", got, err)
	}
}

// TestBatcher checks that batches are reused, and that all items are delivered in order, including
// those of the incomplete last batch.
func TestBatcher(t *testing.T) {
	type batch struct{ in, out []int }
	for _, n := range []int{0, 1, 10, 1001} {
		var b Batcher[batch]
		var got []int
		b.Line = New(3, func() func(*batch) error {
			return func(x *batch) error {
				for _, i := range x.in {
					x.out = append(x.out, 2*i)
				}
				return nil
			}
		}, func(x *batch) error {
			got = append(got, x.out...)
			x.in, x.out = x.in[:0], x.out[:0]
			b.Reuse(x)
			return nil
		})
		for i := range n {
			x := b.Next()
			if x.in = append(x.in, i); len(x.in) == 10 {
				if err := b.Send(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := b.Finish(); err != nil {
			t.Fatal(err)
		}
		b.Stop()
		for i, x := range got {
			if x != 2*i {
				t.Fatalf("%d items: %d is taken as number %d", n, x, i)
			}
		}
		if len(got) != n || len(b.free) > 7 {
			t.Errorf("%d of %d items are taken, and %d batches are made", len(got), n, len(b.free))
		}
	}
}
