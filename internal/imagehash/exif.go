package imagehash

import (
	"bytes"
	"encoding/binary"
)

// orientation returns the turn in the Exif metadata, or upright if they have none.
func orientation(metadata []byte) turn {
	if v := tiffField(metadata, fieldOrientation); 1 <= v && v <= 8 {
		return turn(v)
	}
	return upright
}

// jpegExif returns the metadata of the segment APP1: CIPA DC-008 (Exif), 4.7.2. A segment consists
// of a byte 0xff, its kind, and its length, which includes the two bytes of the length.
func jpegExif(data []byte) []byte {
	const app1, startOfScan = 0xe1, 0xda
	for at := 2; at+10 <= len(data) && data[at] == 0xff && data[at+1] != startOfScan; {
		end := at + 2 + int(binary.BigEndian.Uint16(data[at+2:]))
		switch content, ok := bytes.CutPrefix(data[at+4:], []byte("Exif\x00\x00")); {
		case data[at+1] == 0xff: // a fill byte
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
// Some programs write the prefix of JPEG before the metadata.
func webpExif(data []byte) []byte {
	return bytes.TrimPrefix(chunk(data[12:], "EXIF", binary.LittleEndian), []byte("Exif\x00\x00"))
}

// chunk returns the content of the first chunk of a kind. In PNG a chunk consists of the length of
// its content (big-endian), its kind, the content, and a checksum. In WebP it consists of its kind,
// the length (little-endian), and the content padded to an even length.
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
