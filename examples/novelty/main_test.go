package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
)

const text = "permission is hereby granted free of charge to any person obtaining a copy of this software"

// start starts the service and returns a function that makes requests, and one that stops the
// service and returns the error of run.
func start(t *testing.T, path string) (ask func(method, path string, body string) (int, string), stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	addr, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- run(ctx, path, "localhost:0", 0, engine.Jaccard(0.8).Verified(), func(a string) { addr <- a })
	}()
	var base string
	select {
	case a := <-addr:
		base = "http://" + a
	case err := <-ended:
		t.Fatal(err)
	}
	ask = func(method, path, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(bytes.TrimSpace(b))
	}
	return ask, func() error {
		cancel()
		return <-ended
	}
}

func TestService(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.simdb")
	ask, stop := start(t, path)
	for i, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/healthz", "", 200, "ok"},
		{"POST", "/documents", `{"id":"a","text":"` + text + `","lang":"en"}`, 201, `{"id":"a"}`},
		{"POST", "/documents", `{"id":"b","text":"` + text + `!"}`, 409, `{"id":"a","score":1}`},
		{"POST", "/documents", `{"id":"c","text":"something else that nobody has said before"}`, 201, `{"id":"c"}`},
		{"POST", "/similar", `{"text":"` + text + ` now"}`, 200, `[{"id":"a","score":0.9333333333333333}]`},
		{"POST", "/similar?limit=0", `{"text":"x"}`, 400, "limit"},
		{"POST", "/similar", `{"text":"nothing like it"}`, 200, `[]`},
		{"POST", "/documents", `{"text":"without id"}`, 400, "id"},
		{"POST", "/documents", `{"id":`, 400, "error"},
		{"POST", "/documents", `{"id":"e","text":"one"} {"id":"f","text":"two"}`, 400, "after top-level value"},
		{"POST", "/similar", `{"id":"a"}`, 400, "no text"},
		{"POST", "/documents", `{"id":"d","text":"` + strings.Repeat("x", maxBody) + `"}`, 413, "too large"},
		{"GET", "/documents/a", "", 200, `"fields":{"lang":"en"}`},
		{"GET", "/documents/b", "", 404, "error"},
		{"DELETE", "/documents/c", "", 204, ""},
		{"DELETE", "/documents/c", "", 404, "error"},
		{"PUT", "/documents", "", 405, ""},
	} {
		status, got := ask(c.method, c.path, c.body)
		if status != c.status || !strings.Contains(got, c.want) {
			t.Errorf("%d: %s %s: %d %s, not %d %s", i, c.method, c.path, status, got, c.status, c.want)
		}
	}
	var metrics struct {
		Engine   struct{ Puts int64 }
		Requests int64   `json:"POST /documents requests"`
		Errors   int64   `json:"POST /documents errors"`
		Seconds  float64 `json:"POST /documents seconds"`
	}
	if _, got := ask("GET", "/debug/vars", ""); json.Unmarshal([]byte(got), &metrics) != nil || metrics.Engine.Puts != 2 || metrics.Requests != 7 || metrics.Errors != 4 || metrics.Seconds <= 0 {
		t.Errorf("metrics: %+v", metrics)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	ask, stop = start(t, path) // stored documents are still there
	if status, _ := ask("GET", "/documents/a", ""); status != 200 {
		t.Errorf("after a restart: %d", status)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestAtOnce checks that one of many concurrent near-duplicates is stored.
func TestAtOnce(t *testing.T) {
	ask, stop := start(t, filepath.Join(t.TempDir(), "x.simdb"))
	var wait sync.WaitGroup
	statuses := make([]int, 16)
	for i := range statuses {
		wait.Go(func() {
			statuses[i], _ = ask("POST", "/documents", fmt.Sprintf(`{"id":"%d","text":"%s"}`, i, text))
		})
	}
	wait.Wait()
	count := map[int]int{}
	for _, s := range statuses {
		count[s]++
	}
	if count[201] != 1 || count[409] != len(statuses)-1 {
		t.Errorf("statuses %v", count)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestStop checks that a request is answered if its body is still arriving when the service is
// stopped.
func TestStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	addr, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- run(ctx, filepath.Join(t.TempDir(), "x.simdb"), "localhost:0", 0, engine.Near(3), func(a string) { addr <- a })
	}()
	base := "http://" + <-addr
	body, rest := io.Pipe()
	answered := make(chan error, 1)
	go func() {
		resp, err := http.Post(base+"/documents", "application/json", body)
		if err == nil && resp.StatusCode != http.StatusCreated {
			err = errors.New(resp.Status)
		}
		answered <- err
	}()
	io.WriteString(rest, `{"id":"a",`)
	for resp, err := http.Get(base + "/healthz"); err == nil; resp, err = http.Get(base + "/healthz") { // until it is stopped
		resp.Body.Close()
		cancel()
	}
	io.WriteString(rest, `"text":"some words that are stored"}`)
	rest.Close()
	if err := <-answered; err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestSlow checks that a client that never completes its request gets an answer.
func TestSlow(t *testing.T) {
	defer func(d time.Duration) { slowest = d }(slowest)
	slowest = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	addr, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- run(ctx, filepath.Join(t.TempDir(), "x.simdb"), "localhost:0", 0, engine.Near(3), func(a string) { addr <- a })
	}()
	body, rest := io.Pipe()
	defer rest.Close()
	resp, err := http.Post("http://"+<-addr+"/documents", "application/json", body)
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Error(resp, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
