"""Prints the hashes of pictures as the references compute them.

reference.py hash FILES    a line for each file: its name, the quality of PDQ, dhash, phash, dhash256,
                           and PDQ of the eight orientations
reference.py make FOLDER   makes pictures in formats that Go cannot write
"""
import os
import struct
import sys
import warnings

import imagehash
import numpy
import pdqhash
from PIL import Image, ImageDraw, ImageOps


def hexadecimal(bits):
    return "%064x" % int("".join(str(b) for b in bits), 2)


def hashes(path):
    image = ImageOps.exif_transpose(Image.open(path))
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    rgb = numpy.array(image.convert("RGB"))
    pdq, quality = pdqhash.compute(rgb)
    turned, _ = pdqhash.compute_dihedral(rgb)
    return [quality, imagehash.dhash(image), imagehash.phash(image), imagehash.dhash(image, hash_size=16), hexadecimal(pdq)] + [
        hexadecimal(v) for v in turned[1:]
    ]


def drawing(width, height):
    """A picture with colours, edges and noise."""
    random = numpy.random.RandomState(width * height)
    small = Image.fromarray(random.randint(0, 256, (height // 24, width // 24, 3), dtype=numpy.uint8))
    image = small.resize((width, height), Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(image)
    for _ in range(12):
        x, y = random.randint(width), random.randint(height)
        w, h = random.randint(10, width // 2), random.randint(10, height // 2)
        colour = tuple(int(v) for v in random.randint(0, 256, 3))
        random.choice([draw.rectangle, draw.ellipse])([x, y, x + w, y + h], fill=colour)
    return image


def make(folder):
    a, b = drawing(150, 110), drawing(96, 140)

    def save(image, name, **options):
        image.save(os.path.join(folder, name), **options)

    save(a, "420.jpg", quality=85)
    save(a, "444-progressive.jpg", quality=90, subsampling=0, progressive=True)
    save(a.convert("L"), "grey.jpg", quality=85)
    save(a.convert("CMYK"), "cmyk.jpg", quality=90)
    for turn in range(2, 9):
        exif = Image.Exif()
        exif[0x0112] = turn
        save(b, "turn%d.jpg" % turn, quality=85, exif=exif)
    exif[0x0112] = 6
    save(b, "turn6.png", exif=exif)
    save(b, "turn6.webp", lossless=True, exif=exif)
    save(b, "turn6.tiff", compression="tiff_lzw", tiffinfo={0x0112: 6})
    big = Image.Exif()
    big.endian = ">"
    big[0x0112] = 8
    save(b, "turn8.png", exif=big)
    save(a, "lossy.webp", quality=80)
    save(a, "lossless.webp", lossless=True)
    transparent = a.convert("RGBA")
    transparent.putalpha(b.convert("L").resize(a.size))
    save(transparent, "alpha.webp", quality=80)
    save(transparent, "alpha.png")
    save(a, "rgb.bmp")
    save(a.quantize(200), "palette.bmp")
    save(a, "deflate.tiff", compression="tiff_adobe_deflate")
    save(a.convert("L"), "packbits.tiff", compression="packbits")
    save(a.convert("1"), "fax.tiff", compression="group4")
    save(a.quantize(64), "palette.gif")
    save(a.quantize(64), "transparent.gif", transparency=7)
    save(a.quantize(64), "animated.gif", save_all=True, append_images=[b.resize(a.size).quantize(64)])
    save(a, "animated.webp", save_all=True, append_images=[b.resize(a.size)], lossless=True)
    save(transparent, "animated-alpha.webp", save_all=True, append_images=[b.resize(a.size).convert("RGBA")], lossless=True, exact=True)
    save(a.quantize(9), "palette.png", transparency=3)
    save(a.convert("1"), "bit.png")
    save(a.convert("LA"), "grey-alpha.png")
    save(transparent.convert("LA"), "grey-mask.png")
    save(transparent, "alpha.tiff", compression="tiff_lzw")
    save(transparent, "lossless-alpha.webp", lossless=True, exif=exif)
    save(transparent, "animated-lossy-alpha.webp", save_all=True, append_images=[b.resize(a.size).convert("RGBA")], quality=80)
    save(a.quantize(4).convert("RGB"), "colour-key.png", transparency=a.quantize(4).convert("RGB").getpixel((60, 50)))
    save(a.convert("L").quantize(8).convert("L"), "grey-key.png", transparency=a.convert("L").quantize(8).convert("L").getpixel((60, 50)))
    save(a, "jpeg-strips.tiff", compression="jpeg", tiffinfo={278: 48})
    save(a.convert("CMYK"), "jpeg-cmyk.tiff", compression="jpeg")
    save(a.convert("L"), "jpeg-grey.tiff", compression="jpeg")
    save(a.resize((75, 55)), "small.mpo", save_all=True, append_images=[b])
    save(transparent.resize((64, 64)), "png.ico", sizes=[(16, 16), (64, 64)])
    save(transparent.resize((64, 64)), "bmp.ico", sizes=[(48, 48), (16, 16)], bitmap_format="bmp")
    palette_icon(a.resize((40, 24)).quantize(16), os.path.join(folder, "palette.ico"))
    save(a.crop((1, 1, 150, 110)), "odd.webp", quality=60)


def palette_icon(image, path):
    """Writes an icon with 8 bits for each pixel. Its mask, a bit for each pixel, is a triangle."""
    width, height = image.size
    rows = [image.crop((0, y, width, y + 1)).tobytes() for y in reversed(range(height))]
    mask = [((1 << 64) - (1 << 64 - min(y, width))).to_bytes(8, "big") for y in reversed(range(height))]
    colours = image.getpalette()[: 3 * 16]
    palette = b"".join(bytes([*reversed(colours[i : i + 3]), 0]) for i in range(0, len(colours), 3))
    content = struct.pack("<IiiHHIIiiII", 40, width, 2 * height, 1, 8, 0, 0, 0, 0, 16, 0) + palette + b"".join(rows + mask)
    with open(path, "wb") as f:
        f.write(struct.pack("<HHH", 0, 1, 1) + struct.pack("<BBBBHHII", width, height, 0, 0, 1, 8, len(content), 22) + content)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        for path in sys.argv[2:]:
            print(os.path.basename(path), *hashes(path))
