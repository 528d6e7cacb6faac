package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/go-retryablehttp"
)

// Times and numbers of repetitions. The longest pauses add up to 8 seconds. They are variables for
// tests.
var (
	pause    = 250 * time.Millisecond // before the first repetition; doubled before each further one
	maxPause = 10 * time.Second
	silence  = time.Minute // without any byte, after which a connection counts as broken
)

const repetitions = 5

// transport is common to all requests, so that connections are reused.
var transport = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: 20 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.ResponseHeaderTimeout = silence
	t.MaxIdleConnsPerHost = 16
	return t
}()

// target is a file, or a folder of files, on a server.
type target struct {
	name    string // as the user wrote it, without secrets
	url     *url.URL
	sign    func(*http.Request) error // adds credentials for the host of url; or nil
	gzip    bool                      // ask for the stored form of files with Content-Encoding: gzip
	noMatch bool                      // the server redirects to another one, which has other ETags
	moved   func(*http.Response) bool // adapts url to an answer that another server is responsible; or nil
	hint    string                    // what to do if access is denied
}

// RoundTrip sends a request with fresh credentials. Another host, to which a server may redirect,
// does not get them, nor does the same one without encryption.
func (t *target) RoundTrip(r *http.Request) (*http.Response, error) {
	if t.sign != nil && r.URL.Host == t.url.Host && r.URL.Scheme == t.url.Scheme {
		r = r.Clone(r.Context())
		if err := t.sign(r); err != nil {
			return nil, &credentialsError{err}
		}
	}
	return transport.RoundTrip(r)
}

// credentialsError is an error of the search for credentials.
type credentialsError struct{ err error }

func (e *credentialsError) Error() string { return "credentials: " + e.err.Error() }
func (e *credentialsError) Unwrap() error { return e.err }

// request is a request for a target.
type request struct {
	method string
	query  url.Values // or nil
	header http.Header
	body   io.ReaderAt // or nil
	size   int64       // of body
}

// do sends a request, repeatedly if necessary. It returns responses of status 2xx, 412 and 416; any
// other one is an error.
func (t *target) do(ctx context.Context, r request) (*http.Response, error) {
	for {
		resp, err := t.send(ctx, r)
		if err != nil {
			return nil, cause(ctx, err)
		}
		switch code := resp.StatusCode; {
		case code/100 == 2, code == http.StatusPreconditionFailed, code == http.StatusRequestedRangeNotSatisfiable:
			return resp, nil
		case t.moved != nil && t.moved(resp):
			resp.Body.Close()
			continue
		}
		defer resp.Body.Close()
		return nil, t.refused(resp)
	}
}

func (t *target) send(ctx context.Context, r request) (*http.Response, error) {
	to := *t.url
	if r.query != nil {
		to.RawQuery = strings.ReplaceAll(r.query.Encode(), "+", "%20") // as signatures need it
	}
	var body any
	if r.size > 0 { // each attempt has its own reader: the one before it may still be read, if the server did not wait for its end
		body = retryablehttp.ReaderFunc(func() (io.Reader, error) { return io.NewSectionReader(r.body, 0, r.size), nil })
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, cmp.Or(r.method, http.MethodGet), to.String(), body)
	if err != nil {
		return nil, err
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	req.ContentLength = r.size
	// Otherwise the transport would ask for gzip, and ranges would be parts of the compressed form.
	req.Header.Set("Accept-Encoding", map[bool]string{false: "identity", true: "gzip"}[t.gzip])
	req.Header.Set("User-Agent", "simdb")
	single := &http.Client{Transport: t}
	if t.moved != nil {
		single.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	client := &retryablehttp.Client{
		HTTPClient:   single,
		RetryWaitMin: pause, RetryWaitMax: maxPause, RetryMax: repetitions,
		Backoff: retryablehttp.DefaultBackoff, ErrorHandler: retryablehttp.PassthroughErrorHandler,
		CheckRetry: func(ctx context.Context, resp *http.Response, err error) (bool, error) {
			if lookup, ok := errors.AsType[*net.DNSError](err); ok && lookup.IsNotFound || errors.As(err, new(*credentialsError)) {
				return false, err
			}
			return retryablehttp.DefaultRetryPolicy(ctx, resp, err)
		},
	}
	return client.Do(req)
}

// cause returns an error of the network without the URL, which may have secrets.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// statusError is an answer that refuses a request.
type statusError struct {
	code int
	text string
}

// Error describes the answer.
func (e *statusError) Error() string { return e.text }

// Is reports that the file does not exist, or may not be read.
func (e *statusError) Is(err error) bool {
	missing := e.code == http.StatusNotFound || e.code == http.StatusGone
	return missing && err == fs.ErrNotExist || (e.code == http.StatusForbidden || e.code == http.StatusUnauthorized) && err == fs.ErrPermission
}

// answer is the body of an error of S3, in XML, or in JSON of the Hub (error), of Git LFS (message), or of a
// server of tokens (error, error_description).
type answer struct {
	XMLName xml.Name
	Code    string
	Message string
	Error   any    `xml:"-"`
	Detail  string `xml:"-" json:"error_description"`
}

// said returns what the body of an answer says about an error, after a colon, or "".
func (a *answer) said(body []byte) string {
	if xml.Unmarshal(body, a) == nil && a.XMLName.Local == "Error" && a.Code != "" {
		return fmt.Sprintf(": %s: %s", a.Code, strings.TrimSuffix(a.Message, "."))
	}
	if *a = (answer{}); json.Unmarshal(body, a) != nil {
		return ""
	}
	said, _ := a.Error.(string)
	said = strings.TrimSuffix(strings.TrimSpace(cmp.Or(said, a.Message)+" "+a.Detail), ".")
	return strings.TrimSuffix(": "+said, ": ")
}

// refused describes an answer that refuses a request.
func (t *target) refused(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var a answer
	said := a.said(body)
	e := &statusError{code: resp.StatusCode, text: "the server says " + cmp.Or(strings.TrimSpace(resp.Status), strconv.Itoa(resp.StatusCode)) + said}
	switch {
	case a.Code == "NoSuchBucket":
		e.text = "no such file or directory: there is no such bucket"
	case resp.Header.Get("X-Error-Code") == "RepoNotFound": // of the Hub
		e.text = "no such file or directory: there is no such repository, or the token may not read it"
	case resp.Header.Get("X-Error-Code") == "RevisionNotFound":
		e.text = "no such file or directory: the repository has no such branch or revision"
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusGone:
		e.text = "no such file or directory (" + e.text + ")"
	case resp.StatusCode == http.StatusForbidden, resp.StatusCode == http.StatusUnauthorized:
		e.text += t.hint
	case resp.StatusCode/100 == 3:
		e.text += ", and names no other address that is known"
	}
	return e
}
