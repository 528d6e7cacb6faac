"""Functions for Hugging Face datasets.

    dataset = deduplicated(load_dataset("json", data_files="in.jsonl", split="train"))

    stream = load_dataset("json", data_files="in.jsonl", split="train", streaming=True)
    stream = stream.map(DropNearDuplicates("seen.simdb", id="url"), batched=True)
"""

import simdb


def deduplicated(dataset, text="text", **options):
    """Returns a Dataset without near-duplicates. The options are those of ``simdb.dedup``."""
    return dataset.select(simdb.dedup(dataset, text=text, **options).kept)


class DropNearDuplicates:
    """A function for ``map(batched=True)`` that drops rows which resemble earlier ones, also of other batches.

    Args:
        path: of the database with the texts that stay, which is created if there is none.
        text, id: the columns with the text and a unique id.
        criterion: of ``Database.put_novel``, such as jaccard=0.8 (the default) or near=3.
    """

    def __init__(self, path, text="text", id="id", **criterion):
        self.path, self.text, self.id, self.criterion = path, text, id, criterion or {"jaccard": 0.8}
        self.db = None

    def __getstate__(self):  # each process opens the database itself
        return {**self.__dict__, "db": None}

    def __call__(self, batch):
        self.db = self.db or simdb.open(self.path)
        ids = [str(id) for id in batch[self.id]]
        found = self.db.put_novel({"id": ids, "text": batch[self.text]}, **self.criterion)
        keep = [row["stored"] or row["id"] == id for row, id in zip(found, ids)]
        return {name: [v for v, stays in zip(values, keep) if stays] for name, values in batch.items()}
