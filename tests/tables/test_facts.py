import hashlib

from evenhand.tables import FileFacts, file_facts


def test_facts_of_a_file(tmp_path):
    file = tmp_path / "preds.csv"
    file.write_bytes(b"y,p\n1,1\n" * 100_000)
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    assert file_facts(file) == FileFacts("preds.csv", 800_000, sha256)
    assert file_facts(file, hashed_bytes=1000) == FileFacts("preds.csv", 800_000, None)
