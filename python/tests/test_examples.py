"""Tests of the examples, each against its package, and skipped without it."""

import os
import pickle
import sys

import pytest

import simdb  # noqa: F401

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "examples")
TEXTS = [
    "the quick brown fox jumps over the lazy dog near the river bank today",
    "an entirely different sentence about the price of wheat in northern towns",
    "the quick brown fox jumps over the lazy dog near the river bank tonight",
    "a third text that has nothing in common with any of the other ones here",
]
KEPT = [0, 1, 3]


@pytest.fixture(autouse=True)
def examples(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def test_sizes():
    for name in os.listdir(EXAMPLES):
        with open(os.path.join(EXAMPLES, name), encoding="utf-8") as f:
            assert len(f.readlines()) <= 60, name


def test_datatrove(tmp_path):
    pytest.importorskip("datatrove")
    from datatrove.data import Document
    from datatrove_step import DropNearDuplicates

    for path, more in (("a", {}), ("b", {"jaccard": 0.7}), ("b", {"jaccard": 0.7}), ("c", {"jaccard": 1})):
        step = DropNearDuplicates(str(tmp_path / path), batch=2, **more)
        out = step.run(Document(text=text, id=str(n)) for n, text in enumerate(TEXTS))
        assert [int(doc.id) for doc in out] == ([0, 1, 2, 3] if path == "c" else KEPT)


def check_map(DropNearDuplicates, path):
    step = DropNearDuplicates(path, text="body", id="n")
    assert step({"n": [0, 1], "body": TEXTS[:2]}) == {"n": [0, 1], "body": TEXTS[:2]}
    assert step({"n": [2, 3], "body": TEXTS[2:]}) == {"n": [3], "body": TEXTS[3:]}
    again = pickle.loads(pickle.dumps(step))
    assert again({"n": [0, 2], "body": [TEXTS[0], TEXTS[2]]}) == {"n": [0], "body": TEXTS[:1]}


def test_datasets_protocol(tmp_path):
    from datasets_map import DropNearDuplicates

    check_map(DropNearDuplicates, str(tmp_path / "db"))


def test_datasets(tmp_path):
    datasets = pytest.importorskip("datasets")
    from datasets_map import DropNearDuplicates, deduplicated

    table = datasets.table.InMemoryTable.from_pydict({"n": list(range(4)), "body": TEXTS})
    whole = datasets.Dataset(table, fingerprint="0")  # which need not be computed
    assert deduplicated(whole, text="body")["n"] == KEPT
    assert deduplicated(whole.select([3, 2, 1, 0]), text="body")["n"] == [3, 2, 1]
    assert simdb.dedup(whole.to_iterable_dataset(), text="body").kept == KEPT
    with pytest.raises(TypeError, match="splits train, test"):
        simdb.dedup(datasets.DatasetDict({"train": whole, "test": whole}))
    stream = whole.to_iterable_dataset().map(DropNearDuplicates(str(tmp_path / "db"), text="body", id="n"), batched=True, batch_size=2)
    assert [row["n"] for row in stream] == KEPT


def test_langchain(tmp_path):
    pytest.importorskip("langchain_core")
    from langchain_core.documents import Document
    from langchain_transformer import DropNearDuplicates

    documents = [Document(page_content=text, metadata={"n": n}) for n, text in enumerate(TEXTS)]
    assert [d.metadata["n"] for d in DropNearDuplicates().transform_documents(documents)] == KEPT
    assert [d.metadata["n"] for d in DropNearDuplicates(keep="last").transform_documents(documents)] == [1, 2, 3]
    assert [d.metadata["n"] for d in DropNearDuplicates(against=documents[1:2]).transform_documents(documents)] == [0, 3]
    with simdb.open(tmp_path / "db") as db:
        db.add([{"id": "x", "text": TEXTS[3]}])
    assert [d.metadata["n"] for d in DropNearDuplicates(against=str(tmp_path / "db")).transform_documents(documents)] == [0, 1]


def test_llama_index(tmp_path):
    pytest.importorskip("llama_index.core")
    from llama_index.core.schema import TextNode
    from llama_index_transform import DropNearDuplicates

    nodes = [TextNode(text=text, id_=str(n), metadata={"page": n}) for n, text in enumerate(TEXTS)]
    assert [node.node_id for node in DropNearDuplicates()(nodes)] == ["0", "1", "3"]
    assert [node.node_id for node in DropNearDuplicates(jaccard=1)(nodes)] == ["0", "1", "2", "3"]
    step = DropNearDuplicates(path=str(tmp_path / "db"))
    assert [[node.node_id for node in step(part)] for part in (nodes[:2], nodes[2:])] == [["0", "1"], ["3"]]
