"""A transformation for LlamaIndex: drops nodes that are nearly equal to others, before they are embedded.

    IngestionPipeline(transformations=[SentenceSplitter(), DropNearDuplicates(jaccard=0.7), embedding])

With a database it also drops what resembles nodes of earlier runs.
"""

from typing import Any, List, Optional, Sequence

from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent

import simdb


class DropNearDuplicates(TransformComponent):
    """Keeps one of each group of near-duplicates."""

    jaccard: float = 0.8
    path: Optional[str] = None  # of a database with the nodes that stayed in earlier runs, which is created if there is none

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> List[BaseNode]:
        texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        if self.path is None:
            return [nodes[n] for n in simdb.dedup(texts, jaccard=self.jaccard).kept]
        rows = {"id": [node.node_id for node in nodes], "text": texts}
        with simdb.open(self.path) as db:
            stored = db.put_novel(rows, jaccard=self.jaccard)["stored"]
        return [node for node, new in zip(nodes, stored) if new]
