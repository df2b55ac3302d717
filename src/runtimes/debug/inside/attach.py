"""Runs a script with debugpy, connected to a socket: attach.py PLACE FOLDER SCRIPT ARGUMENTS...

PLACE is a port of the sandbox's own loopback interface, or, where there is no sandbox, the path of a Unix socket. The first message on the socket is ours: the line where the script begins, or that there is no debugpy. FOLDER is where debugpy is
if Python itself has none. Nothing listens, and there is no other process: debugpy speaks from inside the script.
"""
import json
import os
import socket
import sys


def main():
    place, folder, script = sys.argv[1:4]
    sys.argv = sys.argv[3:]
    sys.path[0] = os.path.dirname(script)
    connection = reach(place)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    try:
        connect(connection, folder, find_entry(script))
    except ImportError as reason:
        tell(connection, {"missing": str(reason)})
        connection.close()
        os._exit(1)
    sys.excepthook = show_without_us(sys.excepthook)
    run(script)


def reach(place):
    if place.isdigit():
        return socket.create_connection(("127.0.0.1", int(place)))
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(place)
    return connection


def connect(connection, folder, entry):
    before = list(sys.path)
    sys.path.append(folder)
    import debugpy
    import debugpy.server.api  # noqa: F401
    import pydevd

    # The script finds the packages that it would find without a debugger.
    sys.path[:] = before
    if not hasattr(pydevd, "start_client"):
        raise ImportError("this version of debugpy connects in another way")
    tell(connection, {"entry": entry})
    pydevd.start_client = lambda host, port: connection
    debugpy.configure(subProcess=False)
    debugpy.connect(("127.0.0.1", 1))
    debugpy.wait_for_client()


def tell(connection, body):
    text = json.dumps({"type": "event", "event": "kitbag", "body": body}).encode()
    connection.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))


def find_entry(script):
    """The line that is run first; none if the script has no line, or cannot be read."""
    import ast

    try:
        with open(script, "rb") as file:
            first = ast.parse(file.read()).body[0]
    except Exception:
        return 0
    return min([first.lineno] + [each.lineno for each in getattr(first, "decorator_list", [])])


def show_without_us(show):
    def hook(kind, value, trace):
        while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        show(kind, value.with_traceback(trace), trace)

    return hook


def run(script):
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec", dont_inherit=True)
    import types

    module = types.ModuleType("__main__")
    module.__file__ = script
    module.__builtins__ = __builtins__
    sys.modules["__main__"] = module
    exec(code, module.__dict__)


if __name__ == "__main__":
    main()
