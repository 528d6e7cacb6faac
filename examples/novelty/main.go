// Command novelty is an HTTP service that admits only new documents:
//
//	novelty -db feed.simdb -addr localhost:8080 -jaccard 0.8 -ttl 48h
//
//	POST /documents         {"id":"a","text":"...", ...}: 201 stored, or 409 with the most similar
//	                        document; a document with a stored id replaces the stored one
//	GET /documents/{id}     the document, or 404
//	DELETE /documents/{id}  204, or 404
//	POST /similar?limit=10  {"text":"..."}: a list of similar documents
//	GET /healthz            200
//	GET /debug/vars         metrics: the database, requests and their time
//
// It stops on SIGINT and SIGTERM: it accepts no more requests, completes those in progress, and
// closes the database. A second signal ends it at once. Every answered write is durable in any
// case.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"expvar"
	"flag"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/simdb/simdb/engine"
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
	ttl := flag.Duration("ttl", 0, "documents of a new database expire at this age (default: never)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if *jaccard <= 0 || *jaccard > 1 {
		slog.Error("-jaccard must be above 0 and at most 1")
		os.Exit(2)
	}
	if err := run(ctx, *path, *addr, *ttl, engine.Jaccard(*jaccard).Verified(), nil); err != nil {
		slog.Error(err.Error())
		os.Exit(1)
	}
}

// run serves until ctx ends. It calls listening, unless it is nil, with the address.
func run(ctx context.Context, path, addr string, ttl time.Duration, by engine.Criterion, listening func(addr string)) (err error) {
	db, err := engine.Open(path, &engine.Options{TTL: ttl, BusyTimeout: 5 * time.Second, Logger: slog.Default()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	slog.Info("listening", "addr", l.Addr().String(), "criterion", by.String())
	if listening != nil {
		listening(l.Addr().String())
	}
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
	db      *engine.DB
	by      engine.Criterion
	metrics expvar.Map
}

// newService returns the handler of all requests.
func newService(db *engine.DB, by engine.Criterion) http.Handler {
	s := &service{db: db, by: by}
	s.metrics.Init()
	s.metrics.Set("engine", expvar.Func(func() any { return db.Metrics() }))
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
	mux.HandleFunc("GET /debug/vars", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, s.metrics.String())
	})
	return mux
}

// answer calls f, counts the request and its time, and converts an error to a response.
func (s *service) answer(pattern string, f func(http.ResponseWriter, *http.Request) error, w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	err := f(w, r)
	s.metrics.Add(pattern+" requests", 1)
	s.metrics.AddFloat(pattern+" seconds", time.Since(start).Seconds())
	if err == nil {
		return
	}
	s.metrics.Add(pattern+" errors", 1)
	reply(w, statusOf(err), map[string]string{"error": err.Error()})
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
