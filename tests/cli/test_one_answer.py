"""Tests that the command and the C API give the same answer about a run, byte for byte: page, JSON and advice."""

import json
import pathlib
import subprocess
import sys

import pytest

from report_page import Page

from feed_hosts import own_prices

pytestmark = pytest.mark.native  # loads the library of the plain build

LIBRARY = """
import ctypes, os, sys

class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("format", ctypes.c_char_p), ("history", ctypes.c_char_p),
                ("embed_raw", ctypes.c_int), ("failed", ctypes.c_int), ("earlier", ctypes.c_char_p),
                ("integration", ctypes.c_char_p), ("cache", ctypes.c_char_p), ("history_url", ctypes.c_char_p),
                ("of_user", ctypes.c_int)]

library = ctypes.CDLL(sys.argv[1])
recording, history = (os.fsencode(word) for word in sys.argv[2:4])

def page(path, **options):
    options = {name: os.fsencode(value) if isinstance(value, str) else value for name, value in options.items()}
    given = Options(size=ctypes.sizeof(Options), **options)
    r = library.trk_report_write_with(recording, os.fsencode(path), ctypes.byref(given))
    assert r == 0, r

def summary(path):
    opened = ctypes.c_void_p()
    library.trk_recording_summary.restype = ctypes.c_void_p
    assert library.trk_recording_open(recording, ctypes.byref(opened)) == 0
    text = library.trk_recording_summary(opened)
    with open(path, "wb") as file:
        file.write(ctypes.string_at(text))

class Recommend(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [
        (name, ctypes.c_char_p) for name in ("history", "earlier", "cache", "method", "risk")] + [
        ("input_bytes", ctypes.c_double), ("tags", ctypes.POINTER(ctypes.c_char_p)), ("instance", ctypes.c_char_p),
        ("needs", ctypes.c_void_p), ("limit", ctypes.c_size_t), ("no_servers", ctypes.c_int),
        ("short_runs", ctypes.c_int), ("failed", ctypes.c_int)] + [
        (name, ctypes.c_char_p) for name in ("history_url", "catalog", "scores", "prices")] + [("of_user", ctypes.c_int)]

library.trk_recommendation_json.restype = ctypes.c_void_p

def recommend(**options):
    options = {name: value.encode() if isinstance(value, str) else value for name, value in options.items()}
    options = {"history": history, **options}
    given = Recommend(size=ctypes.sizeof(Recommend), **options)
    answer, why = ctypes.c_void_p(), ctypes.create_string_buffer(300)
    r = library.trk_recommend(recording, ctypes.byref(given), ctypes.byref(answer), why, 300)
    assert r == 0, why.value
    text = library.trk_recommendation_json(answer)
    with open("library", "wb") as file:
        file.write(ctypes.string_at(text))

class Compare(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [
        (name, ctypes.c_char_p) for name in ("with", "fail_on", "history", "history_url")] + [("of_user", ctypes.c_int)]

def compare(**options):
    options = {name: os.fsencode(value) if isinstance(value, str) else value for name, value in options.items()}
    given = Compare(size=ctypes.sizeof(Compare), **options)
    text, why = ctypes.c_void_p(), ctypes.create_string_buffer(300)
    r = library.trk_compare(recording, ctypes.byref(given), ctypes.byref(text), why, 300)
    if r < 0:
        sys.exit(why.value.decode())
    with open("library", "wb") as file:
        file.write(ctypes.string_at(text))
    return r

class Needs(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [
        (name, ctypes.c_double) for name in ("vcpus", "memory_mib", "gpus", "vram_mib", "storage_gb")] + [
        ("gpu_shares", ctypes.c_int), ("spot", ctypes.c_int)] + [
        (name, ctypes.c_char_p) for name in ("arch", "allocation", "vendors", "regions", "countries", "exclude",
                                             "order_by")] + [
        ("run_s", ctypes.c_double), ("busy_cores", ctypes.c_double), ("measured_on", ctypes.c_char_p),
        ("boot_s", ctypes.c_double), ("previous_generation", ctypes.c_int)]

class CatalogOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t)] + [(name, ctypes.c_char_p) for name in ("catalog", "scores", "cache", "prices")]

def servers(limit, cache, **needs):
    catalog, found = ctypes.c_void_p(), ctypes.c_void_p()
    options = CatalogOptions(size=ctypes.sizeof(CatalogOptions), cache=os.fsencode(cache))
    assert library.trk_catalog_open(ctypes.byref(options), ctypes.byref(catalog), None, 0) == 0
    needs = Needs(size=ctypes.sizeof(Needs), **needs)
    assert library.trk_servers_find(catalog, ctypes.byref(needs), ctypes.byref(found), None, 0) == 0
    library.trk_servers_json.restype = ctypes.c_void_p
    with open("library", "wb") as file:
        file.write(ctypes.string_at(library.trk_servers_json(found, ctypes.c_size_t(limit))))

"""


