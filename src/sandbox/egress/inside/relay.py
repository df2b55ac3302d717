"""Listens on ports of 127.0.0.1 and passes every connection on to a unix socket: relay.py PRCTL FILTER (PORT SOCKET)... -- COMMAND ...

Once the ports are open it puts on the filter and becomes the command, and leaves a process behind that does the work and is not its
child. That process alone may open unix sockets, so the command cannot look into it. Variables of the command have a prefix, so that
none of them changes what happens here. It brings the interface "lo" up if it may.
Only modules that are part of the interpreter: `socket` alone takes longer to load than Python takes to start.
"""

import _signal
import _socket
import os
import select
import sys

GET_FLAGS, SET_FLAGS, UP = 0x8913, 0x8914, 1
CHUNK, MOST_WAITING, MOST_SIDES = 65536, 262144, 200
SET_DUMPABLE, NO_NEW_PRIVILEGES, SET_FILTER, BY_FILTER = 4, 38, 22, 2
PREFIX = "KITBAG_FOR_"


class Side:
    """One of the two sockets of a connection."""

    def __init__(self, socket):
        self.socket = socket
        self.number = socket.fileno()
        self.waiting = b""
        self.ended = False
        self.closed = False
        self.other = self


def main(words):
    end = words.index("--") if "--" in words else 0
    routes = list(zip(words[2:end:2], words[3:end:2]))
    command = words[end + 1 :]
    if end < 4 or end % 2 or not command or not all(port.isdigit() for port, _ in routes):
        fail("expected: relay.py PRCTL FILTER (PORT SOCKET)... -- COMMAND ...")
    with open(words[1], "rb") as file:
        filter_bytes = file.read()
    raise_loopback()
    listeners = {}
    for port, path in routes:
        listener = open_port(int(port))
        listeners[listener.fileno()] = (listener, path)
    # Before there is a child: what can be looked into for a moment can be changed in it.
    control(SET_DUMPABLE, 0)
    leave_behind(listeners)
    put_on(filter_bytes)
    # Python ignores it, and the command would inherit that.
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    own = {name[len(PREFIX) :]: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    base = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    try:
        os.execvpe(command[0], command, {**base, **own})
    except OSError as error:
        fail(f"cannot start {command[0]}: {error.strerror}")


def control(what, *more):
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(what, *more, *[0] * (4 - len(more))) != 0:
        fail(f"prctl {what}: {os.strerror(ctypes.get_errno())}")


def put_on(filter_bytes):
    import ctypes

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    control(NO_NEW_PRIVILEGES, 1)
    control(SET_FILTER, BY_FILTER, ctypes.byref(Program(len(filter_bytes) // 8, filter_bytes)))


def open_port(port):
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
    except OSError as error:
        fail(f"cannot use 127.0.0.1:{port}: {error.strerror}")
    return listener


def raise_loopback():
    import fcntl

    any_socket = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
    name = b"lo".ljust(16, b"\0")
    try:
        answer = fcntl.ioctl(any_socket.fileno(), GET_FLAGS, name + bytes(24))
        flags = int.from_bytes(answer[16:18], sys.byteorder)
        if not flags & UP:
            wanted = (flags | UP).to_bytes(2, sys.byteorder)
            fcntl.ioctl(any_socket.fileno(), SET_FLAGS, name + wanted + bytes(22))
    except OSError as error:
        fail(f"lo is down and cannot be brought up: {error.strerror}")
    any_socket.close()


def leave_behind(listeners):
    """Forks twice, so that the command never waits for a child that it does not know."""
    first = os.fork()
    if first:
        os.waitpid(first, 0)
        return
    if os.fork():
        os._exit(0)
    os.setpgid(0, 0)
    # The streams of the command must end when the command ends.
    nothing = os.open("/dev/null", os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in listeners:
            os.closerange(int(name), int(name) + 1)
    serve(listeners)


def serve(listeners):
    for listener, _ in listeners.values():
        listener.setblocking(False)
    sides = {}
    while True:
        reads = [side.number for side in sides.values() if not side.ended and len(side.other.waiting) < MOST_WAITING]
        writes = [side.number for side in sides.values() if side.waiting]
        if len(sides) < MOST_SIDES:
            reads.extend(listeners)
        reads, writes, _ = select.select(reads, writes, [])
        for number in writes:
            if number in sides:
                send_waiting(sides, sides[number])
        for number in reads:
            if number in sides:
                receive(sides, sides[number])
        for number in reads:
            if number in listeners:
                welcome(sides, *listeners[number])


def welcome(sides, listener, path):
    try:
        number, _ = listener._accept()
    except BlockingIOError:
        return
    except OSError:
        # Most likely there are no descriptors left; one may be free soon.
        select.select([], [], [], 0.02)
        return
    client = _socket.socket(fileno=number)
    # Else the second of two writes waits for the answer to the first.
    client.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    try:
        upstream = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        upstream.connect(path)
    except OSError:
        client.close()
        return
    one, two = Side(client), Side(upstream)
    one.other, two.other = two, one
    for side in (one, two):
        side.socket.setblocking(False)
        sides[side.number] = side


def receive(sides, side):
    try:
        data = side.socket.recv(CHUNK)
    except (BlockingIOError, InterruptedError):
        return
    except OSError:
        drop(sides, side)
        return
    if data:
        side.other.waiting += data
    else:
        side.ended = True
    send_waiting(sides, side.other)


def send_waiting(sides, side):
    if side.waiting:
        try:
            side.waiting = side.waiting[side.socket.send(side.waiting) :]
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            drop(sides, side)
            return
    if side.waiting or not side.other.ended or side.closed:
        return
    side.closed = True
    try:
        side.socket.shutdown(_socket.SHUT_WR)
    except OSError:
        pass
    if side.other.closed:
        drop(sides, side)


def drop(sides, side):
    for each in (side, side.other):
        sides.pop(each.number, None)
        each.socket.close()


def fail(reason):
    sys.stderr.write(f"kitbag: relay: {reason}\n")
    sys.stderr.flush()
    os._exit(125)


main(sys.argv[1:])
