"""The package's logger. It writes nothing until the program configures logging."""

import logging
import sys

logger = logging.getLogger("resource_tracker")
logger.addHandler(logging.NullHandler())


def clean(text: str) -> str:
    """Replace characters that a terminal would interpret or hide by "?": names in a message may come from others."""
    return "".join(character if character.isprintable() else "?" for character in text)


def tell(text: str) -> None:
    """Report one line to the user: as a warning of the logger if the program has configured logging, else on
    stderr."""
    text = clean(text)
    at = logger
    while at is not None:
        if any(not isinstance(handler, logging.NullHandler) for handler in at.handlers):
            logger.warning(text)
            return
        at = at.parent  # type: ignore[assignment]
    if sys.stderr is not None:
        print(f"resource_tracker: {text}", file=sys.stderr)