def library(rt, recording, calls):
    """Run calls of page() and summary() in a process with the environment of the command."""
    path = pathlib.Path(rt.path).parent / "src" / "libresource_tracker.so"
    subprocess.run([sys.executable, "-c", LIBRARY + calls, path, recording, rt.state], env=rt.env, cwd=rt.home,
                   check=True)


@pytest.fixture
def run(rt):
    """The last one of six runs of a job on a server whose price the site knows: it takes longer."""
    prices = rt.home / "own.csv"
    prices.write_text("vendor,region,type,price\naws,us-east-1,m5.large,0.0123\naws,us-east-1,m5.xlarge,0.0246\n")
    own_prices(rt, prices)
    script = f"{rt.path} mark load; sleep 0.1; {rt.path} mark work; sleep $TIME; true"
    for seconds in "0.2", "0.2", "0.2", "0.2", "0.2", "1.6":
        result = rt.track("sh", "-c", script, env={"TIME": seconds},
                          flags=["-i", "0.05", "--instance", "aws/us-east-1/m5.large"])
        assert result.rc == 0, result.stderr
    return next((rt.state / "runs").glob(f"*{result.summary['run']['id'][2:]}*"))


@pytest.mark.parametrize("form", ["html", "md"])
def test_a_page_is_the_same_from_the_command_and_the_c_api(rt, run, form):
    assert rt.run("report", "--format", form, "-o", "command", "@").rc == 0
    library(rt, run, f"page('library', format='{form}', history=sys.argv[3])\n"
                     f"page('list', format='{form}', history=sys.argv[3], cache='none')\n"
                     f"page('alone', format='{form}')\n")
    page = (rt.home / "command").read_bytes()
    assert (rt.home / "library").read_bytes() == page
    # The runs and the prices are part of it.
    assert (rt.home / "alone").read_bytes() != page and (rt.home / "list").read_bytes() != page
    first = b"This is the first known run of the job"
    assert first not in page and first in (rt.home / "alone").read_bytes()


def test_options_of_a_page_are_the_same_from_the_command_and_the_c_api(rt, run):
    library(rt, run, "page('own', of_user=1)\n"
                     "page('raw', embed_raw=1)\n"
                     "page('failed', failed=1, integration='Metaflow 2',\n"
                     "     earlier='[' + ','.join(['{\"duration_s\": 3, \"peak_memory_mib\": 700}'] * 3) + ']')")
    assert rt.run("report", "-o", "command", run).rc == 0
    assert (rt.home / "own").read_bytes() == (rt.home / "command").read_bytes()
    assert rt.run("report", "-o", "command", "--embed-raw", "--recording", rt.home / "none", run).rc == 0
    assert (rt.home / "raw").read_bytes() == (rt.home / "command").read_bytes()
    page = (rt.home / "failed").read_text(encoding="utf-8")
    assert "from <code>Metaflow 2</code>" in page and "700 MiB" in page and "✗ failed" in page


def test_summary_and_advice_are_the_same_from_the_command_and_the_c_api(rt, run):
    library(rt, run, "summary('library')")
    # Without a history: the library uses this run only.
    alone = rt.run("show", "--json", "--recording", rt.home / "none", run).stdout
    assert (rt.home / "library").read_text(encoding="utf-8") == alone
    summary = rt.run("show", "--json", "@").json()
    assert summary["change"]["runs"] == 5
    advised = rt.run("recommend", "--json", "@").json()
    assert json.dumps(advised["advice"]) == json.dumps(summary["advice"])
    for key in "wall", "phases", "split":
        assert json.dumps(advised[key]) == json.dumps(summary[key])


