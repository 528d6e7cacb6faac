package store

import (
	"log/slog"
	"time"

	"github.com/simdb/simdb/internal/vfs"
)

// Options are engine.Options, which documents them.
type Options struct {
	Shingle    int
	Layout     string
	Sketch     int
	MinJaccard float64
	NoText     bool
	NoSketch   bool
	TTL        time.Duration

	ReadOnly  bool
	MustExist bool
	Memory    int64

	NoSync           bool
	MemtableBytes    int
	NoAutoCompaction bool

	Logger  *slog.Logger
	OnEvent func(Event)

	FS  vfs.FS           // nil for the disk
	Now func() time.Time // nil for time.Now
}

// The kinds of an event, as engine.EventKind has them.
const (
	EventFlush   = "flush"
	EventCompact = "compact"
	EventRecover = "recover"
	EventError   = "error"
)

// A Event is engine.Event.
type Event struct {
	Kind     string
	Tables   []uint64
	Docs     int
	Bytes    int64
	Duration time.Duration
	Err      error
}
