package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/simdb/simdb/engine"
)

const text = "permission is hereby granted free of charge to any person obtaining a copy of this software"

func listener(t *testing.T) net.Listener {
	l, err := listen("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// start starts the service and returns a function that makes requests, and one that stops the
// service and returns the error of run.
func start(t *testing.T, path string) (ask func(method, path string, body string) (int, string), stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	l, ended := listener(t), make(chan error, 1)
	go func() { ended <- run(ctx, l, path, 0, engine.Jaccard(0.8)) }()
	base := "http://" + l.Addr().String()
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
		{"POST", "/documents", `{"id":"a","text":"` + text + `","lang":"en"}`, 200, `{"id":"a"}`},
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
	_, metrics := ask("GET", "/metrics", "")
	for _, line := range []string{
		`novelty_request_seconds_count{request="POST /documents",status="201"} 2`,
		`novelty_request_seconds_count{request="POST /documents",status="400"} 3`,
		"\nsimdb_puts_total{db=",
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("no %q in the metrics:\n%s", line, metrics)
		}
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
	l, ended := listener(t), make(chan error, 1)
	go func() { ended <- run(ctx, l, filepath.Join(t.TempDir(), "x.simdb"), 0, engine.Near(3)) }()
	base := "http://" + l.Addr().String()
	body, rest := io.Pipe()
	answered := make(chan error, 1)
	// The service asks for the body once it has begun to answer: a request that comes later is not answered.
	request, err := http.NewRequest("POST", base+"/documents", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Expect", "100-continue")
	client := http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	go func() {
		resp, err := client.Do(request)
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
	l, ended := listener(t), make(chan error, 1)
	go func() { ended <- run(ctx, l, filepath.Join(t.TempDir(), "x.simdb"), 0, engine.Near(3)) }()
	body, rest := io.Pipe()
	defer rest.Close()
	resp, err := http.Post("http://"+l.Addr().String()+"/documents", "application/json", body)
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Error(resp, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestMain lets the test binary be the service, for TestWorkers.
func TestMain(m *testing.M) {
	if os.Getenv("NOVELTY_TEST") != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestWorkers sends near-duplicates to several processes: one of each kind is stored.
func TestWorkers(t *testing.T) {
	l := listener(t)
	addr := l.Addr().String()
	l.Close()
	path := filepath.Join(t.TempDir(), "x.simdb")
	c := exec.Command(os.Args[0], "-db", path, "-addr", addr, "-workers", "3")
	c.Env, c.Stderr = append(os.Environ(), "NOVELTY_TEST=1"), os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	const kinds, copies = 50, 8
	var wait sync.WaitGroup
	for n := range kinds * copies {
		wait.Go(func() {
			body := fmt.Sprintf(`{"id":"%d","text":"%d %s"}`, n, n%kinds, strings.Repeat(fmt.Sprint(n%kinds, " "), 9))
			for try := 0; ; try++ { // until it is answered
				resp, err := http.Post("http://"+addr+"/documents", "application/json", strings.NewReader(body))
				if err == nil {
					resp.Body.Close()
					if s := resp.StatusCode; s != 200 && s != 201 && s != 409 {
						t.Error(resp.Status)
					}
					return
				}
				if try == 300 {
					t.Error(err)
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	wait.Wait()
	c.Process.Signal(os.Interrupt)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	db, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if n, err := db.Count(t.Context(), engine.Range{}); err != nil || n != kinds {
		t.Errorf("%d documents, %v", n, err)
	}
}
