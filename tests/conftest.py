"""What every test stands on: the support modules, a registry, and an installed wheel."""

import gc
import itertools
import re
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

from support import registry as registries

settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("soak", deadline=None, max_examples=20_000)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write what the cases print now")


def pytest_collection_finish() -> None:
    """Let the collector of garbage leave alone what lives to the end: 11,000 tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


_NUMBERS: Final = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder for one test, below one for its module.

    pytest's own fixture looks through all that were made before for a name that is free.
    """
    module = request.path.stem
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / module / f"{name}{next(_NUMBERS)}"
    folder.mkdir(0o700, parents=True)
    return folder


@pytest.fixture(scope="session")
def test_registry(tmp_path_factory: pytest.TempPathFactory) -> registries.Registry:
    """A sound registry with two projects, keys from fixed seeds, signed at a fixed time."""
    return registries.make(tmp_path_factory.mktemp("registry") / "registry")
