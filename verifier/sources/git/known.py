"""What was read of one repository, so that commits which share it are read once."""

from verifier.sources.git.reader import Got
from verifier.sources.git.trees import Trees


class Known:
    """Blobs by id as they were read (`blobs.read_blobs`), and tree objects."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.blobs: dict[str, Got] = {}
        self.trees = Trees()
