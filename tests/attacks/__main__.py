"""Play all attacks: `python -m attacks`, in the folder tests."""

import logging
import sys

from attacks.table import main

if __name__ == "__main__":
    logging.disable()  # agents would write down whom they refuse
    sys.exit(main())
