"""The package's logger. It writes nothing until the program configures logging."""

import logging
import sys

logger = logging.getLogger("resource_tracker")
logger.addHandler(logging.NullHandler())


def tell(text: str) -> None:
    """Report one line to the user: as a warning of the logger if the program has configured logging, else on
    stderr."""
    at = logger
    while at is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in at.handlers):
            logger.warning(text)
            return
        at = at.parent  # type: ignore[assignment]
    if sys.stderr is not None:
        print(f"resource_tracker: {text}", file=sys.stderr)
