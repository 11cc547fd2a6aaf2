"""Archives: which solutions are kept, and by how much a new one improves on them."""
