"""Starts Python scripts in children of an interpreter that is already there, each in namespaces of its own.

Runs inside the sandbox with the right to make namespaces. Orders come as lines of JSON on descriptor 3, and answers go back the same
way. The streams of a call are files in /run/calls, a directory that no script ever sees. A child is another user namespace, process
tree, mount tree, host name and network; it has no rights, and the same filter as any other tool. Nothing that a script could have
written is imported here: this process has rights that no script may have.
"""

import ctypes
import fcntl
import gc
import json
import os
import select
import signal
import socket
import sys

# Most scripts import some of these, and then need not load them.
import argparse, base64, collections, contextlib, csv, dataclasses, datetime, enum, functools, hashlib, io, itertools  # noqa: E401, F401
import logging, math, pathlib, random, re, resource, shutil, string, subprocess, tempfile, textwrap, threading, time, traceback  # noqa: E401, F401
import types, typing, urllib.parse, urllib.request, uuid  # noqa: E401, F401

from call_memory import end_large, read_memory

CALLS = "/run/calls"
FOLDERS = "/run/folders"
WORK = "/opt/kitbag/call"
NEW_MOUNTS, NEW_NAMES, NEW_IPC, NEW_USERS, NEW_PIDS, NEW_NETWORK = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
PRIVATE, RECURSIVE, BIND, NO_SETUID, NO_DEVICES, NO_PROGRAMS = 1 << 18, 1 << 14, 1 << 12, 2, 4, 8
WATCH_SECONDS = 0.1
NO_PROGRAM_IN_MEMORY = 8
CLONE = {"x86_64": 56, "aarch64": 220}[os.uname().machine]

