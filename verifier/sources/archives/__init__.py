"""Tar, zip and wheel files as trees, read strictly and never unpacked."""
