"""A composition: stages on a base, proved from the bytes that they start from."""
