"""The verbs, one module each; the group imports the one that is named."""
