"""Files that appear whole or not at all."""

import contextlib
import os
import stat
import sys
import threading
from pathlib import Path

from staffing.models.errors import StaffingError


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file in UTF-8; a reader sees the old content or the new, never a part.

    An existing file keeps its permissions. What is no file, such as a pipe, is written to as it is.

    Raises
    ------
    StaffingError
        If the file cannot be written.
    """
    if path == "":
        raise StaffingError("'': cannot be written: the name is empty")
    try:
        target = Path(path)
        try:
            status = target.stat()
        except FileNotFoundError:
            status = None
        if status is not None and _is_standard_output(status):
            sys.stdout.write(text)
        elif status is not None and not stat.S_ISREG(status.st_mode):
            target.write_text(text, encoding="utf-8", newline="")
        else:
            # Links are followed to the file that they name.
            _replace(Path(os.path.realpath(target)), text, status)
    except (OSError, ValueError, TypeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StaffingError(f"{path}: cannot be written: {reason}") from None


def _replace(target: Path, text: str, status: os.stat_result | None) -> None:
    part = target.with_name(f".{os.getpid()}-{threading.get_ident()}.part")
    try:
        with part.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
        if status is not None:
            part.chmod(stat.S_IMODE(status.st_mode))
        part.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise


def _is_standard_output(status: os.stat_result) -> bool:
    try:
        return os.path.samestat(status, os.fstat(sys.stdout.fileno()))
    except (AttributeError, OSError, ValueError):
        return False
