"""The pass over layers by itself: every digest and every file, without registry and report."""

import gc
import sys
from pathlib import Path

from verifier.sources.image.layer import Blob, read_layers


def main(paths: list[str]) -> None:
    gc.disable()
    for layer in read_layers([Blob(path=Path(path), name=path) for path in paths]):
        assert layer.complete, layer.findings
        assert layer.content is not None
        print(layer.blob.sha256, layer.content.sha256, len(layer.members))


if __name__ == "__main__":
    main(sys.argv[1:])
