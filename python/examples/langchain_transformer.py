"""A transformer for LangChain: drops chunks that are nearly equal to others, before they are embedded.

    chunks = DropNearDuplicates(jaccard=0.7).transform_documents(splitter.split_documents(pages))
"""

from typing import Any, Optional, Sequence

from langchain_core.documents import BaseDocumentTransformer, Document

import simdb


class DropNearDuplicates(BaseDocumentTransformer):
    """Keeps one of each group of near-duplicates.

    Args:
        against: the path of a database, or documents that are embedded already: what resembles these goes, too.
        options: of ``simdb.dedup``, such as jaccard=0.7 or keep="longest".
    """

    def __init__(self, against: Optional[Any] = None, **options: Any) -> None:
        self.against, self.options = against, options

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> Sequence[Document]:
        against = self.against
        if against is not None and not isinstance(against, str):
            against = {"text": [d.page_content for d in against]}
        texts = [d.page_content for d in documents]
        return [documents[n] for n in simdb.dedup(texts, against=against, **self.options, **kwargs).kept]
