"""The package's logger, silent until a program sets up logging."""

import logging

logger = logging.getLogger("resource_tracker")
logger.addHandler(logging.NullHandler())
