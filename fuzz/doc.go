// Package fuzz holds fuzz targets for everything that reads bytes from outside: file formats,
// statements, documents. Run one with
//
//	go test ./fuzz -run '^$' -fuzz FuzzSSTable -fuzztime 20s -fuzzminimizetime 10x
//
// where the last flag keeps it from spending the time on making interesting inputs smaller. Seeds
// are in the targets and in testdata/fuzz.
package fuzz
