package remote

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/simdb/simdb/internal/place"
)

// Parts of an upload to S3.
const (
	partBytes   = 16 << 20 // the least is 5 MiB, except for the last one
	mostInParts = 10000    // parts of a file
	atOnce      = 4        // parts that are sent at the same time
)

// put writes a file by one request, at Publish.
type put struct {
	t       *target
	content io.ReaderAt
	size    int64
	release func()
}

func createWeb(_ context.Context, t *target) (place.Upload, error) {
	return &put{t: t, release: func() {}}, nil
}

// Send keeps the content for Publish.
func (p *put) Send(_ context.Context, content io.ReaderAt, size int64, release func()) error {
	p.content, p.size, p.release = content, size, sync.OnceFunc(release)
	return nil
}

// Publish sends the content.
func (p *put) Publish(ctx context.Context) error {
	_, err := p.t.put(ctx, nil, io.NewSectionReader(p.content, 0, p.size))
	p.Drop()
	return err
}

// Drop releases the content.
func (p *put) Drop() { p.release() }

// put sends a part of a file, and returns the ETag of the answer.
func (t *target) put(ctx context.Context, query url.Values, part *io.SectionReader) (etag string, err error) {
	resp, err := t.do(ctx, request{
		method: http.MethodPut, query: query, header: http.Header{"Content-Type": {"application/octet-stream"}},
		body: part, size: part.Size(),
	})
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return "", t.refused(resp)
	}
	_, err = io.Copy(io.Discard, resp.Body) // so that the connection can be used again
	return resp.Header.Get("ETag"), err
}

// parts is an upload of a file in parts, which become a file at Publish.
type parts struct {
	t         *target
	id        string
	done      atomic.Bool // it was published or dropped
	completed struct {
		XMLName xml.Name   `xml:"CompleteMultipartUpload"`
		Part    []sentPart `xml:"Part"`
	}
}

type sentPart struct {
	PartNumber int    `json:"partNumber"`
	ETag       string `json:"etag"`
}

// createParts begins an upload. It fails if the credentials do not allow it, before a long job is
// done in vain.
func createParts(ctx context.Context, t *target) (place.Upload, error) {
	var began struct{ UploadId string } // as S3 spells it
	if err := t.decode(ctx, request{method: http.MethodPost, query: url.Values{"uploads": {""}}}, &began); err != nil {
		return nil, err
	}
	if began.UploadId == "" {
		return nil, errors.New("the server does not accept files in parts")
	}
	return &parts{t: t, id: began.UploadId}, nil
}

// Send sends the parts.
func (p *parts) Send(ctx context.Context, content io.ReaderAt, size int64, release func()) error {
	defer release()
	each := max(partBytes, (size+mostInParts-1)/mostInParts)
	var err error
	p.completed.Part, err = inParts(ctx, content, size, each, func(ctx context.Context, n int, part *io.SectionReader) (string, error) {
		return p.t.put(ctx, url.Values{"partNumber": {strconv.Itoa(n)}, "uploadId": {p.id}}, part)
	})
	return err
}

// inParts calls put for each part of a file, for several at the same time. An empty file is one empty part.
func inParts(ctx context.Context, content io.ReaderAt, size, each int64, put func(context.Context, int, *io.SectionReader) (etag string, err error)) ([]sentPart, error) {
	sent := make([]sentPart, max(1, (size+each-1)/each))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range sent {
		g.Go(func() error {
			off := int64(i) * each
			etag, err := put(ctx, i+1, io.NewSectionReader(content, off, min(each, size-off)))
			sent[i] = sentPart{i + 1, etag}
			return err
		})
	}
	return sent, g.Wait()
}

// Publish makes the parts a file.
func (p *parts) Publish(ctx context.Context) error {
	body, err := xml.Marshal(p.completed)
	if err != nil {
		return err
	}
	var done struct{}
	err = p.t.decode(ctx, request{
		method: http.MethodPost, query: url.Values{"uploadId": {p.id}}, body: bytes.NewReader(body), size: int64(len(body)),
	}, &done)
	if err == nil {
		p.done.Store(true)
	}
	return err
}

// Drop removes the parts. It is called after errors, so its own are not reported.
func (p *parts) Drop() {
	if p.done.Swap(true) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if resp, err := p.t.do(ctx, request{method: http.MethodDelete, query: url.Values{"uploadId": {p.id}}}); err == nil {
		resp.Body.Close()
	}
}
