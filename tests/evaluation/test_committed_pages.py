"""The committed pages of several studies are, to the byte, what the committed studies say."""

import re
import shutil
from pathlib import Path

import pytest

from evenhand.evaluation.compression.__main__ import main as compression
from evenhand.evaluation.fixed_seed.__main__ import main as fixed_seed
from evenhand.evaluation.many_attributes.__main__ import main as many_attributes

ROOT = Path(__file__).parents[2]
PAGES = {
    "many-attributes": (many_attributes, "studies/results"),
    "fixed-seed": (fixed_seed, "studies/results/fixed-seed"),
    "compression": (compression, "studies/results"),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_committed_page_is_what_its_committed_studies_say(name, tmp_path):
    write, out = PAGES[name]
    page, results = Path("docs") / "studies" / f"{name}.md", Path(out)
    text = (ROOT / page).read_text(encoding="utf-8")
    told = re.findall(r"^### (\S+)$", text, flags=re.MULTILINE)
    studies = [ROOT / results / one for one in told if (ROOT / results / one / "study.json").is_file()]
    assert studies
    for path in (page, Path("docs") / "claims.csv"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    claims = tmp_path / "docs" / "claims.csv"
    asked = ["--page", tmp_path / page, "--out", tmp_path / results, "--claims", claims]
    assert write([str(one) for one in [*studies, *asked]]) == 0
    files = [path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 15
    assert [str(path) for path in files if (tmp_path / path).read_bytes() != (ROOT / path).read_bytes()] == []
