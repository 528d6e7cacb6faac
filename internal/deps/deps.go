//go:build deps

// Package deps keeps modules in go.mod while the code that uses them is being written.
package deps

import (
	_ "github.com/RoaringBitmap/roaring/v2"
	_ "github.com/alecthomas/kong"
	_ "github.com/alecthomas/participle/v2"
	_ "github.com/cockroachdb/datadriven"
	_ "github.com/goccy/go-json"
	_ "github.com/jedib0t/go-pretty/v6/table"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/klauspost/cpuid/v2"
	_ "github.com/peterh/liner"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/vbauerster/mpb/v8"
	_ "github.com/zeebo/xxh3"
	_ "go.etcd.io/bbolt"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/term"
	_ "pgregory.net/rapid"
)
