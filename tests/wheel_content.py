"""List a wheel and compare it with what may be in it: our package, its data, nothing else."""

import sys
import zipfile
from pathlib import Path

PROJECT = Path(__file__).parents[1]
FROM = {
    "verifier/_shipped/registry/": "registry",
    "verifier/_shipped/policies/": "policies",
    "verifier/_shipped/schemas/": "schemas",
    "verifier/_shipped/codes/": "docs/codes",
    "verifier/_shipped/example/": "examples/fair_queue",
    "verifier/_shipped/trust/": "trust",
}
#: About this repository alone.
OWN = PROJECT / "policies" / "own.toml"


def expected() -> set[str]:
    """Derive the list from the checkout."""
    files = {str(p.relative_to(PROJECT)) for p in (PROJECT / "verifier").rglob("*.py")}
    files.add("verifier/py.typed")
    for shipped, folder in FROM.items():
        base = PROJECT / folder
        found = [p for p in base.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
        found = [p for p in found if p != OWN]
        files |= {shipped + str(p.relative_to(base)) for p in found}
    return files


def main() -> int:
    """Print every difference; exit 1 if there is one."""
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        metadata = {Path(n).name for n in wheel.namelist() if ".dist-info/" in n}
    wanted = expected()
    problems = [f"missing: {name}" for name in sorted(wanted - names)]
    problems += [f"unexpected: {name}" for name in sorted(names - wanted)]
    problems += [f"missing: {n}" for n in ("METADATA", "RECORD", "LICENSE") if n not in metadata]
    for problem in problems:
        print(problem)
    print(f"{len(names)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
