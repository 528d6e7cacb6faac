// Command novelty is an HTTP service that admits only new documents:
//
//	novelty -db feed.simdb -addr localhost:8080 -jaccard 0.8 -ttl 48h -workers 4
//
//	POST /documents         {"id":"a","text":"...", ...}: 201 stored, 409 with the most similar
//	                        document, or 200 if it is stored already: a request can be repeated. A
//	                        document with a stored id and another text replaces the stored one
//	GET /documents/{id}     the document, or 404
//	DELETE /documents/{id}  204, or 404
//	POST /similar?limit=10  {"text":"..."}: a list of similar documents
//	GET /healthz            200
//	GET /metrics            metrics of the process that answers, in the text format of Prometheus
//
// With -workers, processes serve the same address with the same database, and one that dies is
// started again. Other programs, such as the command simdb, may write the database, too.
//
// It stops on SIGINT and SIGTERM: it accepts no more requests, completes those in progress, and
// closes the database. A second signal ends it at once. Every answered write is durable in any
// case.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/metrics"
)

const (
	maxBody   = 16 << 20         // bytes in a request
	stopAfter = 10 * time.Second // when the service stops, longer requests are cut off
)

// slowest is the longest time that a client may need to send a request.
var slowest = time.Minute

func main() {
	path := flag.String("db", "novelty.simdb", "the database, created if there is none")
	addr := flag.String("addr", "localhost:8080", "where to listen")
	jaccard := flag.Float64("jaccard", 0.8, "documents that share this part of their shingles are near-duplicates")
	ttl := flag.Duration("ttl", 0, "documents expire at this age (default: never)")
	workers := flag.Int("workers", 0, "how many processes serve (default: this one)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if *jaccard <= 0 || *jaccard > 1 {
		slog.Error("-jaccard must be above 0 and at most 1")
		os.Exit(2)
	}
	l, err := listen(*addr)
	switch {
	case err != nil:
	case *workers > 0 && os.Getenv(isWorker) == "":
		err = supervise(ctx, l, *workers)
	default:
		err = run(ctx, l, *path, *ttl, engine.Jaccard(*jaccard))
	}
	if err != nil {
		slog.Error(err.Error())
		os.Exit(1)
	}
}

// isWorker is the variable that is set for a worker, which finds the listener in file 3.
const isWorker = "NOVELTY_WORKER"

func listen(addr string) (net.Listener, error) {
	if os.Getenv(isWorker) == "" {
		return net.Listen("tcp", addr)
	}
	f := os.NewFile(3, "listener")
	defer f.Close()
	return net.FileListener(f)
}

// supervise runs workers until ctx ends, and starts those again that die.
func supervise(ctx context.Context, l net.Listener, workers int) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	slog.Info("listening", "addr", l.Addr().String(), "workers", workers)
	var g sync.WaitGroup
	for range workers {
		g.Go(func() {
			for ctx.Err() == nil {
				c := exec.CommandContext(ctx, program, os.Args[1:]...)
				c.Env, c.ExtraFiles, c.Stderr = append(os.Environ(), isWorker+"=1"), []*os.File{f}, os.Stderr
				c.Cancel, c.WaitDelay = func() error { return c.Process.Signal(syscall.SIGTERM) }, 2*stopAfter
				if err := c.Run(); err != nil && ctx.Err() == nil {
					slog.Error("a worker has ended", "err", err)
					time.Sleep(time.Second)
				}
			}
		})
	}
	g.Wait()
	return nil
}

// run serves until ctx ends.
func run(ctx context.Context, l net.Listener, path string, ttl time.Duration, by engine.Criterion) (err error) {
	db, err := engine.Open(path, &engine.Options{Shared: true, TTL: ttl, BusyTimeout: 5 * time.Second, Logger: slog.Default()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	slog.Info("serving", "addr", l.Addr().String(), "criterion", by.String())
	s := &http.Server{Handler: newService(db, by), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: slowest, IdleTimeout: 2 * time.Minute}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.Background(), stopAfter)
	defer cancel()
	if err := s.Shutdown(late); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// service answers requests about a database.
type service struct {
	db *engine.DB
	by engine.Criterion

	mu       sync.Mutex
	requests map[request]*requests
}

// request is a kind of requests, and requests describes those that were answered.
type (
	request  struct{ pattern, status string }
	requests struct {
		count   int
		seconds float64
	}
)

// newService returns the handler of all requests.
func newService(db *engine.DB, by engine.Criterion) http.Handler {
	s := &service{db: db, by: by, requests: map[request]*requests{}}
	mux := http.NewServeMux()
	for pattern, f := range map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /documents":        s.put,
		"GET /documents/{id}":    s.get,
		"DELETE /documents/{id}": s.remove,
		"POST /similar":          s.similar,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.answer(pattern, f, w, r) })
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /metrics", s.metrics)
	return mux
}

