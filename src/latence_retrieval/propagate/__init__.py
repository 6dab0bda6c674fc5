"""The walk: from anchors, over hyperedges, to chunks and further entities."""
