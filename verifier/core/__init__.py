"""What every room speaks: digests, findings, coverage, verdicts, strict documents."""
