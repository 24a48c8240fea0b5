"""Saying that the first run compiles, and only the first."""

import sys


def announce() -> None:
    """Say on stderr that kernels will be compiled, if no compiled ones are kept from an earlier run."""
    from pathlib import Path

    from staffing.models import _kernels

    kept = Path(_kernels.closure_rows.stats.cache_path or ".")
    if sys.stderr is not None and not any(kept.glob("_kernels.*.nbi")):
        print(
            "staffing: first run on this machine, compiling (about 20 s, kept for later runs) ...",
            file=sys.stderr,
        )
