"""Loaded by Python before a script: writes down which variables, files, programs and hosts the script asks for."""

import json
import os
import sys


def _install():
    target = os.environ.get("KITBAG_RECORD")
    if not target:
        return
    descriptor = os.open(target, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    skill = "/skill/"
    between = ("/os.py", "<frozen os>", "/_collections_abc.py", "<frozen _collections_abc>", "/sitecustomize.py")
    seen = set()

    def write(**record):
        text = json.dumps(record, sort_keys=True)
        if text not in seen:
            seen.add(text)
            os.write(descriptor, text.encode() + b"\n")

    def from_skill():
        """Whether the script itself asks, and not a module of Python for its own purposes."""
        frame = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith(skill):
                return True
            if not name.endswith(between):
                return False
            frame = frame.f_back
        return False

    class Recorded(type(os.environ)):
        def __getitem__(self, key):
            if isinstance(key, str) and from_skill():
                write(kind="variable", name=key)
            return super().__getitem__(key)

        def __contains__(self, key):
            if isinstance(key, str) and from_skill():
                write(kind="variable", name=key)
            return super().__contains__(key)

    os.environ.__class__ = Recorded

    def text_of(path):
        try:
            return os.fsdecode(path)
        except TypeError:
            return None

    def on_event(event, arguments):
        if event == "open":
            path, mode, flags = arguments
            name = None if isinstance(path, int) else text_of(path)
            if name is not None:
                writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
                write(kind="file", path=name, access="write" if writes else "read")
        elif event in ("os.listdir", "os.scandir"):
            path = arguments[0]
            name = "." if path is None else None if isinstance(path, int) else text_of(path)
            if name is not None:
                write(kind="file", path=name, access="list")
        elif event in ("os.mkdir", "os.remove", "os.rmdir", "os.rename", "os.truncate", "os.chmod"):
            name = None if isinstance(arguments[0], int) else text_of(arguments[0])
            if name is not None:
                write(kind="file", path=name, access="make" if event == "os.mkdir" else "write")
        elif event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
            name = text_of(arguments[0])
            if name is not None:
                write(kind="program", path=name)
        elif event == "socket.connect":
            address = arguments[1]
            if isinstance(address, tuple) and len(address) >= 2 and isinstance(address[0], str):
                write(kind="connection", host=address[0], port=address[1])
        elif event == "socket.getaddrinfo":
            host, port = arguments[0], arguments[1]
            if isinstance(host, str) and isinstance(port, int):
                write(kind="connection", host=host, port=port)

    sys.addaudithook(on_event)


_install()
del _install
