package base

import (
	"bytes"
	"testing"
)

func TestFingerprintEncoding(t *testing.T) {
	const fp Fingerprint = 0x0123456789abcdef
	b := AppendFingerprint([]byte("x"), fp)
	if want := []byte("x\xef\xcd\xab\x89\x67\x45\x23\x01"); !bytes.Equal(b, want) {
		t.Errorf("encoded as %x, want %x", b, want)
	}
	if len(b) != 1+FingerprintBytes {
		t.Errorf("%d bytes, FingerprintBytes is %d", len(b)-1, FingerprintBytes)
	}
	if got := DecodeFingerprint(b[1:]); got != fp {
		t.Errorf("decoded as %x, want %x", got, fp)
	}
}

func TestDistance(t *testing.T) {
	for bit := range FingerprintBits {
		if d := Distance(5, 5^1<<bit); d != 1 {
			t.Errorf("bit %d: distance %d, want 1", bit, d)
		}
	}
	if d := Distance(0, ^Fingerprint(0)); d != FingerprintBits {
		t.Errorf("distance of all bits: %d, want %d", d, FingerprintBits)
	}
}
