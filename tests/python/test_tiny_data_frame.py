"""Tests TinyDataFrame and StatSpec."""

import http.server
import threading

import pytest

from resource_tracker.tiny_data_frame import StatSpec, TinyDataFrame


@pytest.fixture
def frame():
    return TinyDataFrame({"a": [1, 2, 3], "b": [4.5, None, 6], "c": ["x", "y", "z"]})


def test_rows_and_columns(frame):
    assert len(frame) == 3
    assert frame.columns == ["a", "b", "c"]
    assert frame["a"] == [1, 2, 3]
    assert frame[0] == {"a": 1, "b": 4.5, "c": "x"}
    assert frame[-1] == {"a": 3, "b": 6, "c": "z"}
    assert frame[1:]["a"] == [2, 3]
    assert frame[["c", "a"]].columns == ["c", "a"]
    assert list(frame) == frame.to_dict() == [frame[0], frame[1], frame[2]]


def test_list_of_dicts_has_columns_in_order_of_appearance():
    frame = TinyDataFrame([{"b": 1}, {"a": 2, "b": 3}])
    assert frame.columns == ["b", "a"]
    assert frame["a"] == [None, 2]


def test_head_and_tail():
    frame = TinyDataFrame({"a": list(range(12))})
    assert frame.head()["a"] == [0, 1, 2, 3, 4]
    assert frame.tail()["a"] == [7, 8, 9, 10, 11]
    assert frame.head(2)["a"] == [0, 1]
    assert frame.tail(2)["a"] == [10, 11]
    assert frame.tail(0)["a"] == frame.head(0)["a"] == []
    assert frame.tail(100)["a"] == list(range(12))


def test_what_is_not_there_is_named(frame):
    with pytest.raises(KeyError, match="Column 'x' not found"):
        frame["x"]
    with pytest.raises(KeyError, match="Column 'x' not found"):
        frame[["a", "x"]]
    with pytest.raises(TypeError, match="Invalid key type: <class 'float'>"):
        frame[1.5]
    with pytest.raises(IndexError):
        frame[3]


def test_assigning_a_column(frame):
    frame["d"] = [7, 8, 9]
    frame["a"] = [0, 0, 0]
    assert frame.columns == ["a", "b", "c", "d"]
    assert frame[0] == {"a": 0, "b": 4.5, "c": "x", "d": 7}
    with pytest.raises(TypeError, match="Column name must be a string, got <class 'int'>"):
        frame[1] = [1, 2, 3]
    with pytest.raises(
            ValueError, match=r"Length of values \(1\) must match dataframe length \(3\)"):
        frame["e"] = [1]


def test_rename_is_in_place_and_keeps_the_order(frame):
    assert frame.rename({"b": "B"}) is frame
    assert frame.columns == ["a", "B", "c"]
    with pytest.raises(KeyError, match="Column 'b' not found in dataframe"):
        frame.rename({"b": "x"})


def test_parts_are_copies(frame):
    part = frame[["a"]]
    part.rename({"a": "z"})
    part["z"] = [9, 9, 9]
    assert frame["a"] == [1, 2, 3]
    empty, other = TinyDataFrame(data=[]), TinyDataFrame(data=[])
    empty["x"] = [1, 2]
    assert len(other) == 0 and other.columns == []


def test_stats_leave_unknown_values_out(frame, caplog):
    def spread(values):
        return max(values) - min(values)

    stats = frame.stats([
        StatSpec("b", max), StatSpec("b", sum, "total"), StatSpec("b", spread, round=1),
        StatSpec("a", lambda v: sum(v) / 7, "mean", 2), StatSpec("c", sum), StatSpec("x", max)])
    assert stats == {"b": {"max": 6, "total": 10.5, "spread": 1.5}, "a": {"mean": 0.86}}
    assert [r.levelname for r in caplog.records] == ["ERROR", "ERROR"]
    assert TinyDataFrame({"a": [None]}).stats([StatSpec("a", max)]) == {"a": {"max": None}}


def test_the_constructor_refuses_what_it_cannot_take(tmp_path):
    with pytest.raises(AssertionError, match="either data or csv_file_path must be provided"):
        TinyDataFrame()
    with pytest.raises(AssertionError, match="only one of data or csv_file_path must be provided"):
        TinyDataFrame(data=[], csv_file_path="x")
    with pytest.raises(AssertionError, match="data must be a dictionary or a list"):
        TinyDataFrame(data="text")
    with pytest.raises(AssertionError):
        TinyDataFrame(csv_file_path=5)
    with pytest.raises(ValueError):
        TinyDataFrame({"a": [1], "b": []})


