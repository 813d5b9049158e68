"""Tests the gallery of the documentation: every job of tests/e2e/gallery.mjs has its pictures, and they are small."""
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs/images/gallery"
LIMIT_BYTES = 1_500_000


def jobs():
    table = (ROOT / "tests/e2e/gallery.mjs").read_text().split("const jobs = {")[1].split("\n};")[0]
    return re.findall(r'^\t"?([a-z-]+)"?: \(\)', table, re.M)


def test_the_page_shows_each_job_wide_and_narrow():
    shown = re.findall(r"\(images/gallery/([^)]+)\)", (ROOT / "docs/gallery.md").read_text())
    assert len(jobs()) == 12
    assert sorted(shown) == sorted(f"{job}{kind}.webp" for job in jobs() for kind in ("", "-phone"))


def test_the_pictures_are_there_and_small():
    sizes = {path.name: path.stat().st_size for path in PICTURES.iterdir()}
    assert sorted(sizes) == sorted(f"{job}{kind}.webp" for job in jobs() for kind in ("", "-phone"))
    assert min(sizes.values()) > 5000
    assert sum(sizes.values()) < LIMIT_BYTES, sizes
