"""The entity graph that peers walk over: the same entities and links for all of them."""
