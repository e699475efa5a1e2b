"""Samples seen once, and figures computed again, exactly."""
