set -e
rm -rf with.simdb; ./simdb create with.simdb --ttl 5s -q
./simdb with.simdb 'PUT {"id":"one","text":"a single document"}'
python3 - <<'P'
import random,json
with open('d3.jsonl','w') as f:
    for i in range(20000): f.write(json.dumps({"id":"d%d"%i,"text":" ".join(str(random.randrange(10**6)) for _ in range(30))})+"\n")
P
for i in 1 2 3 4 5 6 7; do ./simdb load with.simdb d3.jsonl -q; sleep 6; done
./simdb with.simdb COUNT; ls -la with.simdb; ./simdb stats with.simdb | head -12
