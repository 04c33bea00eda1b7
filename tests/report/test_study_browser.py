"""The page of a study in a real browser: choices, marks, keys, filters, narrow screens, no request."""

import importlib.util
from pathlib import Path

import pytest

from evenhand.report.study import render

pytestmark = pytest.mark.browser


def shared():
    """The helpers of the other browser tests."""
    place = Path(__file__).with_name("test_browser.py")
    spec = importlib.util.spec_from_file_location("report_browser_helpers", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


helpers = shared()
driver = helpers.driver
opened, column, click = helpers.opened, helpers.column, helpers.click


def visible(driver, selector):
    return driver.execute_script(
        "return [...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility()).length",
        selector,
    )


def choose(driver, select, value):
    found = driver.find_element("css selector", select)
    change = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change'))"
    driver.execute_script(change, found, value)


def tip(driver):
    return driver.find_element("css selector", "#tip").text


def test_the_leader_table_sorts_and_filters(driver, tmp_path, study):
    opened(driver, tmp_path, render(study))
    click(driver, "#leaders-p0 th:nth-child(3) .sort")
    gaps = [float(text.split()[0]) for text in column(driver, "#leaders-p0", 2)]
    assert gaps == sorted(gaps, reverse=True)
    assert len(gaps) == 5
    box = driver.find_element("css selector", "[data-filter=leaders-p0] input")
    box.send_keys("lam")
    assert [text.split()[0] for text in column(driver, "#leaders-p0", 0)] == ["gap"]
    assert driver.find_element("css selector", "[data-filter=leaders-p0] output").text == "1 methods"
    box.clear()
    family = "[data-filter=leaders-p0] select"
    driver.execute_script(
        "const s = document.querySelector(arguments[0]); s.value = 'no difference shown';"
        "s.dispatchEvent(new Event('input', {bubbles: true}))",
        family,
    )
    assert [text.split()[0] for text in column(driver, "#leaders-p0", 0)] == ["laftr"]


def test_problem_and_metric_choose_the_figure(driver, tmp_path, study):
    opened(driver, tmp_path, render(study))
    assert visible(driver, "#frontier figure") == 1
    assert visible(driver, "#leaders table.leaders") == 1
    choose(driver, "#frontier-metric", "odds.max")
    assert visible(driver, "#frontier [data-at-metric='odds.max']") == 1
    assert visible(driver, "#frontier [data-at-metric='tpr.gap']") == 0
    choose(driver, "#frontier-problem", "p1")
    assert visible(driver, "#frontier [data-at-problem=p1] [data-at-metric='odds.max']") == 1
    assert visible(driver, "#frontier figure") == 1
    assert visible(driver, "#leaders-p0") == 1  # every part has its own choice


def test_a_mark_tells_its_run_on_hover(driver, tmp_path, study):
    opened(driver, tmp_path, render(study))
    wanted = next(
        i for i, p in enumerate(study["problems"][0]["points"]) if p["method"] == "gap" and p["seed"] == 5
    )
    mark = driver.find_element("css selector", f"#frontier [data-at-metric='tpr.gap'] [data-i='{wanted}']")
    driver.execute_script("arguments[0].dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))", mark)
    point = study["problems"][0]["points"][wanted]
    assert tip(driver).splitlines()[:3] == [
        "gap · seed 5", point["setting"], f"Accuracy {point['values']['acc']:.4f}",
    ]  # fmt: skip
    assert f"TPR gap {point['values']['tpr.gap']:.4f}" in tip(driver)


def test_the_keyboard_reaches_every_run(driver, tmp_path, study):
    from selenium.webdriver.common.keys import Keys

    opened(driver, tmp_path, render(study))
    figure = driver.find_element("css selector", "#frontier .runs")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", figure)
    figure.send_keys(Keys.ARROW_RIGHT)
    first = tip(driver)
    driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    second = tip(driver)
    assert first != second
    assert first.split()[0] == second.split()[0]  # along one method
    driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert tip(driver).split()[0] != first.split()[0]
    assert "seed" in tip(driver)


def test_a_method_can_be_seen_by_itself(driver, tmp_path, study):
    opened(driver, tmp_path, render(study))
    groups = "#frontier [data-at-problem=p0] figure:not([hidden]) g[data-series]"
    dim = f"return [...document.querySelectorAll('{groups}')]"
    click(driver, "#frontier [data-of='1']")
    pale = driver.execute_script(f"{dim}.map(g => [g.dataset.series, g.classList.contains('dim')])")
    assert all(dimmed == (series != "1") for series, dimmed in pale)
    assert {series for series, _ in pale} == set("01234")
    click(driver, "#frontier [data-of='1']")
    driver.execute_script("document.activeElement.blur()")
    assert not any(driver.execute_script(f"{dim}.map(g => g.classList.contains('dim'))"))


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_sideways_scrolling_and_text_that_can_be_read(
    driver, tmp_path, study, unfinished_study, width, theme
):
    study["problems"][0]["task"] = "t" * 200
    for problem in study["problems"]:
        problem["methods"][1]["method"] = "m" * 120
        problem["groups"][0]["name"] = "g" * 120
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    for body in (study, unfinished_study):
        opened(driver, tmp_path, render(body))
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
    shade = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (shade == "rgb(255, 255, 255)") == (theme == "light")


def test_texts_of_a_figure_stay_inside_it(driver, tmp_path, study):
    size = {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    opened(driver, tmp_path, render(study))
    script = """
    const shown = [...document.querySelectorAll('main svg[viewBox]')].filter(s => s.checkVisibility());
    return shown.flatMap(svg => {
      const [, , w, h] = svg.getAttribute('viewBox').split(' ').map(Number);
      return [...svg.querySelectorAll('text')].filter(t => {
        const b = t.getBBox();
        return b.x < -4 || b.x + b.width > w + 6 || b.y < -4 || b.y + b.height > h + 4;
      }).map(t => t.textContent);
    });"""
    assert driver.execute_script(script) == []


def test_markup_in_names_does_not_run(driver, tmp_path, study):
    bad = "<img src=x onerror=document.title='ran'></script><script>document.title='ran'</script>"
    for problem in study["problems"]:
        problem["task"] = bad
        for point in problem["points"]:
            point["setting"] = bad
    opened(driver, tmp_path, render(study))
    assert driver.title.endswith("evenhand")
    mark = driver.find_element("css selector", "#frontier [data-i='0']")
    driver.execute_script("arguments[0].dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))", mark)
    assert "<img" in tip(driver)
    assert driver.title.endswith("evenhand")