def test_a_server_is_the_same_in_every_answer(rt, run):
    advised = rt.run("recommend", "--json", "@").json()
    best = advised["servers"][0]["api_reference"]
    assert json.loads(rt.run("show", "--json", "@").stdout)["cost"]["best_type"] == best
    assert Page(rt, "@").rows("Cheapest servers that fit")[0]["Server"] == best


ANSWERS = [
    ([], ""),
    (["--no-servers", "--risk", "safe", "--method", "original"],
     "no_servers=1, risk='safe', method='original'"),
    (["--instance", "aws/us-east-1/m5.xlarge", "--input-size", "3GiB", "--tag", "lane=7"],
     "instance='aws/us-east-1/m5.xlarge', input_bytes=3 * 2**30, tags=(ctypes.c_char_p * 2)(b'lane=7', None)"),
    (["--no-servers"], "no_servers=1, history=None, of_user=1"),
]


@pytest.mark.parametrize("flags, call", ANSWERS, ids=[call for _, call in ANSWERS])
def test_a_recommendation_is_the_same_from_the_command_and_the_c_api(rt, run, flags, call):
    library(rt, run, f"recommend({call})\n")
    advised = rt.run("recommend", "--json", *flags, "@").stdout
    assert (rt.home / "library").read_text(encoding="utf-8") == advised
    assert advised.strip()


def test_a_search_of_servers_is_the_same_from_the_command_and_the_c_api(rt, run):
    cache = pathlib.Path(rt.env.get("XDG_CACHE_HOME") or rt.home / ".cache") / "resource-tracker"
    library(rt, run, f"servers(4, {str(cache)!r}, vcpus=4, memory_mib=8192, vendors=b'aws,hetzner', arch=b'x86_64',"
                     " order_by=b'run-cost', allocation=b'dedicated')\n")
    found = rt.run("servers", "--json", "-n", "4", "--cpu", "4", "--mem", "8GiB", "--vendor", "aws,hetzner",
                   "--arch", "x86_64", "--order-by", "run-cost", "--allocation", "dedicated").stdout
    assert (rt.home / "library").read_text(encoding="utf-8") == found
    assert len(json.loads(found)["servers"]) == 4


def test_what_changed_is_the_same_from_the_command_and_the_c_api(rt, run):
    library(rt, run, "assert compare(history=sys.argv[3]) == 0")
    told = rt.run("compare", "--json", "@").stdout
    assert (rt.home / "library").read_text(encoding="utf-8") == told
    assert json.loads(told)["figures"]["duration"]["change"] > 0.5
    library(rt, run, "assert compare(of_user=1, fail_on='duration>+5%,peak_mem>+900%') == 1")
    done = rt.run("compare", "--json", "--fail-on", "duration>+5%,peak_mem>+900%", "@")
    assert done.rc == 3 and (rt.home / "library").read_text(encoding="utf-8") == done.stdout
    first = min((rt.state / "runs").iterdir())
    library(rt, run, f"assert compare(**{{'with': {str(first)!r}}}) == 0")
    assert (rt.home / "library").read_text(encoding="utf-8") == rt.run("compare", "--json", first, run).stdout


def test_a_run_alone_has_nothing_to_be_compared_with_in_the_c_api(rt, run):
    with pytest.raises(subprocess.CalledProcessError):
        library(rt, run, "compare()")
    with pytest.raises(subprocess.CalledProcessError):
        library(rt, run, "compare(of_user=1, fail_on='speed>1')")


def test_a_file_of_another_tool_is_imported_by_the_c_api(rt, run):
    (rt.home / "bench.tsv").write_text("s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
                                       "2.0\t0:00:02\t50\t90\t40\t45\t1\t2\t90\t1.8\n")
    call = "library.trk_import(b'bench.tsv', %s, b'imported', None, ctypes.c_size_t(0))"
    library(rt, run, f"assert {call % 'None'} == 1; assert {call % repr(b'snakemake')} == 1; assert {call % repr(b'x')} == -22")
    runs = rt.run("history", "--json", "--recording", rt.home / "imported").stdout
    assert runs.count('"id"') == 1, runs
