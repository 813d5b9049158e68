"""TinyDataFrame: a small table without dependencies."""

from __future__ import annotations

from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List, NamedTuple, Optional,
                    Sequence, Tuple, Union, overload)

from .column_maps import Answers, Layout, aliases_of, convert, kinds_of, layout_of, scaled

if TYPE_CHECKING:
    import pandas
    import polars

PRINTED_ROWS = 10


class StatSpec(NamedTuple):
    """A statistic to compute from a column.

    Attributes:
        column: name of the column
        agg: function that is called with the list of known (not None) values
        agg_name: name of the result; default: the name of the function
        round: number of decimals of the result; default: not rounded
    """

    column: str
    agg: Callable[[List[Any]], Any]
    agg_name: Optional[str] = None
    round: Optional[int] = None


def _number(text: str) -> Any:
    """Convert a cell of a CSV file: int or float if it is written as a number, None if it is empty, else str."""
    if text == "":
        return None
    # int() and float() accept "1_000", "nan", " 5" and "007". In a CSV file these are text.
    body = text[1:] if text[0] in "+-" else text
    if not body or not body[0].isdigit() or "_" in body or not body.isascii():
        return text
    if len(body) > 1 and body[0] == "0" and body[1].isdigit():
        return text
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


class TinyDataFrame:
    """A table whose columns are lists and whose rows are dicts.

    Args:
        data: dict of lists (columns), or list of dicts (rows). With rows, columns are in the order of their first
            appearance, and missing values are None
        csv_file_path: path or http(s) URL of a CSV file, instead of data
        retries: number of further attempts to read the file
        retry_delay: seconds before the first retry; doubled before each further one

    Raises:
        AssertionError: not exactly one of data and csv_file_path is given, or it has the wrong type
        ValueError: columns of different lengths
        RuntimeError: the CSV file cannot be read

    Examples:
        >>> df = TinyDataFrame({"a": [1, 2, 3], "b": [4, 5, 6]})
        >>> df["a"]
        [1, 2, 3]
        >>> df[1:]["b"]
        [5, 6]
        >>> df[0]
        {'a': 1, 'b': 4}
    """

    #: Schema and prefixes of the columns; None if no tracker made the table
    _layout: Optional[Layout]
    #: Column name in another schema -> (own column name, factor); see column_maps.aliases
    _aliases: Dict[str, Tuple[str, float]]
    #: Column name -> its fixed Arrow type; see _typed
    _kinds: Dict[str, str]

    def __init__(
        self,
        data: Optional[Union[Dict[str, List[Any]], List[Dict[str, Any]]]] = None,
        csv_file_path: Optional[str] = None,
        retries: int = 0,
        retry_delay: float = 0.1,
    ):
        assert data is not None or csv_file_path is not None, (
            "either data or csv_file_path must be provided")
        assert data is None or csv_file_path is None, (
            "only one of data or csv_file_path must be provided")
        self.columns: List[str] = []
        self._data: Dict[str, List[Any]] = {}
        self._lay_out(None)
        if data is not None:
            assert isinstance(data, (dict, list)), "data must be a dictionary or a list"
            if isinstance(data, dict):
                self._take_dict(data)
            else:
                self._take_rows(data)
            self._lay_out(layout_of(self.columns))
        else:
            assert isinstance(csv_file_path, str), "csv_file_path must be a string"
            self._read_csv(csv_file_path, retries, retry_delay)

    # ---- construction ----

    def _take_dict(self, data: Dict[str, List[Any]]) -> None:
        lengths = {len(values) for values in data.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of different lengths: {sorted(lengths)}")
        self._data = {name: list(values) for name, values in data.items()}
        self.columns = list(data)

    def _take_rows(self, rows: Sequence[Dict[str, Any]]) -> None:
        columns: Dict[str, None] = {}
        for row in rows:
            for name in row:
                columns[name] = None
        self.columns = list(columns)
        self._data = {name: [row.get(name) for row in rows] for name in columns}

    def _read_csv(self, path: str, retries: int, delay: float) -> None:
        from time import sleep

        attempts = max(0, int(retries)) + 1
        for attempt in range(attempts):
            try:
                return self._parse_csv(self._text_of(path))
            except Exception as error:
                if attempt + 1 == attempts:
                    raise RuntimeError(
                        f"Failed to read CSV file after {attempts} attempts: {path}") from error
                sleep(delay * 2**attempt)

    @staticmethod
    def _text_of(path: str) -> str:
        if path.startswith(("http://", "https://")):
            from urllib.request import urlopen

            with urlopen(path, timeout=30) as answer:
                return answer.read().decode("utf-8")
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()

    def _parse_csv(self, text: str) -> None:
        from csv import reader
        from io import StringIO

        rows = reader(StringIO(text, newline=""))
        names = next(rows, None)
        if names is None:
            return
        data: List[List[Any]] = [[] for _ in names]
        for row in rows:
            if not row:
                continue
            if len(row) > len(names):
                raise ValueError("Corrupt CSV file with unknown column names.")
            row = row + [""] * (len(names) - len(row))
            for values, cell in zip(data, row):
                values.append(_number(cell))
        self.columns = list(names)
        self._data = dict(zip(names, data))
        self._lay_out(layout_of(self.columns))

    def _lay_out(self, layout: Optional[Layout]) -> "TinyDataFrame":
        """Set the layout, and accept the column names of the other schemas accordingly. Returns self."""
        self._layout = layout
        self._aliases = {} if layout is None else aliases_of(layout)
        self._kinds = {} if layout is None else dict(kinds_of(layout))
        return self

    def _of_kinds(self, kinds: Dict[str, str]) -> "TinyDataFrame":
        """Fix the Arrow types of columns; see _typed. Returns self."""
        self._kinds = dict(kinds)
        return self

    def _like(self, data: Dict[str, List[Any]]) -> "TinyDataFrame":
        return TinyDataFrame(data)._lay_out(self._layout)._of_kinds(self._kinds)

    # ---- access ----

    def __len__(self) -> int:
        return len(self._data[self.columns[0]]) if self.columns else 0

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        for i in range(len(self)):
            yield self._row(i)

    def _row(self, index: int) -> Dict[str, Any]:
        row = {name: self._data[name][index] for name in self.columns}
        return Answers(row, self._aliases) if self._aliases else row

    def __contains__(self, name: object) -> bool:
        if name in self._data:
            return True
        other = self._aliases.get(name)  # type: ignore[call-overload]
        return other is not None and other[0] in self._data

    def _column(self, name: str) -> List[Any]:
        if name in self._data:
            return self._data[name]
        if name in self._aliases:
            other, factor = self._aliases[name]
            if other in self._data:
                return [scaled(value, factor) for value in self._data[other]]
        raise KeyError(f"Column '{name}' not found")

    @overload
    def __getitem__(self, key: str) -> List[Any]: ...

    @overload
    def __getitem__(self, key: Union[List[str], slice]) -> "TinyDataFrame": ...

    @overload
    def __getitem__(self, key: int) -> Dict[str, Any]: ...

    def __getitem__(self, key: Any) -> Any:
        """A str key returns a column (list), a list of str a frame of these columns, an int a row (dict), a slice a
        frame of these rows.

        Raises:
            KeyError: there is no such column
            IndexError: there is no such row
            TypeError: a key of another type
        """
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, list) and all(isinstance(name, str) for name in key):
            return self._like({name: list(self._column(name)) for name in key})
        if isinstance(key, bool):
            raise TypeError(f"Invalid key type: {type(key)}")
        if isinstance(key, int):
            return self._row(key)
        if isinstance(key, slice):
            return self._like({name: self._data[name][key] for name in self.columns})
        raise TypeError(f"Invalid key type: {type(key)}")

    def __setitem__(self, key: str, value: List[Any]) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Column name must be a string, got {type(key)}")
        if self.columns and len(value) != len(self):
            raise ValueError(
                f"Length of values ({len(value)}) must match dataframe length ({len(self)})")
        if key not in self._data:
            self.columns.append(key)
        self._data[key] = list(value)
        self._kinds.pop(key, None)

    def head(self, n: int = 5) -> "TinyDataFrame":
        """The first n rows."""
        return self[: max(0, n)]

    def tail(self, n: int = 5) -> "TinyDataFrame":
        """The last n rows."""
        return self[max(0, len(self) - n):] if n > 0 else self[:0]

    def rename(self, columns: Dict[str, str]) -> "TinyDataFrame":
        """Rename columns in place. Returns self.

        Args:
            columns: {old name: new name}. If the old name belongs to another schema, the values are converted to
                the unit of that schema

        Raises:
            KeyError: there is no such column
        """
        renamed: Dict[str, Tuple[str, List[Any]]] = {}
        for old, new in columns.items():
            if old not in self:
                raise KeyError(f"Column '{old}' not found in dataframe")
            own = old if old in self._data else self._aliases[old][0]
            renamed[own] = (new, self._column(old))
            if own in self._kinds:
                self._kinds[new] = self._kinds[own]
        self._data = dict(renamed.get(name, (name, self._data[name])) for name in self.columns)
        self.columns = list(self._data)
        return self

    def to_schema(self, name: str) -> "TinyDataFrame":
        """A new table with the names and units of the schema `name`, "0.4" or "0.5". Columns that are not part of a
        schema stay as they are.

        Raises:
            ValueError: there is no such schema
        """
        return TinyDataFrame(convert(self._data, self._layout, name))

    def stats(self, specs: List[StatSpec]) -> Dict[str, Dict[str, Any]]:
        """Compute statistics of columns.

        Returns:
            {column: {name of the aggregate: value}}. Unknown values (None) are ignored; the value is None if all
            values of the column are unknown. A statistic that raises an exception is logged and left out
        """
        result: Dict[str, Dict[str, Any]] = {}
        for spec in specs:
            try:
                known = [value for value in self._column(spec.column) if value is not None]
                value = spec.agg(known) if known else None
                if spec.round is not None and value is not None:
                    value = round(value, spec.round)
                name = spec.agg_name or str(getattr(spec.agg, "__name__", "value"))
                result.setdefault(spec.column, {})[name] = value
            except Exception as error:
                from ._log import logger

                logger.error("Error computing stats for column %s: %s", spec.column, error)
        return result

    # ---- other shapes ----

    def to_dict(self) -> List[Dict[str, Any]]:
        """The rows as a list of dicts."""
        return list(self)

    def to_csv(self, csv_file_path: Optional[str] = None,
               quote_strings: bool = True) -> Optional[str]:
        """Write a CSV file, or return the CSV text if no path is given. Lines end with CR LF.

        Args:
            csv_file_path: path of the file, which is overwritten
            quote_strings: quote all strings; else only those that need it
        """
        from csv import QUOTE_MINIMAL, QUOTE_NONNUMERIC, writer
        from io import StringIO

        out = StringIO(newline="")
        rows = writer(out, quoting=QUOTE_NONNUMERIC if quote_strings else QUOTE_MINIMAL)
        rows.writerow(self.columns)
        rows.writerows(zip(*(self._data[name] for name in self.columns)))
        if csv_file_path is None:
            return out.getvalue()
        from ._trust import open_output

        with open_output(csv_file_path, "w", encoding="utf-8", newline="") as file:
            file.write(out.getvalue())
        return None

    def print(self) -> None:
        """Print the first 10 rows as a grid."""
        import builtins

        builtins.print(self)

    def __repr__(self) -> str:
        text = f"TinyDataFrame with {len(self)} rows and {len(self.columns)} columns."
        return text + f" First row as a dict: {self[0]}" if len(self) else text

    def __str__(self) -> str:
        head = f"TinyDataFrame with {len(self)} rows and {len(self.columns)} columns:\n"
        if not self.columns or not len(self):
            return head + "Empty dataframe"
        shown = self[:PRINTED_ROWS]
        cells = {name: ["" if v is None else str(v) for v in shown._data[name]]
                 for name in self.columns}
        width = {name: max(len(name), *map(len, cells[name])) for name in self.columns}

        def line(values: Sequence[str], numeric: Sequence[bool]) -> str:
            return " | ".join(
                value.rjust(width[name]) if right else value.ljust(width[name])
                for name, value, right in zip(self.columns, values, numeric))

        right = [all(isinstance(v, (int, float, type(None))) for v in shown._data[name])
                 for name in self.columns]
        lines = [line(self.columns, [False] * len(right)),
                 "-+-".join("-" * width[name] for name in self.columns)]
        lines += [line([cells[name][i] for name in self.columns], right)
                  for i in range(len(shown))]
        if len(self) > PRINTED_ROWS:
            lines.append("...".ljust(len(lines[1])))
        return head + "\n".join(lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the grid in an IPython terminal."""
        printer.text(str(self))

    def _repr_html_(self) -> str:
        from html import escape

        def row(cells, tag: str) -> str:
            return "<tr>" + "".join(
                f"<{tag}>{escape('' if c is None else str(c))}</{tag}>" for c in cells) + "</tr>"

        body = "".join(row((self._data[name][i] for name in self.columns), "td")
                       for i in range(min(len(self), PRINTED_ROWS)))
        more = (f"<p>{len(self)} rows × {len(self.columns)} columns</p>")
        return (f"<table><thead>{row(self.columns, 'th')}</thead>"
                f"<tbody>{body}</tbody></table>{more}")

    # ---- other libraries ----

    def _typed(self) -> List[Tuple[str, str, List[Any]]]:
        """All columns as (name, Arrow type, values). The type is "l" (int64), "g" (float64), "b" (bool) or "u"
        (text). A column that a tracker made has the same type in every run; for other columns it follows from the
        values."""
        typed = []
        for name in self.columns:
            values = self._data[name]
            types = {type(value) for value in values if value is not None}
            kind = self._kinds.get(name, "")
            if kind not in ("", "u") and not types <= {int, float, bool}:
                kind = ""  # the caller has changed the values to another type
            kind = kind or ("b" if types == {bool} else "l" if types and types <= {int, bool} else
                            "g" if types <= {int, float, bool} else "u")
            if kind == "u":
                values = [value if value is None else str(value) for value in values]
            typed.append((name, kind, values))
        return typed

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the table through the Arrow C stream interface, which pandas, polars, duckdb and pyarrow read.

        Raises:
            ImportError: the C library of this package cannot be loaded
        """
        from ._core import arrow_stream

        return arrow_stream(self._typed())

    def to_pandas(self, schema: Optional[str] = None) -> "pandas.DataFrame":
        """Convert to a pandas DataFrame. Unknown values are NaN.

        Args:
            schema: convert the columns to this schema, "0.4" or "0.5"; default: the columns of this frame
        """
        import pandas

        frame = self if schema is None else self.to_schema(schema)
        kinds = {"l": "int64", "g": "float64", "b": "bool", "u": pandas.Series(["a"]).dtype}
        columns = {}
        for name, kind, values in frame._typed():
            if None in values and kind in ("l", "b"):
                kind = "g"
            columns[name] = pandas.Series(values, dtype=kinds[kind])
        return pandas.DataFrame(columns)

    def to_polars(self, schema: Optional[str] = None) -> "polars.DataFrame":
        """Convert to a polars DataFrame. Unknown values are null.

        Args:
            schema: convert the columns to this schema, "0.4" or "0.5"; default: the columns of this frame
        """
        import polars

        frame = self if schema is None else self.to_schema(schema)
        kinds = {"l": polars.Int64, "g": polars.Float64, "b": polars.Boolean, "u": polars.String}
        typed = frame._typed()
        return polars.DataFrame({name: values for name, _, values in typed}, strict=False,
                                schema={name: kinds[kind] for name, kind, _ in typed})
