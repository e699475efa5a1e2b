"""The only rooms that change anything outside a scratch folder."""
