"""The pages in a real browser: no error, no request, and what can be clicked works."""

import json
import shutil
from pathlib import Path

import pytest

from evenhand.report import audit
from evenhand.report import paper_page as made
from evenhand.report.comparison import render as render_comparison
from evenhand.report.study_tables import Table
from evenhand.report.tradeoff import render as render_tradeoff

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--window-size=1280,900",
)
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver")
    if not (CHROMIUM.exists() and DRIVER.exists()):
        pytest.skip("no chromium")
    from selenium.webdriver.chrome.service import Service

    profile = tmp_path_factory.mktemp("profile")
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = Service(str(DRIVER))
    opened = webdriver.Chrome(service=service, options=options)
    # a window that has not the focus, as some headless ones start, tells its page of no focus
    opened.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    yield opened
    opened.quit()
    shutil.rmtree(profile, ignore_errors=True)


def opened(driver, tmp_path, page):
    path = tmp_path / "report.html"
    path.write_text(page, "utf-8")
    driver.get("about:blank")
    driver.get_log("performance")
    driver.get_log("browser")
    driver.get(path.as_uri())
    sent = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith(("data:", "chrome:"))] == [path.as_uri()]
    assert driver.get_log("browser") == []


def column(driver, table, number):
    """The texts of the rows that are in view."""
    rows = f"[...document.querySelectorAll('{table} tbody tr:not([data-fixed])')].filter(r => r.offsetParent)"
    return driver.execute_script(f"return {rows}.map(r => r.cells[{number}].innerText)")


def click(driver, selector):
    driver.execute_script("document.querySelector(arguments[0]).click()", selector)


def test_tables_sort_by_click_with_dashes_last(driver, tmp_path, binary):
    opened(driver, tmp_path, audit.render(binary))
    binary["metrics"]["tpr.gap"]["value"] = None
    opened(driver, tmp_path, audit.render(binary))
    head = "#metrics-table th:nth-child(2) .sort"
    click(driver, head)
    down = column(driver, "#metrics-table", 1)
    assert down[-1] == "–"
    assert [float(x) for x in down[:-1]] == sorted((float(x) for x in down[:-1]), reverse=True)
    assert (
        driver.find_element("css selector", "#metrics-table th:nth-child(2)").get_attribute("aria-sort")
        == "descending"
    )
    click(driver, head)
    up = column(driver, "#metrics-table", 1)
    assert up[:-1] == down[:-1][::-1] or [float(x) for x in up[:-1]] == sorted(float(x) for x in up[:-1])
    assert up[-1] == "–"


def test_sorting_by_keyboard_leaves_all_rows_at_the_top(driver, tmp_path, binary):
    from selenium.webdriver.common.keys import Keys

    opened(driver, tmp_path, audit.render(binary))
    driver.find_element("css selector", "#groups th:nth-child(2) .sort").send_keys(Keys.ENTER)
    counts = [int(x) for x in column(driver, "#groups table", 1)]
    assert counts == sorted(counts, reverse=True)
    assert driver.find_element("css selector", "#groups tbody tr:first-child th").text == "all rows"


def test_filter_by_words_and_family(driver, tmp_path, binary):
    opened(driver, tmp_path, audit.render(binary))
    box = driver.find_element("css selector", "[data-filter=metrics-table] input")
    box.send_keys("fpr gap")
    visible = [x for x in column(driver, "#metrics-table", 0) if x]
    assert len(visible) == 1
    assert "fpr.gap" in visible[0]
    assert driver.find_element("css selector", "[data-filter=metrics-table] output").text == "1 metrics"


def test_theme_toggle_changes_the_ground(driver, tmp_path, binary):
    opened(driver, tmp_path, audit.render(binary))
    ground = "return getComputedStyle(document.body).backgroundColor"
    before = driver.execute_script(ground)
    click(driver, "#theme")
    between = driver.execute_script(ground)
    click(driver, "#theme")
    assert before != between
    assert driver.execute_script(ground) == before


