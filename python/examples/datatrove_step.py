"""A step for datatrove: drops documents that resemble earlier ones, of any worker and any run.

    LocalPipelineExecutor(pipeline=[JsonlReader("in/"), DropNearDuplicates("seen.simdb", jaccard=0.8), JsonlWriter("out/")])

The documents that stay are stored in a database, which the workers share. A task that runs again keeps what it
has kept before.
"""

from itertools import islice

from datatrove.pipeline.base import PipelineStep

import simdb


class DropNearDuplicates(PipelineStep):
    """Yields the documents that are unlike all documents before them.

    Args:
        path: of the database, which is created if there is none.
        batch: number of documents for one write.
        criterion: of ``Database.put_novel``, such as jaccard=0.8 (the default) or near=3.
    """

    type = "DEDUP"
    name = "simdb"

    def __init__(self, path, batch=1000, **criterion):
        super().__init__()
        self.path, self.batch, self.criterion = path, batch, criterion or {"jaccard": 0.8}

    def run(self, data, rank=0, world_size=1):
        data = iter(data)
        with simdb.open(self.path) as db:
            while batch := list(islice(data, self.batch)):
                rows = [{"id": doc.id, "text": doc.text} for doc in batch]
                for doc, found in zip(batch, db.put_novel(rows, **self.criterion)):
                    if found["stored"] or found["id"] == doc.id:
                        self.update_doc_stats(doc)
                        yield doc
                    else:
                        self.stat_update("dropped")
