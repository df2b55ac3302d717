"""Counts the memory of the calls of a server, and ends those that have more than one may have."""

import os
import re
import signal

MOST_MAP_BYTES = 512 * 1024
SHARED_MEMORY = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) ...s ([0-9a-f]+) \S+ (\d+) +/dev/zero \(deleted\)$", re.M)


def read_memory(pid):
    """Bytes of its own, as private pages and page tables; and of address space in which shared memory can be."""
    with open(f"/proc/{pid}/status", "rb") as file:
        facts = {name: int(size) * 1024 for name, size in re.findall(rb"^(\w+):\s*(\d+) kB", file.read(), re.M)}
    own, mapped = ((b"RssAnon", b"VmSwap", b"VmPTE"), (b"VmData", b"VmStk"))
    return sum(facts.get(name, 0) for name in own), facts.get(b"VmSize", 0) - sum(facts.get(name, 0) for name in mapped)


def find_shared(pid, mapped):
    """The pieces of shared memory of a process, with their sizes: it may hold pages that it has dropped from its page tables."""
    try:
        with open(f"/proc/{pid}/maps", "rb") as file:
            table = file.read(MOST_MAP_BYTES)
    except OSError:
        table = None
    # What cannot be read, or is so long that it would hold up all calls, counts as if all of it were shared memory.
    if table is None or len(table) == MOST_MAP_BYTES:
        return {f"process {pid}": mapped}
    sizes = {}
    for start, end, offset, inode in SHARED_MEMORY.findall(table):
        sizes[inode] = max(int(offset, 16) + int(end, 16) - int(start, 16), sizes.get(inode, 0))
    return sizes


def socket_bytes(pid, each):
    """What the sockets of a call may hold: each has a network of its own, and its buffers cannot grow."""
    with open(f"/proc/{pid}/net/sockstat", "rb") as file:
        return int(file.readline().split()[2]) * each


def end_large(ends, large, settings, server):
    """Ends calls that have more memory than one may have: the kernel counts that of all calls together."""
    parents, memory, calls = {}, {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
                memory[int(name)] = read_memory(name)
            except OSError:
                continue  # It has ended.
    for pid in memory:
        call = pid
        while call not in ends and call in parents:
            call = parents[call]
        if call in ends:
            calls.setdefault(call, []).append(pid)
    for call, pids in calls.items():
        try:
            # What a process has of this one is counted once, here.
            size = sum(max(memory[pid][0] - server, 0) for pid in pids) + socket_bytes(call, settings["socketBytes"])
        except OSError:
            continue  # It has ended.
        if is_large(size, {pid: memory[pid][1] for pid in pids}, settings["memoryBytes"]):
            large.add(call)
            os.kill(call, signal.SIGKILL)


def is_large(size, mapped, most):
    """Reads the long tables of mappings only if there is a doubt."""
    if size + sum(mapped.values()) <= most:
        return False
    shared = {}
    for pid in mapped:
        for piece, bytes_of_it in find_shared(pid, mapped[pid]).items():
            shared[piece] = max(bytes_of_it, shared.get(piece, 0))
    return size + sum(shared.values()) > most
