"""Compare what `make demo` printed with what README shows, byte for byte."""

import sys
from pathlib import Path


def shown(readme: str) -> str:
    """Return the block of README that follows the words "make demo prints"."""
    _, _, rest = readme.partition("<!-- make demo prints -->\n```console\n")
    block, fence, _ = rest.partition("```\n")
    return block if fence else ""


def main() -> int:
    """Exit 1 and show both if they differ."""
    printed = Path(sys.argv[1]).read_text()
    readme = shown((Path(__file__).parents[1] / "README.md").read_text())
    if printed.strip() == readme.strip() != "":
        print("README shows what the demo prints")
        return 0
    print(f"--- README\n{readme}\n--- demo\n{printed}\nREADME shows something else")
    return 1


if __name__ == "__main__":
    sys.exit(main())
