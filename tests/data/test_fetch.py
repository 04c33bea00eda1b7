"""Finding and downloading files, against a real server on this machine that misbehaves on request."""

import hashlib
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from evenhand.data import cache, fetch
from evenhand.data.cache import Source, find, find_any
from evenhand.data.registry import load
from evenhand.errors import InputError

CONTENT = bytes(range(256)) * 4000  # 1 MB, so that a cut falls between two pieces


class Server(ThreadingHTTPServer):
    """What the next requests get: `cuts` of them stop half-way; `status` may be an error; `ranges` or not."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content, self.cuts, self.ranges, self.status, self.asked = CONTENT, 0, True, 200, []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/file.bin"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and server.ranges else 0
        if server.status != 200:
            self.send_error(server.status)
            return
        if start >= len(server.content):
            self.send_error(416)
            return
        body = server.content[start:]
        self.send_response(206 if start else 200)
        if start:
            self.send_header(
                "Content-Range", f"bytes {start}-{len(server.content) - 1}/{len(server.content)}"
            )
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if server.cuts:
            server.cuts -= 1
            body = body[: len(body) // 2]
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    running = Server()
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """An own cache and no other data; no waiting between attempts."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("EVENHAND_DATA", raising=False)
    monkeypatch.setattr(fetch, "PAUSE", 0.0)
    return tmp_path


def source_of(server, **changes) -> Source:
    given = {"name": "file.bin", "urls": (server.url,), "sha256": hashlib.sha256(CONTENT).hexdigest()}
    return Source(**{**given, **changes})


def test_a_file_is_downloaded_once_and_then_found(server, folders):
    seen = []
    path = find(source_of(server), progress=lambda *told: seen.append(told))
    assert path == folders / "cache" / "file.bin"
    assert path.read_bytes() == CONTENT
    assert seen[-1] == ("file.bin", len(CONTENT), len(CONTENT))
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert find(source_of(server)) == path
    assert server.asked == [None]
    assert not path.with_name("file.bin.part").exists()


def test_a_cut_connection_is_resumed_where_it_stopped(server):
    server.cuts = 2
    assert find(source_of(server)).read_bytes() == CONTENT
    half = len(CONTENT) // 2
    assert server.asked == [None, f"bytes={half}-", f"bytes={half + half // 2}-"]


def test_what_arrived_is_kept_for_the_next_call(server, folders, monkeypatch):
    monkeypatch.setattr(fetch, "ATTEMPTS", 1)
    server.cuts = 1
    with pytest.raises(InputError, match=r"was cut after 512,000 of 1,024,000 bytes"):
        find(source_of(server))
    assert (folders / "cache" / "file.bin.part").read_bytes() == CONTENT[:512_000]
    assert find(source_of(server)).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=512000-"]


def test_a_server_without_ranges_starts_the_file_anew(server):
    server.cuts, server.ranges = 1, False
    assert find(source_of(server)).read_bytes() == CONTENT
    assert server.asked == [None, "bytes=512000-"]


def test_a_part_that_was_whole_is_not_fetched_again(server, folders):
    (folders / "cache").mkdir()
    (folders / "cache" / "file.bin.part").write_bytes(CONTENT)
    assert find(source_of(server, size=len(CONTENT))).read_bytes() == CONTENT
    assert server.asked == []


@pytest.mark.parametrize("left", [b"x" * len(CONTENT), b"too long" * len(CONTENT), b"another file"])
def test_the_remains_of_another_file_do_no_harm(server, folders, left):
    (folders / "cache").mkdir()
    (folders / "cache" / "file.bin.part").write_bytes(left)
    assert find(source_of(server)).read_bytes() == CONTENT


@pytest.mark.parametrize("algorithm", ["sha256", "md5"])
def test_a_wrong_checksum_is_refused_with_both_sums_and_leaves_nothing(server, folders, algorithm):
    server.content = CONTENT[::-1]
    expected, arrived = (hashlib.new(algorithm, content).hexdigest() for content in (CONTENT, CONTENT[::-1]))
    with pytest.raises(InputError) as caught:
        find(source_of(server, **{"sha256": "", algorithm: expected}))
    assert expected in str(caught.value)
    assert arrived in str(caught.value)
    assert sorted(path.name for path in (folders / "cache").iterdir()) == ["file.bin.lock"]
    assert len(server.asked) == 1  # the same bytes would come again


def test_the_second_address_serves_where_the_first_does_not(server):
    both = source_of(server, urls=(server.url.replace(str(server.server_address[1]), "1"), server.url))
    assert find(both).read_bytes() == CONTENT


