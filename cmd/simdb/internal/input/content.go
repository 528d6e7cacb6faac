package input

import "io"

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

// OpenContent opens a file whose lines are not documents, such as an audit, and decompresses it;
// "-" is standard input.
func OpenContent(path string) (io.ReadCloser, error) {
	name, src, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	s, err := newStream(name, src, size, UTF8)
	if err != nil {
		content{s: s}.Close()
		return nil, err
	}
	return content{s.Reader(), s}, nil
}