python = ctypes.PyDLL(None, use_errno=True)


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def check(result):
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def serve():
    settings = json.loads(os.environ.pop("KITBAG_SERVER"))
    with open("/opt/kitbag/warm/filter", "rb") as file:
        filter_bytes = file.read()
    python.prctl(4, 0, 0, 0, 0)
    orders = socket.socket(fileno=3)
    ends = {}
    gc.collect()
    gc.freeze()
    orders.sendall(b'{"ready":true}\n')
    wake, wake_write = os.pipe()
    os.set_blocking(wake_write, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    waiting = b""
    large = set()
    busy = set()
    watched = time.monotonic()
    own, _ = read_memory("self")
    while True:
        ready, _, _ = select.select([3, wake], [], [], WATCH_SECONDS if busy else None)
        if wake in ready:
            os.read(wake, 4096)
        if 3 in ready:
            piece = orders.recv(1 << 20)
            if not piece:
                os._exit(0)
            waiting += piece
            *lines, waiting = waiting.split(b"\n")
            for line in lines:
                obey(json.loads(line), ends, busy, settings, filter_bytes, orders)
        gather(ends, large, busy, orders)
        if busy and time.monotonic() - watched > WATCH_SECONDS:
            watched = time.monotonic()
            end_large(ends, large, settings, own)


def obey(order, ends, busy, settings, filter_bytes, orders):
    if "run" in order:
        busy.add(order["run"])
        return
    if "kill" in order:
        for pid, call in ends.items():
            if call == order["kill"]:
                os.kill(pid, signal.SIGKILL)
        return
    try:
        ends[start(order["prepare"], order.get("folder"), settings, filter_bytes)] = order["prepare"]
    except OSError as cause:
        answer(orders, {"id": order["prepare"], "failed": str(cause)})


def gather(ends, large, busy, orders):
    while ends:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        call = ends.pop(pid, None)
        if call is not None:
            answer(orders, {"id": call, "status": os.waitstatus_to_exitcode(status), "outOfMemory": pid in large})
            large.discard(pid)
            busy.discard(call)


def answer(orders, message):
    orders.sendall(json.dumps(message).encode() + b"\n")


def start(call, folder, settings, filter_bytes):
    flags = NEW_MOUNTS | NEW_NAMES | NEW_IPC | NEW_USERS | NEW_PIDS | NEW_NETWORK | signal.SIGCHLD
    pid = python.syscall(CLONE, flags, None, None, None, None)
    if pid < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if pid > 0:
        return pid
    try:
        be_first(call, folder, settings, filter_bytes)
    except BaseException:  # The child must never go on as a server.
        traceback.print_exc()
    os._exit(125)


def be_first(call, folder, settings, filter_bytes):
    """The first process of the new tree: makes it, lets a child wait in it for its script, and ends as the script ended."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # The kernel keeps signals of the script from this process, except those that it listens to.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The server hides its own files of /proc; this process must write some of its own.
    python.prctl(4, 1, 0, 0, 0)
    own_user()
    path = f"{CALLS}/{call}"
    streams = [os.open(f"{path}.{name}", flag) for name, flag in (("out", os.O_WRONLY), ("err", os.O_WRONLY))]
    channel = socket.socket(socket.AF_UNIX)
    channel.connect(f"{CALLS}/channel")
    raise_loopback()
    own_files(settings, folder)
    # From here on what goes wrong is told to whoever called the script; before, it is the server's own affair.
    for target, source in enumerate([*streams, channel.fileno()], start=1):
        os.dup2(source, target, inheritable=True)
    os.closerange(4, 65536)
    python.prctl(4, 0, 0, 0, 0)
    child = os.fork()
    if child == 0:
        limit(settings)
        give_up(filter_bytes)
        python.prctl(4, 1, 0, 0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        # Who is waited for is told last: one that fails before it can run its script runs none.
        os.write(3, f"{call}\n".encode())
        run(*read_order(3))
    for descriptor in range(4):
        os.close(descriptor)
    while True:
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(128 - code if code < 0 else code)


def read_order(descriptor):
    """The order of the script, a line of JSON, and what it can read, which follows; ends if nobody wants it any more."""
    come = b""
    while b"\n" not in come:
        come += read_piece(descriptor)
    line, _, first = come.partition(b"\n")
    order = json.loads(line)
    pieces, left = [first], order["inputBytes"] - len(first)
    while left > 0:
        pieces.append(read_piece(descriptor))
        left -= len(pieces[-1])
    return order, b"".join(pieces)


def read_piece(descriptor):
    return os.read(descriptor, 1 << 20) or os._exit(0)


def open_input(content):
    """A file, so that a script can also open it by its name."""
    try:
        file = os.memfd_create("stdin", os.MFD_CLOEXEC | NO_PROGRAM_IN_MEMORY)
    except OSError:  # An older kernel.
        with tempfile.TemporaryFile() as temporary:
            file = os.dup(temporary.fileno())
    with open(file, "wb", closefd=False) as writer:
        writer.write(content)
    os.lseek(file, 0, os.SEEK_SET)
    os.dup2(file, 0, inheritable=True)
    os.close(file)


def raise_loopback():
    """What a script starts may talk to it over this; it leads nowhere else."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, b"lo".ljust(16, b"\0") + b"\1\0".ljust(24, b"\0"))


def own_user():
    write("/proc/self/setgroups", "deny")
    write("/proc/self/uid_map", "65534 65534 1")
    write("/proc/self/gid_map", "65534 65534 1")


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def own_files(settings, folder):
    check(python.mount(None, b"/", None, ctypes.c_ulong(PRIVATE | RECURSIVE), None))
    # Granted paths below /tmp must still be there when a new /tmp covers the old one.
    kept = [(path, os.open(path, os.O_PATH)) for path in settings["inTemporary"]]
    # What is granted of the project must still be there when the folder of this call covers the project.
    shown = [(path, os.open(path, os.O_PATH)) for path in settings["inWork"] if os.path.exists(path)]
    options = f"size={settings['temporaryBytes']},nr_inodes=16384,mode=1777".encode()
    # The folder of this call is all that it sees of the folders of calls.
    own = [(".", WORK), ("tmp", "/tmp")] if folder else []
    for name, path in own:
        bind(f"{FOLDERS}/{folder}/{name}", path)
    for path in (b"/dev/shm",) if folder else (b"/tmp", b"/dev/shm"):
        check(python.mount(b"tmpfs", path, b"tmpfs", ctypes.c_ulong(NO_SETUID | NO_DEVICES), options))
    for path, descriptor in kept:
        put_back(path, descriptor)
    work = settings.get("work")
    for path in ["", *work["folders"]] if folder and work else ():
        bind(f"{FOLDERS}/{folder}/files/{path}", os.path.join(work["path"], path))
    for path, descriptor in shown:
        put_back(path, descriptor)
    for path in (CALLS, FOLDERS) if folder else (CALLS,):
        check(python.mount(b"tmpfs", path.encode(), b"tmpfs", ctypes.c_ulong(NO_SETUID | NO_DEVICES | 1), b"size=4k,mode=555"))
    check(python.mount(b"proc", b"/proc", b"proc", ctypes.c_ulong(NO_SETUID | NO_DEVICES | NO_PROGRAMS), None))
    write("/proc/sys/user/max_user_namespaces", "0")
    # A connection must not hold more, in both directions together, than is counted for a socket.
    half = settings["socketBytes"] // 2
    for name in ("tcp_rmem", "tcp_wmem"):
        write(f"/proc/sys/net/ipv4/{name}", f"4096 {half} {half}")


def bind(source, target, flags=BIND):
    check(python.mount(source.encode(), target.encode(), None, ctypes.c_ulong(flags), None))


def put_back(path, descriptor):
    source = f"/proc/self/fd/{descriptor}"
    if os.path.isdir(source):
        os.makedirs(path, exist_ok=True)
    else:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o644))
    bind(source, path, BIND | RECURSIVE)
    os.close(descriptor)


