package features

import "strings"

// foldings lists letters of the Latin blocks without a canonical decomposition. Each line begins
// with the ASCII letters that replace the other letters of the line. It is part of the format of
// stored fingerprints: docs/format/fingerprints.md.
const foldings = `
a ƏȺəɐɑⱥⱭⱯẚᶏᶕ
aa Ꜳꜳ
ae Ææ
ao Ꜵꜵ
au Ꜷꜷ
av ꜸꜹꜺꜻ
ay Ꜽꜽ
b ƀƁƂƃɃɓʙꞖꞗᵬᶀ
c ƇƈȻȼɕʗꜾꜿꞒꞓꞔꟄ
d ÐðĐđƉƊƋƌȡɖɗꝹꝺꟇꟈᵭᶁᶑ
db ȸ
dz ǄǅǆǱǲǳʣʥ
e ƎƐǝɆɇɘɛɜɝɞʚⱸⱻꞫᶒᶓᶔ
et Ꝫꝫ
f ƑƒꜰꝻꝼꞘꞙᵮᶂ
ff ﬀ
ffi ﬃ
ffl ﬄ
fi ﬁ
fl ﬂ
g ƓǤǥɠɡɢʛᵹꝽꝾꝿꞠꞡꞬᶃ
h ĦħɥɦʜʮʯⱧⱨⱵⱶꞍꞪ
hv ƕǶ
i ıƖƗɨɩɪꞮᵻᶖ
ij Ĳĳ
is Ꝭꝭ
j ȷɈɉɟʄʝⱼꞲ
k ƘƙʞⱩⱪꝀꝁꝂꝃꝄꝅꞢꞣꞰᶄ
l ĿŀŁłƚȴȽɫɬɭʟⱠⱡⱢꝆꝇꝈꝉꞀꞁꞭᶅ
lj Ǉǈǉ
ll Ỻỻ
ls ʪ
lz ʫ
m ƜɯɰɱⱮᵯᶆ
n ŉŊŋƝƞȠȵɲɳɴꞐꞑꞤꞥᵰᶇ
nj Ǌǋǌ
o ØøƆƟɔɵⱺꝊꝋꝌꝍ
oe Œœɶ
oi Ƣƣ
oo Ꝏꝏ
ou Ȣȣ
p ƤƥⱣꝐꝑꝒꝓꝔꝕᵱᵽᶈ
q ĸɊɋʠꝖꝗꝘꝙ
qp ȹ
r ƦɌɍɹɺɻɼɽɾɿʀʁⱤⱹꝚꝛꞂꞃꞦꞧᵲᵳᶉ
s ſȿʂẜẝⱾꜱꞄꞅꞨꞩꟅꟉꟊᵴᶊ
ss ßẞ
st ﬅﬆ
t ŦŧƫƬƭƮȶȾʇʈⱦꞆꞇꞱᵵ
tc ʨ
th ÞþꝤꝥꝦꝧ
ts ʦ
tz Ꜩꜩ
u ɄʉꞸꞹᵾᶙ
um ꝸ
v ƲɅʋʌⱱⱴⱽꝞꝟỼỽᶌ
vy Ꝡꝡ
w ƿǷʍⱲⱳ
x ᶍ
y ƳƴɎɏʎʏỾỿ
z ƵƶȜȝȤȥɀʐʑⱫⱬⱿꝢꝣꟆᵶᶎ
`

// foldTable maps each letter in foldings to its replacement.
var foldTable = func() map[rune]string {
	table := map[rune]string{}
	for line := range strings.Lines(strings.TrimSpace(foldings)) {
		ascii, letters, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, r := range letters {
			table[r] = ascii
		}
	}
	return table
}()

// folded returns the ASCII letters that replace a Latin letter without a decomposition, or "" for
// any other rune.
func folded(r rune) string {
	if r < 0x2b0 || r>>8 == 0x1d || r>>8 == 0x1e || r>>8 == 0x2c || r>>8 == 0xa7 || r>>8 == 0xfb {
		return foldTable[r]
	}
	return ""
}
