package imagehash

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
)

// An icon is the largest picture of an ICO or CUR file, a PNG or BMP file. In a BMP file, height is
// that of the picture, followed by that of a mask, which has a bit for each transparent pixel.
type icon struct {
	data   []byte // the file; a BMP file has its header here, but not in an ICO file
	png    bool
	pixels int // in data: where the rows of a BMP file begin, each padded to four bytes
	bits   int // of a pixel
}

var errIcon = errors.New("ico: invalid format")

// readIcon reads a file. It consists of the number of its pictures at byte 4, and entries of 16
// bytes: width and height, where 0 means 256, bits of a pixel at byte 6, size and place at byte 8.
func readIcon(r io.Reader) (ic icon, err error) {
	const header, entry, fileHeader, infoHeader = 6, 16, 14, 40
	all, err := io.ReadAll(r)
	if err != nil || len(all) < header {
		return ic, cmp.Or(err, errIcon)
	}
	le, most := binary.LittleEndian, 0
	var best []byte
	for n, e := int(le.Uint16(all[4:])), all[header:]; n > 0 && len(e) >= entry; n, e = n-1, e[entry:] {
		if size := ((int(e[0])+255)%256+1)*((int(e[1])+255)%256+1)<<16 + int(le.Uint16(e[6:])); size > most {
			most, best = size, e[:entry]
		}
	}
	if best == nil {
		return ic, errIcon
	}
	size, at := int64(le.Uint32(best[8:])), int64(le.Uint32(best[12:]))
	if at+size > int64(len(all)) || size < infoHeader {
		return ic, errIcon
	}
	content := all[at : at+size]
	if bytes.HasPrefix(content, []byte(pngMagic)) {
		return icon{data: content, png: true}, nil
	}
	ic = icon{bits: int(le.Uint16(content[14:])), pixels: fileHeader + int(le.Uint32(content))}
	if le.Uint32(content) != infoHeader || int32(le.Uint32(content[8:])) < 0 {
		return ic, errIcon
	}
	if colours := le.Uint32(content[32:]); ic.bits <= 8 {
		ic.pixels += 4 * int(cmp.Or(min(colours, 256), 1<<ic.bits))
	}
	ic.data = le.AppendUint32([]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00"), uint32(ic.pixels))
	ic.data = append(ic.data, content...)
	le.PutUint32(ic.data[fileHeader+8:], le.Uint32(content[8:])/2)
	return ic, nil
}

func icoConfig(r io.Reader) (image.Config, error) {
	ic, err := readIcon(r)
	if err != nil {
		return image.Config{}, err
	}
	if ic.png {
		return png.DecodeConfig(bytes.NewReader(ic.data))
	}
	return bmp.DecodeConfig(bytes.NewReader(ic.data))
}

func icoDecode(r io.Reader) (image.Image, error) {
	ic, err := readIcon(r)
	if err != nil {
		return nil, err
	}
	if ic.png {
		return png.Decode(bytes.NewReader(ic.data))
	}
	img, err := bmp.Decode(bytes.NewReader(ic.data))
	if err != nil {
		return nil, err
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	out, rows := image.NewNRGBA(img.Bounds()), ic.data[ic.pixels:]
	padded := func(bits int) int { return (w*bits + 31) / 32 * 4 }
	clear, mask := true, rows[min(len(rows), padded(ic.bits)*h):]
	for y := range h {
		for x := range w {
			up, c := h-1-y, color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			if at := up*padded(1) + x/8; ic.bits == 32 {
				c.A = rows[up*4*w+4*x+3]
			} else if at < len(mask) && mask[at]>>(7-x%8)&1 != 0 {
				c.A = 0
			}
			clear = clear && c.A == 0
			out.SetNRGBA(x, y, c)
		}
	}
	if clear && ic.bits == 32 { // the program that wrote it did not use alpha
		return img, nil
	}
	return out, nil
}
