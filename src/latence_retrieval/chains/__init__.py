"""Chains of evidence: which way the walk came, told hop by hop with its witnesses."""
