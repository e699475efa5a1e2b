"""Compare what `make demo` printed with what README shows, byte for byte."""

import sys
from pathlib import Path


def shown(readme: str) -> str:
    """Return the block of README that follows the words "make demo prints"."""
    _, _, rest = readme.partition("<!-- make demo prints -->\n```console\n")
    block, fence, _ = rest.partition("```\n")
    return block if fence else ""


def main() -> int:
    """Exit 1 and show both if they differ; with --write, put the demo's output into README."""
    printed = Path(sys.argv[-1]).read_text()
    page = Path(__file__).parents[1] / "README.md"
    readme = shown(page.read_text())
    if "--write" in sys.argv:
        page.write_text(page.read_text().replace(readme, f"{printed.strip()}\n"))
        return 0
    if printed.strip() == readme.strip() != "":
        print("README shows what the demo prints")
        return 0
    print(f"--- README\n{readme}\n--- demo\n{printed}\nREADME shows something else")
    return 1


if __name__ == "__main__":
    sys.exit(main())