def test_definition_on_focus_and_interval_by_arrow_keys(driver, tmp_path, binary):
    from selenium.webdriver.common.keys import Keys

    opened(driver, tmp_path, audit.render(binary))
    driver.execute_script("document.querySelector('#metrics-table .def').focus()")
    tip = driver.find_element("css selector", "#tip")
    assert "ideal" in tip.text
    cell = driver.find_element("css selector", "#groups tbody td")
    driver.execute_script("arguments[0].focus({preventScroll: true})", cell)
    cell.send_keys(Keys.ARROW_DOWN)
    driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert "interval" in tip.text
    assert binary["groups"][0]["name"] in tip.text


def test_show_all_and_switch(driver, tmp_path, huge):
    opened(driver, tmp_path, audit.render(huge))
    rows = "return [...document.querySelectorAll('#groups tbody tr')].filter(r => r.offsetParent).length"
    assert driver.execute_script(rows) == 31
    click(driver, "#groups [data-more]")
    assert driver.execute_script(rows) == 201
    panels = "return [...document.querySelectorAll('#groups [data-panel]')].map(p => p.hidden)"
    assert driver.execute_script(panels)[:2] == [False, True]
    click(driver, "#groups [data-show]:nth-of-type(2)")
    assert driver.execute_script(panels)[:2] == [True, False]


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_never_scroll_sideways(driver, tmp_path, binary, comparison, tradeoff, width):
    binary["groups"][0]["name"] = "x" * 300
    tradeoff["methods"][1]["name"] = "y" * 300
    for page in (audit.render(binary), render_comparison(comparison), render_tradeoff(tradeoff)):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        opened(driver, tmp_path, page)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_markup_in_names_does_not_run(driver, tmp_path, binary):
    for group in binary["groups"]:
        group["name"] = "<img src=x onerror=document.title='ran'><script>document.title='ran'</script>"
    opened(driver, tmp_path, audit.render(binary))
    assert driver.title.endswith("evenhand")


def test_a_mark_of_the_tradeoff_tells_its_seed_and_tables_sort(driver, tmp_path, tradeoff):
    opened(driver, tmp_path, render_tradeoff(tradeoff))
    mark = driver.find_element("css selector", "#tradeoff svg [data-tip*='seed 2']")
    over = "arguments[0].dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))"
    driver.execute_script(over, mark)
    tip = driver.find_element("css selector", "#tip").text
    assert "seed 2" in tip
    assert "accuracy 0.8" in tip
    click(driver, "#methods-table th:nth-child(2) .sort")
    accuracies = [float(text.split()[0]) for text in column(driver, "#methods-table", 1)]
    assert accuracies == sorted(accuracies, reverse=True)


def test_names_in_the_tradeoff_figure_cover_nothing(driver, tmp_path, tradeoff):
    opened(driver, tmp_path, render_tradeoff(tradeoff))
    boxes = "t => { const b = t.getBBox(); return [b.x, b.y, b.x + b.width, b.y + b.height]; }"
    names = f"svg => [...svg.querySelectorAll('text[font-weight]')].map({boxes})"
    figures = driver.execute_script(f"return [...document.querySelectorAll('#tradeoff svg')].map({names})")
    assert len(figures) == 2
    for boxes in figures:
        assert len(boxes) == 4
        for i, one in enumerate(boxes):
            for other in boxes[i + 1 :]:
                apart = (
                    one[2] <= other[0]
                    or other[2] <= one[0]
                    or one[3] <= other[1] + 2
                    or other[3] <= one[1] + 2
                )
                assert apart, (one, other)


def test_a_wide_table_of_a_papers_page_folds_its_heads_and_shows_that_there_is_more(driver, tmp_path):
    heads = ("Subgroup", *(f"a number with a long name of its own {i}" for i in range(9)))
    narrow = Table("narrow", heads, (("all", *["0.5"] * 9),))
    wide = Table("wide", heads, (("all", *["0.5000 ± 0.1000 (0.4000 to"] * 9),))
    parts = [*made.table(narrow), *made.table(wide)]
    page = made.render(made.Head("k", "T", (), ()), [made.Section("one", "One", parts)])
    opened(driver, tmp_path, page)
    widths = driver.execute_script(
        "return [...document.querySelectorAll('.scroll')].map(one => [one.scrollWidth, one.clientWidth, "
        "getComputedStyle(one).backgroundImage])"
    )
    (own, room, _), (more, less, shadow) = widths
    assert own <= room
    assert more > less
    assert shadow.count("linear-gradient") == 2
