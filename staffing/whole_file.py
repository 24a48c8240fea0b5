"""Files that appear whole or not at all."""

import contextlib
import os
from pathlib import Path

from staffing.models.errors import StaffingError


def write_whole(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8; a reader sees the old content or the new, never a part.

    Raises
    ------
    StaffingError
        If the file cannot be written.
    """
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            # A pipe or a terminal cannot be replaced.
            target.write_text(text, encoding="utf-8", newline="")
            return
        target = target.resolve()
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with part.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
            part.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()
            raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StaffingError(f"{path}: cannot be written: {reason}") from None
