import re

from evenhand.report import model_card


def rows(card):
    return [line for line in card.splitlines() if line.startswith("|")]


def test_sections_and_tables(binary):
    card = model_card.render(binary)
    assert re.findall(r"^#+ .*$", card, re.M) == [
        "## Fairness evaluation",
        "### Groups",
        "### Metrics",
        "### Caveats",
        "### Method",
    ]
    for group in binary["groups"]:
        assert f"| {group['name']} | {group['n']} |" in card
    assert "38 rows (4.2%) have no known group." in card
    assert "male · third" in card
    assert "nan" not in card
    assert "None" not in card


def test_every_row_of_a_table_has_the_same_number_of_cells(binary):
    binary["groups"][0]["name"] = "a | b\n| c"
    binary["metrics"]["tpr.gap"]["decided_by"] = ["x|y", "<script>*bold*</script>"]
    card = model_card.render(binary)
    tables = re.findall(r"(?:^\|.*\n)+", card, re.M)
    assert len(tables) == 2
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1
    assert "a \\| b \\| c" in card
    assert "<script>" not in card


def test_long_lists_of_groups_are_cut(huge):
    card = model_card.render(huge)
    assert "160 more groups are in the full report." in card
    assert len(rows(card)) < 80
