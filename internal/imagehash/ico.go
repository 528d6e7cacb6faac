package imagehash

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
)

// icon returns the largest picture of an ICO or CUR file as a PNG or BMP file, and for BMP the mask,
// which has a bit for each transparent pixel. The file has the number of its pictures at byte 4, and
// an entry for each: width and height, where 0 means 256, the bits of a pixel at byte 6, size and
// place. A picture is a PNG file, or a BMP file without its first header, whose height includes the
// mask. The BMP decoder reads alpha only after a longer header.
func icon(data []byte) (file, mask []byte, err error) {
	const header, entry, fileHeader, infoHeader, longHeader = 6, 16, 14, 40, 108
	le, most, content := binary.LittleEndian, 0, []byte(nil)
	for e := data[min(header, len(data)):]; len(e) >= entry && len(data)-len(e) < header+entry*int(le.Uint16(data[4:])); e = e[entry:] {
		pixels := (int(e[0]-1)+1)*(int(e[1]-1)+1)<<16 + int(le.Uint16(e[6:]))
		at, size := int64(le.Uint32(e[12:])), int64(le.Uint32(e[8:]))
		if pixels > most && size >= infoHeader && at+size <= int64(len(data)) {
			most, content = pixels, data[at:at+size]
		}
	}
	if content == nil || bytes.HasPrefix(content, []byte(pngMagic)) {
		return content, nil, nil
	}
	if le.Uint32(content) != infoHeader {
		return nil, nil, errors.New("ico: unsupported BMP header")
	}
	w, h, bits, colours := le.Uint32(content[4:]), le.Uint32(content[8:])/2, le.Uint16(content[14:]), uint32(0)
	if bits <= 8 {
		colours = cmp.Or(min(le.Uint32(content[32:]), 256), 1<<bits)
	}
	file = le.AppendUint32([]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00"), fileHeader+longHeader+4*colours)
	file = append(append(file, content[:infoHeader]...), make([]byte, longHeader-infoHeader)...)
	le.PutUint32(file[fileHeader:], longHeader)
	le.PutUint32(file[fileHeader+8:], h)
	if end := infoHeader + 4*int64(colours) + (int64(w)*int64(bits)+31)/32*4*int64(h); bits < 32 && end < int64(len(content)) {
		mask = content[end:]
	}
	return append(file, content[infoHeader:]...), mask, nil
}

func icoConfig(data []byte) (image.Config, error) {
	file, _, err := icon(data)
	cfg, _, failed := image.DecodeConfig(bytes.NewReader(file))
	return cfg, cmp.Or(err, failed)
}

func icoDecode(data []byte) (image.Image, error) {
	file, mask, err := icon(data)
	img, _, failed := image.Decode(bytes.NewReader(file))
	if err = cmp.Or(err, failed); err != nil || mask == nil {
		return img, err
	}
	out := image.NewNRGBA(img.Bounds())
	draw.Draw(out, out.Rect, img, image.Point{}, draw.Src)
	row := (out.Rect.Dx() + 31) / 32 * 4
	for y, bits := out.Rect.Dy()-1, mask; y >= 0 && len(bits) >= row; y, bits = y-1, bits[row:] { // from the bottom up
		for x := range out.Rect.Dx() {
			if bits[x/8]>>(7-x%8)&1 != 0 {
				out.SetNRGBA(x, y, color.NRGBA{})
			}
		}
	}
	return out, nil
}
