"""Lets ``python -m kernsel`` run the command line."""

import sys

from kernsel.cli import main

sys.exit(main())
