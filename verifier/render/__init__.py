"""One report, several renderings; each returns bytes."""
