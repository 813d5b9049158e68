"""The logger of the package, which is silent until a program sets up logging."""

import logging
import sys

logger = logging.getLogger("resource_tracker")
logger.addHandler(logging.NullHandler())


def tell(text: str) -> None:
    """Show a line: in the log if the program has set up logging, else on stderr."""
    at = logger
    while at is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in at.handlers):
            logger.warning(text)
            return
        at = at.parent  # type: ignore[assignment]
    if sys.stderr is not None:
        print(f"resource_tracker: {text}", file=sys.stderr)
