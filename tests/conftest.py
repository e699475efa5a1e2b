"""What every test stands on: the support modules, a registry, and an installed wheel."""

import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

from support import registry as registries

settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("soak", deadline=None, max_examples=20_000)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="write what the cases print now")


@pytest.fixture(scope="session")
def test_registry(tmp_path_factory: pytest.TempPathFactory) -> registries.Registry:
    """A sound registry with two projects, keys from fixed seeds, signed at a fixed time."""
    return registries.make(tmp_path_factory.mktemp("registry") / "registry")
