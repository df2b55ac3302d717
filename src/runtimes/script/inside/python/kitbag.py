"""Talk to Kitbag from a Python tool.

    import kitbag

    kitbag.progress("reading", done=1, total=10)   # how far the work is
    kitbag.log("found 3 files", {"files": 3})       # for whoever watches; the model does not see it
    kitbag.stream("first part\n")                   # a piece of the output, before the end
    kitbag.spend(0.002)                             # this call cost so much, or so much more: US dollars
    count = kitbag.state.get("count", 0)            # kept from one call to the next, for this tool
    kitbag.state.set("count", count + 1, expires_in_ms=3600000)
    kitbag.skill_state.list("user/")                # shared by all tools of the skill
    text = kitbag.call("read-page", {"url": url})   # another tool; raises kitbag.KitbagError if it fails
    token = kitbag.secret("GITHUB_TOKEN")           # None if nobody gave it; needs the permission env
    name = kitbag.user()                            # who made the call; None if it names no user

The result of the tool is what it prints. Safe to use from several threads: they wait for each other.
"""

import json
import os
import sys
import threading

__all__ = ["KitbagError", "available", "call", "log", "progress", "secret", "skill_state", "spend", "state", "stream", "user"]


class KitbagError(Exception):
    """What Kitbag answered when it could not do what it was asked for."""

    def __init__(self, message, code="kitbag-missing", details=None):
        super().__init__(message)
        self.code = code
        self.details = details


def _show(kind, problem, trace):
    """Prints a refusal that the script does not handle: why it was refused first, then where, without the lines of this file."""
    if not isinstance(problem, KitbagError):
        return sys.__excepthook__(kind, problem, trace)
    import traceback

    places = [place for place in traceback.extract_tb(trace) if place.filename != __file__]
    print(f"{kind.__module__}.{kind.__qualname__}: {problem}", *traceback.format_list(places), sep="\n", end="", file=sys.stderr)


if sys.excepthook is sys.__excepthook__:
    sys.excepthook = _show

_lock = threading.Lock()
_last_id = 0
_rest = b""


def available():
    """Whether this script runs in Kitbag."""
    return "KITBAG_FD" in os.environ


def _descriptor():
    if not available():
        raise KitbagError("This script does not run in Kitbag: KITBAG_FD is not set. Call it with: kitbag call <skill/tool>")
    return int(os.environ["KITBAG_FD"])


def _write(message):
    data = (json.dumps(message) + "\n").encode()
    descriptor = _descriptor()
    try:
        while data:
            data = data[os.write(descriptor, data):]
    except OSError as cause:
        raise KitbagError("Kitbag does not listen any more", "kitbag-gone") from cause


def _read_line():
    global _rest
    while b"\n" not in _rest:
        try:
            piece = os.read(_descriptor(), 65536)
        except OSError as cause:
            raise KitbagError("Kitbag does not answer any more", "kitbag-gone") from cause
        if not piece:
            raise KitbagError("Kitbag does not answer any more", "kitbag-gone")
        _rest += piece
    line, _rest = _rest.split(b"\n", 1)
    return line


def _request(method, **params):
    global _last_id
    with _lock:
        _last_id += 1
        own = _last_id
        _write({"jsonrpc": "2.0", "id": own, "method": method, "params": params})
        while True:
            answer = json.loads(_read_line())
            # Answers without an id tell of messages that could not be read.
            if answer.get("id") in (own, None):
                break
    if "error" in answer:
        error = answer["error"]
        data = error.get("data") or {}
        raise KitbagError(error.get("message", "Kitbag refused"), data.get("code", "rpc"), data.get("details"))
    return answer.get("result")


def _notify(method, **params):
    with _lock:
        _write({"jsonrpc": "2.0", "method": method, "params": params})


class _State:
    def __init__(self, scope):
        self._scope = scope

    def _ask(self, method, **params):
        return _request("state." + method, scope=self._scope, **params)

    def get(self, key, default=None):
        """What is kept under a key."""
        entry = self._ask("read", key=key)
        return default if entry is None else entry["value"]

    def read(self, key):
        """What is kept under a key with its version, or None."""
        return self._ask("read", key=key)

    def set(self, key, value, expires_in_ms=None):
        """Keeps a value, and answers with its version."""
        return self._ask("set", key=key, value=value, expiresInMs=expires_in_ms)

    def delete(self, key):
        """Answers whether there was something to delete."""
        return self._ask("delete", key=key)

    def list(self, prefix="", after=None, limit=None):
        """Entries whose keys begin with prefix, each with key, value and version."""
        return self._ask("list", prefix=prefix, after=after, limit=limit)

    def compare_and_set(self, key, version, value, expires_in_ms=None):
        """Writes only if the version is still there (0: nothing is); answers whether it did.

        {"version": version} is the same; {"value": old} writes only over this value.
        """
        expected = {"version": version}
        if isinstance(version, dict):
            expected = {"expected": version["value"]} if "value" in version else version
        return self._ask("compareAndSet", key=key, value=value, expiresInMs=expires_in_ms, **expected)

    def update(self, key, change, default=None):
        """Writes what change makes of the value, also when others write at the same time; answers with it."""
        while True:
            entry = self.read(key)
            value = change(default if entry is None else entry["value"])
            if self.compare_and_set(key, 0 if entry is None else entry["version"], value):
                return value


state = _State("tool")
skill_state = _State("skill")


def progress(message=None, done=None, total=None):
    """Tells how far the work is."""
    _notify("progress", message=message, done=done, total=total)


def log(message, data=None):
    """Says something about the work."""
    _notify("log", message=str(message), data=data)


def stream(chunk):
    """Hands on a piece of the output while the tool runs."""
    _notify("stream", chunk=chunk)


def spend(cost_usd):
    """Says that this call has cost so much, or so much more, in US dollars."""
    _notify("spend", costUsd=cost_usd)


def call(tool, input=None):
    """Calls another tool and answers with its output."""
    return _request("call", tool=tool, input={} if input is None else input)


def secret(name):
    """The value of a secret that the tool may see, or None."""
    return _request("secret", name=name)


def user():
    """Who made the call, or None if it names no user."""
    return _request("user")
