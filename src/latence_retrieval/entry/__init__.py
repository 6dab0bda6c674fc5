"""From a question to the entities that it is about: tiers, what each gave, and the restart vector."""
