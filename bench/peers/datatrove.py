import glob
import gzip
import json
import os
import tempfile

import common
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.hashing import HashConfig
from datatrove.utils.text import TextNormConfig

# 9 buckets of 13 hashes, in the four stages that it has; the candidates are not compared.
with tempfile.TemporaryDirectory() as folder:
    norm = TextNormConfig(norm_numbers=False, norm_unicode_diacritics=False)  # texts are compared as they are
    config = MinhashConfig(norm_config=norm, hash_config=HashConfig(precision=64, hash_fc="sha1"), n_grams=common.WIDTH, num_buckets=9, hashes_per_bucket=13)
    at = lambda *names: os.path.join(folder, *names)
    reader = lambda: JsonlReader(os.path.dirname(common.source), glob_pattern=os.path.basename(common.source))
    stages = [
        [reader(), MinhashDedupSignature(output_folder=at("signatures"), config=config)],
        [MinhashDedupBuckets(input_folder=at("signatures"), output_folder=at("buckets"), config=config)],
        [MinhashDedupCluster(input_folder=at("buckets"), output_folder=at("remove"), config=config)],
        [reader(), MinhashDedupFilter(input_folder=at("remove")), JsonlWriter(output_folder=at("kept"))],
    ]
    for i, stage in enumerate(stages):
        tasks = config.num_buckets if i == 1 else 1
        LocalPipelineExecutor(pipeline=stage, tasks=tasks, workers=1, logging_dir=at(f"logs{i}")).run()
    kept = []
    for path in sorted(glob.glob(at("kept", "*"))):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            kept += [int(json.loads(line).get("id", 0)) for line in lines]  # an id of 0 is left out
    common.write(kept)
