"""`python -m latence_retrieval.cli`, where the script is not on the path."""

from __future__ import annotations

import sys

from latence_retrieval.cli.program import main

sys.exit(main())
