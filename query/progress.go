package query

import (
	"context"

	"github.com/simdb/simdb/engine"
)

type progressKey struct{}

// WithProgress returns a context under which statements report how far they have come. The function is called now and then, from
// any goroutine but not from several at once, while Run works and while the Rows are read.
func WithProgress(ctx context.Context, report func(engine.Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// progress returns the function of WithProgress, nil if there is none.
func (x *run) progress() func(engine.Progress) {
	report, _ := x.ctx.Value(progressKey{}).(func(engine.Progress))
	return report
}

// reportEvery is how many documents are looked at between two reports.
const reportEvery = 1 << 10

// counting returns a function to be called for every document that is looked at in a stage.
func (x *run) counting(stage string) func() {
	report, n := x.progress(), int64(0)
	return func() {
		if n++; report != nil && n%reportEvery == 0 {
			report(engine.Progress{Stage: stage, Done: n, Unit: "documents"})
		}
	}
}
