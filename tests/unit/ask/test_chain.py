import json
from pathlib import Path

from support import chains, runs
from support import registry as registries


def test_it(tmp_path: Path, test_registry):
    for form in ("traditional", "dsse"):
        for maker in ("ours", "in-toto"):
            chains.make(tmp_path / f"{form}{maker}", {"form": form, "maker": maker})
            ran = runs.run(
                [
                    "verify",
                    "chain",
                    "--layout",
                    "layout.json",
                    "--links",
                    "links",
                    "--key",
                    "owner-1.pem",
                    "--key",
                    "owner-2.pem",
                    "--product",
                    "release/image.tar",
                    *runs.trusting(test_registry),
                ],
                cwd=tmp_path / f"{form}{maker}",
                clock=registries.NOW,
            )
            print(ran.stdout.decode(), ran.stderr.decode())
    for lie in chains.LIES:
        chains.make(tmp_path / lie.replace("/", "_"), {"lies": [lie]})
        ran = runs.run(
            [
                "verify",
                "chain",
                "--layout",
                "layout.json",
                "--links",
                "links",
                "--key",
                "owner-1.pem",
                "--key",
                "owner-2.pem",
                "--product",
                "release/image.tar",
                *runs.trusting(test_registry),
                "--format",
                "json",
            ],
            cwd=tmp_path / lie,
            clock=registries.NOW,
        )
        try:
            d = json.loads(ran.stdout)
            print(lie, ran.exit, [f["code"] for f in d["results"][0]["findings"]])
        except Exception:
            print(lie, ran)
