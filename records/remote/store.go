package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/simdb/simdb/internal/place"
)

// store is the place.Store of a scheme.
type store struct {
	// target returns the target of a name: a file, or, for lists, a folder of files.
	target func(ctx context.Context, name string) (*target, error)

	// list is place.Store.List; nil if files cannot be listed.
	list func(ctx context.Context, prefix string, deep bool, each func(string, fs.FileInfo)) error

	// create begins to write a file.
	create func(ctx context.Context, t *target) (place.Upload, error)

	several bool // servers may send several parts of a file at once
}

func init() {
	web := &store{target: webTarget, create: createWeb, several: true}
	place.Register("http", web)
	place.Register("https", web)
	place.Register("s3", &store{target: s3.target, list: s3.list, create: createParts})
	place.Register("gs", &store{target: gs.target, list: gs.list, create: createParts})
	place.Register("hf", &store{target: hubTarget, list: listHub, create: createCommit})
}

// Stat describes a file.
func (s *store) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	f, err := s.open(ctx, name, 1) // not all servers that allow GET allow HEAD
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Stat()
}

// Open opens a file.
func (s *store) Open(ctx context.Context, name string) (place.File, error) {
	return s.open(ctx, name, firstBytes)
}

func (s *store) open(ctx context.Context, name string, first int64) (place.File, error) {
	if s.list != nil && strings.HasSuffix(name, "/") {
		return nil, fmt.Errorf("it is a folder: a pattern names the files in it, such as %s*.jsonl", name)
	}
	t, err := s.target(ctx, name)
	if err != nil {
		return nil, err
	}
	return open(ctx, t, first)
}

// Lists reports whether names may be patterns.
func (s *store) Lists() bool { return s.list != nil }

// List lists files.
func (s *store) List(ctx context.Context, prefix string, deep bool, each func(string, fs.FileInfo)) error {
	return s.list(ctx, prefix, deep, each)
}

// Writable returns an error if a file cannot be written.
func (s *store) Writable(name string) error {
	_, err := s.target(context.Background(), name)
	return err
}

// Create begins to write a file.
func (s *store) Create(ctx context.Context, name string) (place.Upload, error) {
	t, err := s.target(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.create(ctx, t)
}

// webTarget returns the target of a URL of http or https.
func webTarget(_ context.Context, name string) (*target, error) {
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return nil, errors.New("it is not a URL with a host")
	}
	u.Fragment = ""
	return &target{name: name, url: u, hint: "; a password is part of the URL: https://USER:PASSWORD@HOST/PATH"}, nil
}