def test_csv_round_trip(frame, tmp_path):
    assert frame.to_csv() == '"a","b","c"\r\n1,4.5,"x"\r\n2,"","y"\r\n3,6,"z"\r\n'
    assert frame.to_csv(quote_strings=False) == "a,b,c\r\n1,4.5,x\r\n2,,y\r\n3,6,z\r\n"
    path = tmp_path / "a.csv"
    assert frame.to_csv(str(path)) is None
    again = TinyDataFrame(csv_file_path=str(path))
    assert again.to_dict() == frame.to_dict()
    assert isinstance(again["a"][0], int) and isinstance(again["b"][0], float)


def test_csv_keeps_texts_that_look_a_little_like_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a\n007\n1_000\nnan\n-3\n1e5\n\n', encoding="utf-8")
    assert TinyDataFrame(csv_file_path=str(path))["a"] == ["007", "1_000", "nan", -3, 1e5]


def test_csv_with_a_header_only_keeps_its_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n", encoding="utf-8")
    frame = TinyDataFrame(csv_file_path=str(path))
    assert frame.columns == ["a", "b"] and len(frame) == 0
    assert repr(frame) == "TinyDataFrame with 0 rows and 2 columns."


def test_csv_errors(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2,3\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match="Failed to read CSV file after 1 attempts: .*a.csv"
                       ) as raised:
        TinyDataFrame(csv_file_path=str(path))
    assert str(raised.value.__cause__) == "Corrupt CSV file with unknown column names."
    with pytest.raises(RuntimeError, match="after 3 attempts"):
        TinyDataFrame(csv_file_path=str(tmp_path / "none"), retries=2, retry_delay=0.001)


def test_csv_by_url(tmp_path):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"a,b\n1,x\n")

        def log_message(self, *args):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        frame = TinyDataFrame(csv_file_path=f"http://127.0.0.1:{server.server_port}/a.csv")
        server.shutdown()
    assert frame.to_dict() == [{"a": 1, "b": "x"}]


def test_how_it_prints(frame, capsys):
    assert repr(frame) == ("TinyDataFrame with 3 rows and 3 columns. First row as a dict: "
                           "{'a': 1, 'b': 4.5, 'c': 'x'}")
    assert str(frame).splitlines() == [
        "TinyDataFrame with 3 rows and 3 columns:",
        "a | b   | c", "--+-----+--", "1 | 4.5 | x", "2 |     | y", "3 |   6 | z"]
    frame.print()
    assert capsys.readouterr().out == str(frame) + "\n"
    long = str(TinyDataFrame({"a": list(range(11))})).splitlines()
    assert len(long) == 14 and long[-1].strip() == "..."
    assert str(TinyDataFrame(data=[])) == (
        "TinyDataFrame with 0 rows and 0 columns:\nEmpty dataframe")


def test_html_is_escaped():
    html = TinyDataFrame({"<b>": ["<script>", None]})._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html and "<b>" not in html


def test_other_libraries_read_it(frame):
    pyarrow, pandas, polars = map(pytest.importorskip, ("pyarrow", "pandas", "polars"))
    table = pyarrow.table(frame)
    table.validate(full=True)
    assert table.to_pylist() == frame.to_dict()
    assert [str(field.type) for field in table.schema] == ["int64", "double", "string"]
    assert polars.DataFrame(frame).rows(named=True) == frame.to_dict()
    assert frame.to_polars()["a"].to_list() == [1, 2, 3]
    assert list(frame.to_pandas()["c"]) == ["x", "y", "z"]
    assert frame.to_pandas()["b"].isna().tolist() == [False, True, False]
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert pandas.DataFrame.from_arrow(frame)["a"].tolist() == [1, 2, 3]


def test_sql_over_a_frame(frame):
    duckdb = pytest.importorskip("duckdb")
    rows = duckdb.sql("select c, a, b from frame where a > 1 order by a desc").fetchall()
    assert rows == [(row["c"], row["a"], row["b"]) for row in reversed(frame.to_dict()[1:])]
    assert duckdb.sql("select count(b), sum(a) from frame").fetchall() == [
        (sum(value is not None for value in frame["b"]), sum(frame["a"]))]


def test_an_arrow_stream_is_complete_and_may_be_left(frame):
    pyarrow = pytest.importorskip("pyarrow")
    capsule = frame.__arrow_c_stream__()
    del capsule  # never consumed
    reader = pyarrow.RecordBatchReader.from_stream(frame)
    column = reader.read_next_batch().column(2)
    del reader  # a child outlives its parent
    assert column.to_pylist() == ["x", "y", "z"]
    assert pyarrow.table(TinyDataFrame({"a": []})).num_rows == 0
    assert pyarrow.table(TinyDataFrame({"a": ["ä€", None, ""] * 5000}))["a"].to_pylist() == [
        "ä€", None, ""] * 5000
