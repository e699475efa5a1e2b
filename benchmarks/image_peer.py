"""The least that anybody can do with gzip layers: decompress each with isal and make one hash."""

import hashlib
import os
import sys

from isal import igzip_lib


def main(path: str) -> None:
    running = hashlib.sha256()
    member = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
    descriptor = os.open(path, os.O_RDONLY)
    while not member.eof:
        data = os.read(descriptor, 128 * 1024) if member.needs_input else b""
        running.update(member.decompress(data, 1 << 20))
    print(running.hexdigest())


if __name__ == "__main__":
    for each in sys.argv[1:]:
        main(each)
