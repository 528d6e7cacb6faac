package imagehash

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"

	"golang.org/x/image/tiff"
)

// Fields of a TIFF file, and values: TIFF 6.0, section 8, and Adobe's Technical Note 2 (JPEG).
const (
	fieldWidth       = 256
	fieldHeight      = 257
	fieldCompression = 259
	fieldPhotometric = 262
	fieldFillOrder   = 266
	fieldOrientation = 274
	fieldSamples     = 277
	fieldPlanes      = 284
	faxGroup3        = 3
	faxGroup4        = 4
	jpegParts        = 7
	blackIsZero      = 1
)

// tiffField returns the first value of a field in the first directory, or 0.
func tiffField(data []byte, field uint16) int { return append(tiffValues(data, field, 1), 0)[0] }

// tiffValues returns at most this many values of a field in the first directory: TIFF 6.0, section
// 2. A directory consists of the number of its entries, and entries of 12 bytes: the field, the type
// of its values (1 and 7 for 8 bits, 3 for 16, 4 for 32), their number, and the values, or where
// they are.
func tiffValues(data []byte, field uint16, most int) (values []int) {
	if len(data) < 8 {
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 'M' {
		order = binary.BigEndian
	}
	from := func(place []byte) []byte { return data[min(int64(order.Uint32(place)), int64(len(data))):] }
	dir := from(data[4:])
	if len(dir) < 2 {
		return nil
	}
	for n, dir := order.Uint16(dir), dir[2:]; n > 0 && len(dir) >= 12; n, dir = n-1, dir[12:] {
		width := map[uint16]int{1: 1, 3: 2, 4: 4, 7: 1}[order.Uint16(dir[2:])]
		if order.Uint16(dir) != field || width == 0 {
			continue
		}
		count, raw := int64(order.Uint32(dir[4:])), dir[8:12]
		if count > int64(4/width) {
			raw = from(raw)
		}
		for ; len(values) < most && count > 0 && len(raw) >= width; count, raw = count-1, raw[width:] {
			v := order.Uint32(append(raw[:width:width], 0, 0, 0))
			if order == binary.BigEndian {
				v >>= 32 - 8*width
			}
			values = append(values, int(min(v, 1<<30)))
		}
		break
	}
	return values
}

func tiffConfig(data []byte) (image.Config, error) {
	switch compression := tiffField(data, fieldCompression); {
	case compression == jpegParts: // they need as much memory as a CMYK file
		return image.Config{Width: tiffField(data, fieldWidth), Height: tiffField(data, fieldHeight), ColorModel: color.CMYKModel}, nil
	case tiffField(data, fieldPlanes) > 1 && tiffField(data, fieldSamples) > 1, tiffField(data, fieldFillOrder) > 1 && compression != faxGroup3 && compression != faxGroup4:
		return image.Config{}, errors.New("tiff: unsupported order of samples or bits") // the decoder would ignore it
	}
	return tiff.DecodeConfig(bytes.NewReader(data))
}

// tiffDecode decodes a TIFF file, also one whose strips or tiles are JPEG files, which the decoder
// of golang.org/x/image does not read. Of such parts, a hostile file gets no more pixels decoded than
// those of the picture or a megapixel, and no more bytes than some times its own.
func tiffDecode(data []byte) (image.Image, error) {
	const rgb, cmyk, mega, times = 2, 5, 1 << 20, 64
	if tiffField(data, fieldCompression) != jpegParts {
		return tiff.Decode(bytes.NewReader(data))
	}
	out := image.NewRGBA(image.Rect(0, 0, tiffField(data, fieldWidth), tiffField(data, fieldHeight)))
	size := out.Rect.Max
	part, places, lengths := image.Pt(size.X, cmp.Or(min(tiffField(data, 278), size.Y), size.Y)), tiffValues(data, 273, mega), tiffValues(data, 279, mega)
	if w := tiffField(data, 322); w > 0 { // tiles, not strips
		part, places, lengths = image.Pt(w, tiffField(data, 323)), tiffValues(data, 324, mega), tiffValues(data, 325, mega)
	}
	head, colours := []byte("\xff\xd8"), tiffField(data, fieldPhotometric)
	if colours == rgb || colours == cmyk {
		head = append(head, "\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"...) // the colours are not transformed
	}
	if tables := tiffValues(data, 347, mega); len(tables) > 4 {
		for _, b := range tables[2 : len(tables)-2] {
			head = append(head, byte(b))
		}
	}
	read, at := 0, image.Point{}
	for i := 0; i < min(len(places), len(lengths)) && at.Y < size.Y; i++ {
		file := append(head[:len(head):len(head)], data[min(places[i]+2, len(data)):min(places[i]+lengths[i], len(data))]...)
		cfg, err := jpeg.DecodeConfig(bytes.NewReader(file))
		if read += len(file); err == nil && (cfg.Width > part.X || cfg.Height > part.Y || read > times*len(data) || int64(part.X)*int64(part.Y) > max(int64(size.X)*int64(size.Y), mega)) {
			err = errors.New("tiff: invalid JPEG strip or tile")
		}
		if err != nil {
			return nil, err
		}
		img, err := jpeg.Decode(bytes.NewReader(file))
		if err != nil {
			return nil, err
		}
		if img, ok := img.(*image.CMYK); ok { // in a JPEG file of its own, values are inverted
			for i := range img.Pix {
				img.Pix[i] = ^img.Pix[i]
			}
		}
		draw.Draw(out, image.Rectangle{at, at.Add(part)}, img, image.Point{}, draw.Src)
		if at.X += part.X; at.X >= size.X {
			at = image.Pt(0, at.Y+part.Y)
		}
	}
	return out, nil
}
