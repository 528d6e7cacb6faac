package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// content is the decompressed content of a file.
type content struct {
	io.Reader
	s *Stream
}

// Close closes the file.
func (c content) Close() error {
	c.s.Release()
	return c.s.Close()
}

// OpenContent opens a file whose lines are not documents, such as an audit, decompresses and
// decodes it; "-" is standard input.
func OpenContent(ctx context.Context, path string, encoding Encoding) (io.ReadCloser, error) {
	name, src, size, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	s, err := newStream(name, src, size, 0)
	if err == nil {
		err = s.refuse(true)
	}
	if err == nil {
		err = s.Decode(encoding)
	}
	if err == nil && bytes.IndexByte(s.head, 0) >= 0 {
		err = errors.New("it has NUL bytes, so it is not text")
	}
	if err != nil {
		content{s: s}.Close()
		if _, named := errors.AsType[*ReadError](err); !named {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return nil, err
	}
	return content{s.Reader(), s}, nil
}
