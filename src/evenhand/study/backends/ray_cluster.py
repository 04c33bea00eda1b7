"""The connection to a Ray cluster, or a small one of our own, and how much there is room for."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from math import ceil, inf
from pathlib import Path
from typing import Any

from evenhand.errors import InputError

STORE_BYTES = 100 * 2**20  # records are small; by default Ray takes a third of the machine's memory
CLIENT = "ray://"
RAY_SETTINGS = ("RAY_AUTH_MODE", "RAY_USAGE_STATS_ENABLED", "PYTHONBREAKPOINT")


def import_ray() -> Any:
    """The package, or what to install."""
    try:
        return import_module("ray")
    except ImportError as error:
        raise InputError(
            "the backend 'ray' needs the package ray, which is not installed; "
            "install it with: pip install 'evenhand[ray]'"
        ) from error


@contextmanager
def connected(
    address: str | None, cpus: float | None = None, runtime_env: Mapping[str, Any] | None = None
) -> Iterator[Any]:
    """Ray, ready for use. What was begun here is ended here: a session of the caller's own is left alone.

    `cpus` is how many a cluster of our own (address None) has; by default those of the machine.
    """
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    _check_answers(address or "")
    settings = dict(os.environ)
    with _quiet():
        _connect(ray, address, cpus, dict(runtime_env or {}))
    try:
        yield ray
    finally:
        ray.shutdown()
        _forget(settings)


def _forget(settings: Mapping[str, str]) -> None:
    """The settings that Ray made for a cluster (its token is wanted) would keep us out of the next one."""
    for name in RAY_SETTINGS:
        os.environ.pop(name, None)
        os.environ.update({name: settings[name]} if name in settings else {})
    with suppress(ImportError, AttributeError):  # an older Ray reads the environment every time
        inner = import_module("ray._raylet")
        inner.Config.initialize("")
        inner.AuthenticationTokenLoader.instance().reset_cache()


def _check_answers(address: str) -> None:
    """Ray waits for more than a minute where nobody listens."""
    host, _, port = address.rpartition(":")
    if not host or address.startswith(CLIENT) or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except OSError as error:
        raise InputError(f"{_no_answer(address)} ({_first_line(error)})") from error


def _connect(ray: Any, address: str | None, cpus: float | None, runtime_env: dict[str, Any]) -> None:
    own = {"object_store_memory": STORE_BYTES, "include_dashboard": False, "num_cpus": cpus and ceil(cpus)}
    silence = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        ray.init(
            address=address or "local",
            runtime_env=runtime_env or None,
            **(own if address is None else {}),
            **({} if (address or "").startswith(CLIENT) else silence),  # the client takes no such options
        )
    except (OSError, RuntimeError, ValueError, ImportError, TimeoutError) as error:
        where = "a local Ray cluster could not be started" if address is None else _no_answer(address)
        raise InputError(f"{where} ({_first_line(error)})") from error


def _no_answer(address: str) -> str:
    hint = "the Ray client has port 10001 by default and needs: pip install 'ray[client]'"
    other = "'ray status --address=...' on this machine should show it; 'auto' is a cluster that runs here"
    return f"no Ray cluster answers at {address!r}; {hint if address.startswith(CLIENT) else other}"


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


@contextmanager
def _quiet() -> Iterator[None]:
    """Ray connects without a word, and without taking over what belongs to the program around it."""
    logger = logging.getLogger("ray")
    module: Any = import_module("ray._private.worker")
    level, listen = logger.level, getattr(module, "listen_error_messages", None)
    in_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGTERM) if in_main else None
    logger.setLevel(logging.ERROR)
    if listen is not None:  # it prints every worker's death to standard output, and has no switch
        module.listen_error_messages = lambda *_: None
    try:
        with warnings.catch_warnings():
            # Notices about coming defaults of Ray are for us when we pin it, not for the user of a study.
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
        if listen is not None:
            module.listen_error_messages = listen
        if handler is not None:  # Ray ends the process upon SIGTERM; the program may want to save first
            signal.signal(signal.SIGTERM, handler)


def room(nodes: Iterable[Mapping[str, Any]], cpus: float, gpus: float) -> int:
    """How many workers the living nodes hold at a time, as `ray.nodes()` tells them.

    >>> node = {"Alive": True, "Resources": {"CPU": 8.0, "GPU": 2.0}}
    >>> room([node, {**node, "Alive": False}], cpus=1, gpus=0), room([node, node], cpus=1, gpus=0.5)
    (8, 8)
    """
    return sum(_room_of(node["Resources"], cpus, gpus) for node in nodes if node["Alive"])


def _room_of(resources: Mapping[str, float], cpus: float, gpus: float) -> int:
    # A third of a GPU three times is a whole one: Ray counts in units of 1/10,000.
    by_cpu = resources.get("CPU", 0.0) / cpus
    by_gpu = resources.get("GPU", 0.0) / gpus if gpus else inf
    return int(min(by_cpu, by_gpu) + 1e-3)


def shipped(runtime_env: Mapping[str, Any] | None) -> dict[str, Any]:
    """A runtime environment that brings this evenhand along, for nodes where it is not installed."""
    package = Path(__file__).parents[2]
    given = dict(runtime_env or {})
    return {**given, "py_modules": [*given.get("py_modules", []), str(package)]}
