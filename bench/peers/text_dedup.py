import os
import subprocess
import sys
import tempfile

import common
import datasets

# Its own command: union-find over the candidates, which are not compared.
with tempfile.TemporaryDirectory() as folder:
    subprocess.run(
        [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", common.source, "--split", "train",
         "--column", "text", "--ngram", str(common.WIDTH), "--min_length", "1", "--threshold", str(common.threshold),
         "--num_perm", "128", "--num_proc", "1", "--cache_dir", os.path.join(folder, "cache"), "--output", os.path.join(folder, "kept")],
        check=True, stdout=subprocess.DEVNULL, env={**os.environ, "HF_HOME": folder, "HF_HUB_OFFLINE": "1"},
    )
    common.write(datasets.load_from_disk(os.path.join(folder, "kept"))["id"])
