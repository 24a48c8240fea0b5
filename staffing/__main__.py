"""`python -m staffing`."""

import sys

from staffing.command_line import main

if __name__ == "__main__":
    sys.exit(main())