def limit(settings):
    for name, most in settings["limits"].items():
        resource.setrlimit(getattr(resource, name), (most, most))


def give_up(filter_bytes):
    os.setsid()
    for capability in range(64):
        python.prctl(24, capability, 0, 0, 0)
    check(python.prctl(47, 4, 0, 0, 0))
    check(python.capset(b"\x22\x05\x08\x20\0\0\0\0", bytes(24)))
    check(python.prctl(38, 1, 0, 0, 0))
    buffer = ctypes.create_string_buffer(filter_bytes, len(filter_bytes))
    program = Program(len(filter_bytes) // 8, ctypes.cast(buffer, ctypes.c_void_p).value)
    check(python.prctl(22, 2, ctypes.byref(program), 0, 0))


def run(order, content):
    path, *_ = order["argv"]
    open_input(content)
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["directory"])
    sys.argv[:] = order["argv"]
    sys.path[0] = os.path.dirname(path)
    sys.path[1:1] = [entry for entry in order["env"].get("PYTHONPATH", "").split(":") if entry]
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdout = open_output(1, "surrogateescape", "PYTHONUNBUFFERED" in order["env"])
    sys.stderr = open_output(2, "backslashreplace", True)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    end(execute(path))


def open_output(descriptor, errors, at_once):
    file = open(descriptor, "wb", buffering=0 if at_once else -1, closefd=False)
    return io.TextIOWrapper(file, encoding="utf-8", errors=errors, write_through=at_once, line_buffering=descriptor == 2)


def execute(path):
    """Runs the file as the interpreter would, and answers with its exit code."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=path, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = main
    try:
        with open(path, "rb") as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        exec(code, main.__dict__)
        return 0
    except SystemExit as end:
        return to_code(end.code)
    except BaseException as problem:
        # The frames of this file are none of the script's.
        frames = problem.__traceback__ and problem.__traceback__.tb_next
        sys.excepthook(type(problem), problem.with_traceback(frames), frames)
        return 130 if isinstance(problem, KeyboardInterrupt) else 1


def to_code(value):
    if value is None:
        return 0
    if isinstance(value, int):
        return value & 0xFF
    print(value, file=sys.stderr)
    return 1


def end(code):
    """As the interpreter ends, without taking itself apart."""
    import atexit

    try:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        code = code or 120
    try:
        sys.stderr.flush()
    finally:
        os._exit(code)


serve()
