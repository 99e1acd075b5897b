"""`python -m tests.wire.mutants`."""

import sys

from tests.wire.mutants import main

sys.exit(main(sys.argv[1:]))
