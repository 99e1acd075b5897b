"""`python -m tests.wire.mutants`: those of the wire alone."""

import sys

from tests.mutants import main
from tests.wire.mutants import WIRE

sys.exit(main(sys.argv[1:], (WIRE,)))
