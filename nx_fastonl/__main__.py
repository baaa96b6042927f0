"""``python -m nx_fastonl``: the command line, and without arguments a first look."""

import sys

from nx_fastonl.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