def test_without_a_network_the_message_says_what_to_do(server, folders):
    port = server.server_address[1]
    nobody = source_of(server, urls=(server.url.replace(str(port), "1"),))  # nobody listens on port 1
    with pytest.raises(InputError) as caught:
        find(nobody)
    said = str(caught.value)
    for word in ("file.bin could not be downloaded", nobody.urls[0], "refused", str(folders / "cache")):
        assert word in said
    assert said.endswith("into a folder that the environment variable EVENHAND_DATA names")


@pytest.mark.parametrize(("status", "tries"), [(404, 1), (403, 1), (503, 3), (429, 3)])
def test_only_passing_troubles_are_tried_again(server, status, tries):
    server.status = status
    with pytest.raises(InputError, match=f"the server answered {status}"):
        find(source_of(server))
    assert len(server.asked) == tries


def test_a_file_without_an_address_has_to_be_put_in_place(folders):
    with pytest.raises(
        InputError, match=r"no file faces\.npz, and it has no address\. What to do: put it as faces"
    ):
        find(Source("faces.npz", sha256="0" * 64))


def test_two_at_once_download_once(server):
    source, found = source_of(server), []
    threads = [threading.Thread(target=lambda: found.append(find(source))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(server.asked) == 1


def test_folders_of_the_user_come_before_the_cache(server, folders, monkeypatch):
    first, second = folders / "first", folders / "second"
    second.mkdir()
    (second / "file.bin").write_bytes(CONTENT)
    monkeypatch.setenv("EVENHAND_DATA", os.pathsep.join([str(first), str(second)]))
    assert find(source_of(server)) == second / "file.bin"
    assert server.asked == []


def test_a_wrong_file_in_a_folder_is_refused_and_nothing_takes_its_place(server, folders, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(folders))
    (folders / "file.bin").write_bytes(b"wrong")
    wrong = hashlib.sha256(b"wrong").hexdigest()
    with pytest.raises(InputError, match=rf"{wrong}, expected {source_of(server).sha256}"):
        find(source_of(server))
    assert server.asked == []


def test_of_several_forms_the_one_on_disk_is_taken(server, folders, monkeypatch):
    prepared = Source("prepared.npz", sha256=hashlib.sha256(b"prepared").hexdigest())
    official = source_of(server)
    assert list(find_any([prepared], [official])) == ["file.bin"]  # neither is there: the one with an address
    monkeypatch.setenv("EVENHAND_DATA", str(folders))
    (folders / "prepared.npz").write_bytes(b"prepared")
    assert find_any([prepared], [official]) == {"prepared.npz": folders / "prepared.npz"}
    assert find_any([official], [prepared]) == {"file.bin": folders / "cache" / "file.bin"}


def test_a_form_counts_only_when_all_of_its_files_are_there(server, folders, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(folders))
    (folders / "one.bin").write_bytes(b"one")
    one = Source("one.bin", sha256=hashlib.sha256(b"one").hexdigest())
    assert list(find_any([one, Source("two.bin", sha256="0" * 64)], [source_of(server)])) == ["file.bin"]


def test_packaged_files_need_no_folder(monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", "nowhere")
    source = Source("titanic.csv.gz", sha256=cache.CHECKSUMS["titanic.csv.gz"])
    assert find(source) == cache.FOLDER / "titanic.csv.gz"


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/evenhand"),
        ("linux", {}, "/home/somebody/.cache/evenhand"),
        ("darwin", {}, "/home/somebody/Library/Caches/evenhand"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/evenhand"),
        ("linux", {"EVENHAND_CACHE": "/mine"}, "/mine"),
    ],
)
def test_the_cache_is_where_the_system_keeps_caches(monkeypatch, platform, variables, expected):
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "EVENHAND_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/somebody", **variables}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(cache.sys, "platform", platform)
    assert cache.cache_folder().as_posix() == expected


def test_a_terminal_shows_a_bar(server, monkeypatch, capsys):
    monkeypatch.setattr(fetch.sys.stderr, "isatty", lambda: True, raising=False)
    with fetch._shown(source_of(server), None) as tell:
        tell("file.bin", 10, 100)
    assert "file.bin" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["celeba", "fairface", "utkface", "imagenet-people"])
def test_a_data_folder_that_is_none_is_told_of_before_anything_is_missed(name, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path / "dta"))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InputError, match=r"EVENHAND_DATA names .*dta, which is no folder; name the one"):
        load(name)
