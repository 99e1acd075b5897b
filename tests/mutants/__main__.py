"""`python -m tests.mutants`."""

import sys

from tests.daemon.mutants import BRIDGE
from tests.mutants import main
from tests.wire.mutants import WIRE

sys.exit(main(sys.argv[1:], (WIRE, BRIDGE)))
