"""Images: their layers, each in one pass, and the root that layers make together."""
