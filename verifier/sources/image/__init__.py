"""Images as they lie on disk: what an archive or layout holds, every digest computed again."""
