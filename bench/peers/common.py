"""What the scripts of peers share: usage SCRIPT IN.jsonl KEPT.txt THRESHOLD."""
import json
import resource
import sys

source, kept_path, threshold = sys.argv[1], sys.argv[2], float(sys.argv[3])
WIDTH = 3  # words of a shingle


def documents():
    """Yields the number and the text of each document."""
    with open(source, encoding="utf-8") as lines:
        for line in lines:
            doc = json.loads(line)
            yield doc["id"], doc["text"]


def shingles(text):
    """Returns the runs of WIDTH words of a text; all of it if it has fewer."""
    words = text.split(" ")
    return {" ".join(words[i : i + WIDTH]) for i in range(max(1, len(words) - WIDTH + 1))}


def write(kept):
    """Writes the numbers of the documents that are kept, and how much memory that took."""
    with open(kept_path, "w") as out:
        out.writelines(f"{n}\n" for n in kept)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with open("/proc/self/status") as status:
        most = max([most] + [int(line.split()[1]) for line in status if line.startswith("VmHWM:")])
    with open(kept_path + ".memory", "w") as out:
        out.write(f"{most << 10}\n")
