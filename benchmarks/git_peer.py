"""Read objects as a program does that believes git: `python git_peer.py REPOSITORY IDS`.

One `git cat-file --batch`, questions from a thread, every content read whole, none hashed.
"""

import subprocess
import sys
from threading import Thread

repository, ids = sys.argv[1:]
git = subprocess.Popen(
    ["git", "--git-dir", repository, "cat-file", "--batch", "--buffer"],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    bufsize=1 << 20,
)
assert git.stdin is not None
assert git.stdout is not None
with open(ids, "rb") as file:  # noqa: PTH123  (pathlib would be most of its start-up)
    questions = file.read()


def ask(questions: bytes) -> None:
    assert git.stdin is not None
    with git.stdin:
        git.stdin.write(questions)


Thread(target=ask, args=(questions,), daemon=True).start()
count = total = 0
while header := git.stdout.readline():
    size = int(header.split()[2])
    total += len(git.stdout.read(size + 1)) - 1
    count += 1
print(count, total)
sys.exit(git.wait() or int(count != questions.count(b"\n")))
