from evenhand.data.shift_registry import SHIFTS


def test_shifts_are_listed_with_their_severities(run):
    rows = run("list", "shifts", "--json").json
    assert [row["key"] for row in rows] == list(SHIFTS)
    assert rows[0]["severities"] == [0.03, 0.06, 0.12, 0.25, 0.5]
    assert rows[0]["most"] is None
    out = run("list", "shifts").out
    assert all(key in out for key in SHIFTS)
    assert "0.03 0.06 0.12 0.25 0.5" in out


def test_one_shift_with_its_formula(run):
    out = run("list", "shifts", "group-share").out
    assert SHIFTS["group-share"].words in out
    assert "group-share:NAME" in out
    assert "no: the same for every seed" in run("list", "shifts", "blur").out
    assert run("list", "shifts", "jpeg", "--json").json["most"] == 0.99


def test_an_unknown_shift_is_told_with_the_nearest(run):
    ran = run("list", "shifts", "blurr")
    assert ran.code == 2
    assert "did you mean 'blur'" in ran.err