// metrics writes the numbers and times of requests, and the numbers of engine.Metrics.
func (s *service) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(w, "# TYPE novelty_request_seconds summary")
	for r, n := range s.requests {
		labels := fmt.Sprintf("{request=%q,status=%q}", r.pattern, r.status)
		fmt.Fprintf(w, "novelty_request_seconds_count%s %d\nnovelty_request_seconds_sum%s %g\n", labels, n.count, labels, n.seconds)
	}
	metrics.WritePrometheus(w, s.db.Metrics())
}

// statusWriter remembers the status of a response.
type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// answer calls f, converts an error to a response, and counts the request and its time.
func (s *service) answer(pattern string, f func(http.ResponseWriter, *http.Request) error, w http.ResponseWriter, r *http.Request) {
	start, to := time.Now(), &statusWriter{w, http.StatusOK}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	if err := f(to, r); err != nil {
		reply(to, statusOf(err), map[string]string{"error": err.Error()})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := request{pattern, strconv.Itoa(to.status)}
	if s.requests[key] == nil {
		s.requests[key] = new(requests)
	}
	s.requests[key].count++
	s.requests[key].seconds += time.Since(start).Seconds()
}

// errRequest is the error for an invalid request.
var errRequest = errors.New("not as expected")

func statusOf(err error) int {
	_, large := errors.AsType[*http.MaxBytesError](err)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, engine.ErrTooLarge), large:
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, engine.ErrInvalid), errors.Is(err, errRequest):
		return http.StatusBadRequest
	case errors.Is(err, context.Canceled):
		return 499 // the client has gone
	}
	return http.StatusInternalServerError
}

// reply writes JSON.
func reply(w http.ResponseWriter, status int, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	return json.NewEncoder(w).Encode(v)
}

// match is a document that was found.
type match struct {
	ID    string  `json:"id"`
	Score float64 `json:"score"`
}

// document reads the document of a request: its id and text; everything else becomes its fields.
func document(r *http.Request) (d engine.Doc, err error) {
	var all map[string]json.RawMessage
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &all) // nothing may follow the document
	}
	if err != nil {
		return d, errors.Join(errRequest, err)
	}
	for name, to := range map[string]*string{"id": &d.ID, "text": &d.Text} {
		if raw, ok := all[name]; ok {
			if err := json.Unmarshal(raw, to); err != nil {
				return d, errors.Join(errRequest, err)
			}
			delete(all, name)
		}
	}
	if len(all) > 0 {
		d.Fields, err = json.Marshal(all)
	}
	return d, err
}

// put stores a document unless it is similar to another one. The check and the write are one
// step.
func (s *service) put(w http.ResponseWriter, r *http.Request) error {
	d, err := document(r)
	if err != nil {
		return err
	}
	m, stored, err := s.db.PutNovel(r.Context(), d, s.by)
	switch {
	case err != nil:
		return err
	case !stored && m.ID == d.ID: // sent again
		return reply(w, http.StatusOK, map[string]string{"id": d.ID})
	case !stored:
		return reply(w, http.StatusConflict, match{m.ID, m.Score})
	}
	return reply(w, http.StatusCreated, map[string]string{"id": d.ID})
}

func (s *service) get(w http.ResponseWriter, r *http.Request) error {
	d, err := s.db.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, map[string]any{"id": d.ID, "text": d.Text, "fields": d.Fields, "time": d.Time})
}

func (s *service) remove(w http.ResponseWriter, r *http.Request) error {
	if err := s.db.Delete(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// similar lists the documents that are similar to a text, the most similar first.
func (s *service) similar(w http.ResponseWriter, r *http.Request) error {
	d, err := document(r)
	if err != nil {
		return err
	}
	if d.Text == "" {
		return errors.Join(errRequest, errors.New("the request has no text"))
	}
	limit := 10
	if text := r.URL.Query().Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 {
			return errors.Join(errRequest, errors.New("limit must be a whole number, at least 1"))
		}
	}
	all := []match{}
	for m, err := range s.db.Search(r.Context(), engine.Doc{Text: d.Text}, s.by, nil) {
		if err != nil {
			return err
		}
		if all = append(all, match{m.ID, m.Score}); len(all) == limit {
			break
		}
	}
	return reply(w, http.StatusOK, all)
}
