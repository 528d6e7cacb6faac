package imagehash

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io"

	"golang.org/x/image/tiff"
)

// Fields of a TIFF file, and values: TIFF 6.0, section 8.
const (
	fieldWidth       = 256
	fieldHeight      = 257
	fieldCompression = 259
	fieldPhotometric = 262
	fieldOrientation = 274
	faxGroup3        = 3
	faxGroup4        = 4
	blackIsZero      = 1
)

// tiffField returns the first value of a field in the first directory, or 0.
func tiffField(data []byte, field uint16) int {
	if v := tiffValues(data, field); len(v) > 0 {
		return v[0]
	}
	return 0
}

// tiffValues returns the values of a field in the first directory: TIFF 6.0, section 2. A directory
// consists of the number of its entries, and entries of 12 bytes: the field, the type of its values
// (1 and 7 for 8 bits, 3 for 16, 4 for 32), their number, and the values, or where they are.
func tiffValues(data []byte, field uint16) (values []int) {
	if len(data) < 8 {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 'M' {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(data[4:]))
	if at+2 > int64(len(data)) {
		return nil
	}
	for n, dir := order.Uint16(data[at:]), data[at+2:]; n > 0 && len(dir) >= 12; n, dir = n-1, dir[12:] {
		width := map[uint16]int64{1: 1, 3: 2, 4: 4, 7: 1}[order.Uint16(dir[2:])]
		size, raw := int64(order.Uint32(dir[4:]))*width, dir[8:12]
		if order.Uint16(dir) != field || width == 0 {
			continue
		}
		if at := int64(order.Uint32(raw)); size > 4 {
			raw = data[min(at, int64(len(data))):]
		}
		for ; size > 0 && int64(len(raw)) >= width; size, raw = size-width, raw[width:] {
			switch width {
			case 1:
				values = append(values, int(raw[0]))
			case 2:
				values = append(values, int(order.Uint16(raw)))
			default:
				values = append(values, int(order.Uint32(raw)&(1<<31-1)))
			}
		}
		break
	}
	return values
}

// inJPEG is the compression of a TIFF file whose strips or tiles are JPEG files: Adobe's Technical
// Note 2. The decoder of golang.org/x/image does not read it.
const inJPEG = 7

func tiffConfig(r io.Reader) (image.Config, error) {
	const fillOrder, samples, planes, reversed, separate = 266, 277, 284, 2, 2
	data, err := io.ReadAll(r)
	fax := tiffField(data, fieldCompression) == faxGroup3 || tiffField(data, fieldCompression) == faxGroup4
	if tiffField(data, planes) == separate && tiffField(data, samples) > 1 || tiffField(data, fillOrder) == reversed && !fax {
		return image.Config{}, errors.New("tiff: unsupported order of samples or bits") // the decoder would ignore it
	}
	if err != nil || tiffField(data, fieldCompression) != inJPEG {
		return tiff.DecodeConfig(bytes.NewReader(data))
	}
	return image.Config{Width: tiffField(data, fieldWidth), Height: tiffField(data, fieldHeight), ColorModel: color.CMYKModel}, nil
}

// tiffDecode decodes a TIFF file. Of hostile JPEG parts, it decodes no more pixels than the picture
// or a megapixel, and no more bytes than a few times those of the file.
func tiffDecode(r io.Reader) (image.Image, error) {
	const rgb, cmyk, megapixel = 2, 5, 1 << 20
	data, err := io.ReadAll(r)
	if err != nil || tiffField(data, fieldCompression) != inJPEG {
		return tiff.Decode(bytes.NewReader(data))
	}
	out := image.NewRGBA(image.Rect(0, 0, tiffField(data, fieldWidth), tiffField(data, fieldHeight)))
	part, places, sizes := image.Pt(out.Rect.Max.X, tiffField(data, 278)), tiffValues(data, 273), tiffValues(data, 279)
	if w := tiffField(data, 322); w > 0 { // tiles, not strips
		part, places, sizes = image.Pt(w, tiffField(data, 323)), tiffValues(data, 324), tiffValues(data, 325)
	}
	if part.Y <= 0 || part.Y > out.Rect.Max.Y && len(places) == 1 {
		part.Y = out.Rect.Max.Y
	}
	head, colours := []byte("\xff\xd8"), tiffField(data, fieldPhotometric)
	if colours == rgb || colours == cmyk {
		head = append(head, "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"...) // the colours are not transformed
	}
	if tables := tiffValues(data, 347); len(tables) > 4 {
		for _, b := range tables[2 : len(tables)-2] {
			head = append(head, byte(b))
		}
	}
	read, at := 0, image.Point{}
	for i := 0; i < min(len(places), len(sizes)) && at.Y < out.Rect.Max.Y; i++ {
		file := append(head[:len(head):len(head)], data[min(places[i]+2, len(data)):min(places[i]+sizes[i], len(data))]...)
		cfg, err := jpeg.DecodeConfig(bytes.NewReader(file))
		if read += len(file); err == nil && (cfg.Width > part.X || cfg.Height > part.Y || read > 64*len(data) || part.X*part.Y > max(len(out.Pix)/4, megapixel)) {
			err = errors.New("tiff: invalid JPEG strip or tile")
		}
		if err != nil {
			return nil, err
		}
		img, err := jpeg.Decode(bytes.NewReader(file))
		if err != nil {
			return nil, err
		}
		if img, ok := img.(*image.CMYK); ok { // in a JPEG file of its own, values would be inverted
			for i := range img.Pix {
				img.Pix[i] = ^img.Pix[i]
			}
		}
		draw.Draw(out, image.Rectangle{at, at.Add(part)}, img, image.Point{}, draw.Src)
		if at.X += part.X; at.X >= out.Rect.Max.X {
			at = image.Pt(0, at.Y+part.Y)
		}
	}
	return out, nil
}
