"""The neighbourhood of a node, as a picture of boxes."""
