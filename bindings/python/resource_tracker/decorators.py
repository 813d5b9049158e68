"""@track for functions, and mark() for moments of a job."""

from __future__ import annotations

import functools
import inspect
import os
from typing import Any, Callable, Optional, TypeVar, overload

from .helpers import exit_code_of

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def track(function: Function) -> Function: ...


@overload
def track(function: None = None, *, label: Optional[str] = None, report: Optional[str] = None,
          on_end: Optional[Callable[[Any], Any]] = None,
          **options: Any) -> Callable[[Function], Function]: ...


def track(function: Optional[Callable[..., Any]] = None, *, label: Optional[str] = None,
          report: Optional[str] = None, on_end: Optional[Callable[[Any], Any]] = None,
          **options: Any) -> Any:
    """Track each call of a function: sync, async, generator or async generator.

    The tracker of the last call that has ended is the function's attribute `tracker`. A tracker
    that cannot start is a warning, and the function is called all the same.

    Args:
        label: name of the run; default: `job`, else the function's
        report: where to write the report of each call
        on_end: called with the tracker after each call
        **options: of ResourceTracker

    Examples:
        >>> @track(interval=0.1)
        ... def work():
        ...     return sum(range(1000))
        >>> work()
        499500
        >>> work.tracker.totals()["cpu_s"]["quality"]
        'at_least'
    """
    if function is None:
        return lambda f: track(f, label=label, report=report, on_end=on_end, **options)
    if not callable(function):
        raise TypeError(f"@track needs a function, got {type(function).__name__}")
    name = label or options.get("job") or getattr(function, "__qualname__", "function")
    options = {**options, "autostart": False, "job": name}

    def begin() -> Any:
        from .tracker import ResourceTracker

        try:
            tracker = ResourceTracker(**options)
            tracker.start()
            return tracker
        except (OSError, RuntimeError) as error:
            from ._log import logger

            logger.warning("%s is not tracked: %s", name, error)
            return None

    def end(tracker: Any, error: Optional[BaseException]) -> None:
        if tracker is None:
            return
        code = exit_code_of(error)
        failed = code != 0
        tracker.stop(code, "failed" if failed else "finished")
        wrapper.tracker = tracker
        try:
            if report:
                tracker.report(status_failed=failed).save(report)
            if on_end:
                on_end(tracker)
        except Exception as failure:
            if error is None:
                raise
            # The function's own error is the one to be seen.
            from ._log import logger

            logger.warning("%s: %s", name, failure)

    wrapper = _wrap(function, begin, end)
    wrapper.tracker = None
    return wrapper


Begin = Callable[[], Any]
End = Callable[[Any, Optional[BaseException]], None]


class _Span:
    """The time from begin to end, with the exception that ended it."""

    def __init__(self, begin: Begin, end: End):
        self._begin, self._end = begin, end

    def __enter__(self) -> None:
        self._tracker = self._begin()

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        # A generator that its consumer leaves has not failed.
        self._end(self._tracker, None if isinstance(value, GeneratorExit) else value)


def _wrap_async_generator(function: Callable[..., Any], begin: Begin, end: End) -> Any:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        with _Span(begin, end):
            inner = function(*args, **kwargs)
            step = inner.asend(None)
            try:
                while True:
                    try:
                        item = await step
                    except StopAsyncIteration:
                        return
                    try:
                        step = inner.asend((yield item))
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        step = inner.athrow(error)
            finally:
                await inner.aclose()
    return wrapper


def _wrap_coroutine(function: Callable[..., Any], begin: Begin, end: End) -> Any:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        with _Span(begin, end):
            return await function(*args, **kwargs)
    return wrapper


def _wrap_generator(function: Callable[..., Any], begin: Begin, end: End) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with _Span(begin, end):
            return (yield from function(*args, **kwargs))
    return wrapper


def _wrap_function(function: Callable[..., Any], begin: Begin, end: End) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with _Span(begin, end):
            return function(*args, **kwargs)
    return wrapper


def _wrap(function: Callable[..., Any], begin: Begin, end: End) -> Any:
    if inspect.isasyncgenfunction(function):
        return _wrap_async_generator(function, begin, end)
    if inspect.iscoroutinefunction(function):
        return _wrap_coroutine(function, begin, end)
    if inspect.isgeneratorfunction(function):
        return _wrap_generator(function, begin, end)
    return _wrap_function(function, begin, end)


def mark(name: str) -> bool:
    """Name this moment of the run, from inside a job of `resource-tracker run`. Returns True if the tracker
    received it, and False outside such a job."""
    guard = os.environ.get("RESOURCE_TRACKER_RUN")
    if not guard:
        return False
    from . import _engine

    if _engine._core is None:
        return False
    try:
        _engine._core.mark(guard, name)
    except (OSError, RuntimeError):
        return False
    return True
