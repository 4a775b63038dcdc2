"""A program that reverses lines and logs each of them.

If there is a file `kill-at` next to the log with a number, and the log has so many lines, it kills the command that
started it instead, once.
"""

import os
import signal
import sys
from pathlib import Path


def main() -> None:
    log, lines = Path(sys.argv[1]), sys.stdin.read().splitlines()
    done = len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0
    limit = log.with_name("kill-at")
    if limit.exists() and done >= int(limit.read_text()):
        limit.unlink()
        os.kill(os.getppid(), signal.SIGKILL)
        return
    with log.open("a", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in lines)
    sys.stdout.writelines(f"{line[::-1]}\n" for line in lines)


if __name__ == "__main__":
    main()
