"""The published files: the format of one immutable snapshot, and how it is read and verified."""
