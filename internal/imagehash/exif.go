package imagehash

import (
	"bytes"
	"encoding/binary"
)

// orientation returns the turn that metadata in the form of a TIFF file say, upright if they say
// none.
func orientation(metadata []byte) turn {
	if v := tiffField(metadata, fieldOrientation); 1 <= v && v <= 8 {
		return turn(v)
	}
	return upright
}

// jpegExif returns the metadata of the segment APP1: CIPA DC-008 (Exif), 4.7.2. A segment has a
// byte 0xff, its kind, and its length with the two bytes of that.
func jpegExif(data []byte) []byte {
	const app1, startOfScan = 0xe1, 0xda
	for at := 2; at+10 <= len(data) && data[at] == 0xff && data[at+1] != startOfScan; {
		end := at + 2 + int(binary.BigEndian.Uint16(data[at+2:]))
		switch content, ok := bytes.CutPrefix(data[at+4:], []byte("Exif\x00\x00")); {
		case data[at+1] == 0xff: // a byte to fill up
			at++
		case data[at+1] == app1 && ok:
			return content[:max(min(len(content), end-at-10), 0)]
		default:
			at = end
		}
	}
	return nil
}

// pngExif returns the metadata of the chunk eXIf: https://www.w3.org/TR/png-3/#eXIf.
func pngExif(data []byte) []byte { return chunk(data[8:], "eXIf", binary.BigEndian) }

// webpExif returns the metadata of the chunk EXIF: https://www.rfc-editor.org/rfc/rfc9649, 2.7.1.5.
// Some programs write what JPEG has before them.
func webpExif(data []byte) []byte {
	return bytes.TrimPrefix(chunk(data[12:], "EXIF", binary.LittleEndian), []byte("Exif\x00\x00"))
}

// chunk returns the content of the first chunk of a kind. A chunk has, in PNG and with the high
// byte first, the length of its content, a kind, and after the content a checksum; in WebP a kind,
// the length, and content that is filled up to an even length.
func chunk(data []byte, kind string, order binary.ByteOrder) []byte {
	for len(data) >= 8 {
		found, length, content := data[4:8], data[:4], data[8:]
		if order == binary.LittleEndian {
			found, length = length, found
		}
		size := int64(order.Uint32(length))
		if string(found) == kind {
			return content[:min(size, int64(len(content)))]
		}
		if size += 4; order == binary.LittleEndian {
			size += size&1 - 4
		}
		data = content[min(size, int64(len(content))):]
	}
	return nil
}

// Fields of a TIFF file, and values: TIFF 6.0, section 8.
const (
	fieldCompression = 259
	fieldPhotometric = 262
	fieldOrientation = 274
	faxGroup3        = 3
	faxGroup4        = 4
	blackIsZero      = 1
)

// tiffField returns the value of a field of 16 bits in the first directory, or 0: TIFF 6.0, section
// 2. A directory has the number of its entries, and entries of 12 bytes: the field, the type of its
// values (3 for 16 bits), their number, and the value.
func tiffField(data []byte, field uint16) uint16 {
	if len(data) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(data[4:]))
	if at+2 > int64(len(data)) {
		return 0
	}
	const short = 3
	entries, data := order.Uint16(data[at:]), data[at+2:]
	for ; entries > 0 && len(data) >= 12; entries, data = entries-1, data[12:] {
		if order.Uint16(data) == field && order.Uint16(data[2:]) == short {
			return order.Uint16(data[8:])
		}
	}
	return 0
}
