"""Templates: {{value}}, {{{raw value}}}, {{#if x}}…{{#else}}…{{/if}}, {{#each list as item}}…{{/each}},
and filters: {{value | round:2}}."""

from __future__ import annotations

import re
from html import escape
from typing import Any, Callable, Dict, List, Tuple

_TAG = re.compile(r"\{\{\{\s*(.*?)\s*\}\}\}|\{\{\s*(.*?)\s*\}\}", re.DOTALL)

Node = Tuple[str, Any, Any, Any]


def render_template(template: str, context: Dict[str, Any]) -> str:
    """Fill a template with the values of a context.

    A value that does not exist or cannot be shown becomes "[Error: …]"; in #if it counts as false.

    Raises:
        ValueError: a tag that is not closed

    Examples:
        >>> render_template("{{#each a as x}}<{{x}}>{{/each}}", {"a": [1, 2]})
        '<1><2>'
    """
    nodes, _ = _parse(_tokens(template), 0, "")
    return _render(nodes, context)


# ---- parsing ----

def _tokens(template: str) -> List[Tuple[str, str]]:
    tokens = []
    at = 0
    for match in _TAG.finditer(template):
        tokens.append(("text", template[at:match.start()]))
        if match.group(1) is not None:
            tokens.append(("raw", match.group(1)))
        else:
            tokens.append(("tag", match.group(2)))
        at = match.end()
    tokens.append(("text", template[at:]))
    return tokens


_UNCLOSED = {"if": "Unclosed #if tag", "each": "Unclosed tag: #each"}


def _parse(tokens: List[Tuple[str, str]], at: int, inside: str) -> Tuple[List[Node], int]:
    """Return the nodes up to the end of the block `inside`, and the index after it."""
    nodes: List[Node] = []
    while at < len(tokens):
        kind, text = tokens[at]
        at += 1
        if kind == "text":
            nodes.append(("text", text, None, None))
        elif kind == "raw":
            nodes.append(("raw", text, None, None))
        elif re.match(r"#if\s", text):
            yes, at = _parse(tokens, at, "if")
            no: List[Node] = []
            if tokens[at - 1][1] == "#else":
                no, at = _parse(tokens, at, "if")
            nodes.append(("if", text[3:].strip(), yes, no))
        elif re.match(r"#each\s", text):
            words = re.fullmatch(r"#each\s+(.+?)\s+as\s+(\w+)", text)
            if not words:
                raise ValueError(f"Invalid tag: {text}")
            body, at = _parse(tokens, at, "each")
            nodes.append(("each", words.group(1), words.group(2), body))
        elif inside and (text == f"/{inside}" or (inside == "if" and text == "#else")):
            return nodes, at
        else:
            nodes.append(("value", text, None, None))
    if inside:
        raise ValueError(_UNCLOSED[inside])
    return nodes, at


# ---- values ----

def _member(value: Any, name: str, expression: str) -> Any:
    from .tiny_data_frame import TinyDataFrame

    found = None
    if isinstance(value, TinyDataFrame):
        found = value[name] if name in value else None
    elif isinstance(value, dict):
        found = value.get(name)
    if found is None and not isinstance(value, dict):
        found = getattr(value, name, None)
    if found is None:
        raise KeyError(f"{name} not found in {expression}")
    return found


def _argument(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _evaluate(expression: str, context: Dict[str, Any]) -> Any:
    path, *filters = [part.strip() for part in expression.split("|")]
    value: Any = context
    for name in path.split("."):
        value = _member(value, name, path)
    for text in filters:
        name, has, argument = text.partition(":")
        if name.strip() not in _FILTERS:
            raise ValueError(f"Unknown filter: {name.strip()}")
        arguments = [_argument(argument.strip())] if has else []
        value = _FILTERS[name.strip()](value, *arguments)
    return value


def _pretty_number(value: Any, digits: int = 0) -> str:
    try:
        text = f"{float(value):,.{int(digits)}f}"
    except (TypeError, ValueError):
        return str(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _divide(value: Any, by: Any = 1) -> float:
    try:
        divisor = float(by)
    except (TypeError, ValueError):
        raise ValueError(f"Invalid divisor: {by} should be a number") from None
    if divisor == 0:
        raise ValueError(f"Division by zero: {value} / {by}")
    try:
        return float(value) / divisor
    except (TypeError, ValueError):
        raise ValueError(f"Invalid value: {value} should be a number") from None


def _index(value: Any, at: Any = 0) -> Any:
    try:
        return value[at]
    except (IndexError, KeyError, TypeError):
        raise ValueError(f"Invalid index: {at} for {value}") from None


def _local_time(value: Any) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(float(value)).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def _round_memory(value: Any) -> int:
    from .helpers import round_memory

    return round_memory(value)


_FILTERS: Dict[str, Callable[..., Any]] = {
    "index": _index,
    "pretty_number": _pretty_number,
    "divide": _divide,
    "round": lambda value, digits=0: round(value, digits),
    "round_memory": _round_memory,
    "unix_timestamp_to_local_tz_string": _local_time,
}


# ---- rendering ----

def _is_true(expression: str, context: Dict[str, Any]) -> bool:
    try:
        value = _evaluate(expression, context)
    except (KeyError, ValueError, TypeError):
        return False
    return bool(len(value)) if hasattr(value, "__len__") else bool(value)


def _each(expression: str, name: str, body: List[Node], context: Dict[str, Any]) -> str:
    try:
        items = _evaluate(expression, context)
    except (KeyError, ValueError, TypeError) as error:
        return f"[Error: {escape(expression)} - {escape(str(error), quote=False)}]"
    if not isinstance(items, list):
        return f"[Error: {expression} is not a list]"
    return "".join(_render(body, {**context, name: item}) for item in items)


def _render(nodes: List[Node], context: Dict[str, Any]) -> str:
    out = []
    for kind, text, a, b in nodes:
        if kind == "text":
            out.append(text)
        elif kind == "if":
            out.append(_render(a if _is_true(text, context) else b, context))
        elif kind == "each":
            out.append(_each(text, a, b, context))
        else:
            try:
                value = str(_evaluate(text, context))
                out.append(value if kind == "raw" else escape(value, quote=True))
            except (KeyError, ValueError, TypeError) as error:
                out.append(f"[Error: {escape(text)} - {escape(str(error), quote=False)}]")
    return "".join(out)
