"""Compares what src/ declares of libraries that it loads at run time with their own headers: the parameters and results of
each function, by size and kind, and the constants. test_gpu_declarations.py does the same for NVML, in more detail."""

import json
import re
import subprocess

import pytest

from conftest import ROOT

# Our source files, their headers, and the constants: ours and theirs.
LIBRARIES = {
    "libcurl": (["base/curl.c"], ["curl/curl.h"], "base/curl.h", {
        "TRK_CURL_INFO_RESPONSE_CODE": "CURLINFO_RESPONSE_CODE", "TRK_CURL_HTTP": "CURLPROTO_HTTP",
        "TRK_CURL_HTTPS": "CURLPROTO_HTTPS", "TRK_CURL_SMTP": "CURLPROTO_SMTP", "TRK_CURL_SMTPS": "CURLPROTO_SMTPS",
        "TRK_CURL_SSL_TRY": "CURLUSESSL_TRY", "TRK_CURL_SSL_ALL": "CURLUSESSL_ALL", "TRK_CURL_": "CURLOPT_"}),
    "libpq": (["history/postgres.c"], ["postgresql/libpq-fe.h"], "history/postgres.c",
              {"CONNECTION_OK": "CONNECTION_OK", "PGRES_": "PGRES_"}),
    "sqlite": (["history/sqlite.c"], ["sqlite3.h"], "history/sqlite.h", {"SQLITE_TYPE_NULL": "SQLITE_NULL", "SQLITE_": "SQLITE_"}),
    "libmicrohttpd": (["serve/microhttpd.c"], ["microhttpd.h"], "serve/microhttpd.c",
                      {"USE_SELECT": "MHD_NO_FLAG", "OPTION_": "MHD_OPTION_"}),
    "libdw": (["lines/dwarf.c"], ["elfutils/libdw.h", "dwarf.h"], "lines/dwarf.c",
              {"COMMAND_READ": "DWARF_C_READ", "TAG_INLINED": "DW_TAG_inlined_subroutine",
               "AT_CALL_FILE": "DW_AT_call_file", "AT_CALL_LINE": "DW_AT_call_line"}),
    "zlib": (["base/gzip.c"], ["zlib.h"], None, {}),
}
WIDTH = {"char": 1, "short": 2, "int": 4, "long": 8, "double": "double", "void": "void",
         "uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "int64_t": 8, "uint64_t": 8, "size_t": 8, "ptrdiff_t": 8}


def tree(text):
    done = subprocess.run(["clang", "-std=gnu11", "-D_GNU_SOURCE", f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}", "-w",
                           "-fsyntax-only", "-Xclang", "-ast-dump=json", "-x", "c", "-"],
                          input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def walk(node):
    yield node
    for inner in node.get("inner", []):
        yield from walk(inner)


def kind(type_, headers=()):
    """Of a parameter or result: its width, "pointer", "double", "void" or "...". headers: where its typedef may be."""
    if "*" in type_ or "[" in type_:
        return "pointer"
    words = re.sub(r"\b(const|unsigned|signed|volatile)\b", "", type_).split()
    if not words:
        return 4
    if words[0] == "enum":
        return 4
    if words[0] not in WIDTH and words != ["..."]:
        return resolved(type_, headers)
    return "..." if words == ["..."] else 8 if words[0] == "long" else WIDTH[words[0]]


def split(type_):
    """Result and parameters of a function's type, "int (*)(int, char *)"."""
    depth = 0
    for at in range(len(type_) - 1, -1, -1):
        depth += (type_[at] == ")") - (type_[at] == "(")
        if depth == 0:
            break
    result, inside, parts = re.sub(r"\(\*\)\s*$", "", type_[:at].strip()), type_[at + 1:-1], [""]
    for c in inside:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return kind(result), [kind(p.strip()) for p in parts if p.strip() not in ("void", "")]


def ours(files):
    """Our type of each function: {"curl_easy_init": "struct trk_curl_easy *(*)(void)"}."""
    found = {}
    for file in files:
        for node in walk(tree(f'#include "{file}"\n')):
            parts = node.get("inner", []) if node.get("kind") == "InitListExpr" else []
            names = [n["value"].strip('"') for p in parts[:1] for n in walk(p) if n.get("kind") == "StringLiteral"]
            places = [n for p in parts[1:2] for n in walk(p)
                      if n.get("kind") in ("MemberExpr", "DeclRefExpr") and "(*)" in n["type"].get("desugaredQualType", n["type"]["qualType"])]
            if len(parts) == 2 and names and places:
                found[names[0]] = places[0]["type"]["qualType"]
    assert found
    return found


def theirs(headers):
    """Result and parameters of each function of the headers, with typedefs resolved."""
    found = {}
    for node in walk(tree("".join(f"#include <{h}>\n" for h in headers))):
        if node.get("kind") == "FunctionDecl":
            parameters = [n["type"].get("desugaredQualType", n["type"]["qualType"])
                          for n in node.get("inner", []) if n["kind"] == "ParmVarDecl"]
            result = node["type"]["qualType"].split("(")[0]
            found[node["name"]] = (result, parameters + (["..."] if node.get("variadic") else []))
    return found


def resolved(result, headers):
    """The width of a result that is a typedef or an enumeration."""
    text = "".join(f"#include <{h}>\n" for h in headers) + f"{result} trk_probe(void);\n__typeof__(trk_probe()) *trk_pointer;\n"
    if result.strip() == "void":
        return "void"
    for node in walk(tree(text + f"enum {{ trk_size = sizeof({result}) }};\n")):
        if node.get("name") == "trk_size":
            size = next(n["value"] for n in walk(node) if "value" in n)
            return int(size)
    raise AssertionError(result)


@pytest.mark.parametrize("library", LIBRARIES)
def test_functions_are_declared_as_in_the_header_of_the_library(library):
    files, headers, _, _ = LIBRARIES[library]
    known = theirs(headers)
    for name, type_ in ours(files).items():
        if name.startswith("__cxa"):
            continue
        result, parameters = split(type_)
        their_result, their_parameters = known[name]
        assert parameters == [kind(p, headers) for p in their_parameters], (name, type_, their_parameters)
        if result in ("pointer", "double", "void") or "*" in their_result:
            assert result == ("pointer" if "*" in their_result else their_result.strip()) or \
                (result == "pointer" and resolved(their_result, headers) == 8), (name, type_, their_result)
        else:
            assert result == resolved(their_result, headers), (name, type_, their_result)


@pytest.mark.parametrize("library", [name for name, (*_, constants) in LIBRARIES.items() if constants])
def test_constants_are_those_of_the_header_of_the_library(library):
    _, headers, file, names = LIBRARIES[library]
    text = (ROOT / "src" / file).read_text()
    checks = []
    for ours_, value in re.findall(r"\b([A-Z][A-Z0-9_]+) = ([^,}\n]+?)(?=[,}\n]|\s*/\*)", text):
        prefix = ours_ if ours_ in names else next((p for p in names if p.endswith("_") and ours_.startswith(p)), None)
        if prefix:
            checks.append(f'_Static_assert({names[prefix] + ours_[len(prefix):]} == ({value}), "{ours_}");')
    assert len(checks) >= len(names) - 1, checks
    if library == "libdw":
        checks += ["struct die { void *addr, *unit, *abbrev; long padding; };",
                   "_Static_assert(sizeof(struct die) == sizeof(Dwarf_Die), \"die\");",
                   "struct attribute { unsigned int code, form; void *value, *unit; };",
                   "_Static_assert(sizeof(struct attribute) == sizeof(Dwarf_Attribute), \"attribute\");"]
        for line in ("void *addr, *unit, *abbrev;", "unsigned int code, form;"):
            assert line in text
    tree("#define CURL_DISABLE_DEPRECATION 1\n" + "".join(f"#include <{h}>\n" for h in headers) + "\n".join(checks) + "\n")
