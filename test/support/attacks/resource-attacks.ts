import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import type { Attack } from "./attack.ts";

/** Using up the machine. */
export const resourceAttacks: readonly Attack[] = [
  {
    name: "starts processes without end",
    language: "bash",
    isBrief: true,
    against: "process-count",
    fails: ["call-timeout", "script-failed", "memory-exceeded"],
    code: ({ mark }) => `bomb() { bomb | bomb & }; bomb 2>/dev/null; sleep ${mark} & sleep ${mark}`,
  },
  {
    name: "starts more processes than it may",
    language: "python",
    against: "process-count",
    code: ({ mark }) => `
started = []
try:
    for _ in range(200): started.append(subprocess.Popen(["sleep", "${mark}"]))
except OSError: pass
if len(started) > 64: escaped(len(started), "processes")
for process in started: process.kill()`,
  },
  {
    name: "takes memory without end",
    language: "python",
    fails: ["memory-exceeded"],
    code: "pieces = []\nwhile True: pieces.append(bytearray(b'x') * (8 << 20))",
  },
  {
    name: "takes memory in many processes",
    language: "python",
    fails: ["memory-exceeded"],
    code: ({ mark }) => `
for _ in range(12):
    if os.fork() == 0:
        try: piece = bytearray(b"x") * (48 << 20)
        except MemoryError: os._exit(0)
        os.execvp("python3", ["python3", "-c", "import time; piece = bytearray(b'x') * (48 << 20); time.sleep(2) # ${mark}"])
codes = [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(12)]
if all(code == 0 for code in codes): escaped("it had all of it")
sys.exit(1)`,
  },
  {
    name: "holds memory in files that no process has mapped",
    language: "python",
    fails: ["memory-exceeded"],
    mayEndWell: true,
    code: `
held = 0
try:
    for _ in range(100):
        os.write(os.memfd_create("x", 8), b"x" * (4 << 20))
        held += 4 << 20
except OSError: pass
libc.shmat.restype = ctypes.c_void_p
for _ in range(100):
    part = libc.shmget(0, 4 << 20, 0o1600)
    if part < 0: break
    place = libc.shmat(part, None, 0)
    ctypes.memset(ctypes.c_void_p(place), 1, 4 << 20)
    libc.shmdt(ctypes.c_void_p(place))
    held += 4 << 20
time.sleep(0.5)
if held > 160 << 20: escaped(held, "bytes")`,
  },
  {
    name: "holds memory in the buffers of sockets",
    language: "python",
    fails: ["memory-exceeded"],
    mayEndWell: true,
    code: ({ mark }) => `
import fcntl
pairs = []
def hold():
    held = 0
    try:
        while True:
            pairs.append(socket.socketpair())
            pairs[-1][0].setblocking(False)
            pairs[-1][0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
            try:
                while True: held += pairs[-1][0].send(b"x" * 65536)
            except BlockingIOError: pass
    except OSError: pass
    return held
reading, writing = os.pipe()
children = 0
try:
    for _ in range(24):
        if os.fork() == 0:
            os.write(writing, b"%d " % hold())
            time.sleep(6)  # ${mark}
            os._exit(0)
        children += 1
except OSError: pass
time.sleep(5)
fcntl.fcntl(reading, fcntl.F_SETFL, os.O_NONBLOCK)
total = sum(map(int, os.read(reading, 65536).split()))
if total > 160 << 20: escaped(total, "bytes")`,
  },
  {
    name: "holds shared memory without its pages",
    language: "python",
    fails: ["memory-exceeded"],
    code: `
import mmap
libc.prctl(4, 0, 0, 0, 0)
pieces = []
for _ in range(48):
    pieces.append(mmap.mmap(-1, 8 << 20))
    pieces[-1].write(b"x" * (8 << 20))
    pieces[-1].madvise(mmap.MADV_DONTNEED)
time.sleep(2)
if all(piece[0] == 120 for piece in pieces): escaped(len(pieces) * 8, "MiB")`,
  },
  {
    name: "holds memory in page tables",
    language: "python",
    fails: ["memory-exceeded"],
    code: `
import mmap
place = mmap.mmap(-1, 80_000 << 21, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, mmap.PROT_READ)
place.madvise(mmap.MADV_NOHUGEPAGE)
for page in range(80_000): place[page << 21]
time.sleep(2)
with open("/proc/self/status") as file: escaped([line.strip() for line in file if line.startswith("VmPTE")])`,
  },
  {
    name: "fills the buffers of TCP connections",
    language: "python",
    fails: ["memory-exceeded"],
    mayEndWell: true,
    code: ({ mark }) => `
pairs = []
def hold(address, family):
    server = socket.create_server((address, 0), family=family)
    held = 0
    for _ in range(30):
        pairs.append((socket.create_connection(server.getsockname()[:2]), server.accept()[0]))
        pairs[-1][0].setblocking(False)
        for _ in range(10):
            try:
                while True: held += pairs[-1][0].send(b"x" * 65536)
            except BlockingIOError: time.sleep(0.001)
    return held
reading, writing = os.pipe()
for place in (("127.0.0.1", socket.AF_INET), ("::1", socket.AF_INET6)) * 2:
    if os.fork() == 0:
        try: os.write(writing, b"%d " % hold(*place))
        except OSError: os.write(writing, b"0 ")  # There may be no IPv6.
        time.sleep(6)  # ${mark}
        os._exit(0)
time.sleep(4)
total = sum(map(int, os.read(reading, 65536).split()))
if total > 160 << 20: escaped(total, "bytes")`,
  },
  {
    name: "opens 10,000 sockets",
    language: "python",
    code: `
for family, kind in ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET6, socket.SOCK_DGRAM), (socket.AF_UNIX, socket.SOCK_STREAM)):
    opened = []
    for _ in range(10_000):
        try: opened.append(socket.socket(family, kind))
        except OSError: break
    if len(opened) > 128: escaped(len(opened), "sockets")
    for one in opened: one.close()
with socket.create_server(("127.0.0.1", 0)) as server: socket.create_connection(server.getsockname(), 1).close()`,
  },
  {
    name: "fills its temporary directory",
    language: "bash",
    against: "disk",
    code: "for part in 1 2 3 4 5 6; do head -c 3000000 /dev/zero > /tmp/$part || break; done 2>/dev/null; [ $(du -sk /tmp | cut -f1) -le 8300 ] || escaped it is larger",
  },
  {
    name: "fills the memory through shared memory",
    language: "bash",
    code: "for part in 1 2 3 4 5 6; do head -c 3000000 /dev/zero > /dev/shm/$part || break; done 2>/dev/null; [ $(du -sk /dev/shm | cut -f1) -le 8300 ] || escaped it is larger",
  },
  {
    name: "fills the root and other places of the sandbox",
    language: "bash",
    code: 'for place in / /dev /run /usr /etc /var /opt /proc /mnt /home /run/calls; do try sh -c "head -c 1000000 /dev/zero > $place/full"; done',
  },
  {
    name: "makes files without end",
    language: "python",
    fails: ["memory-exceeded", "script-failed", "call-timeout"],
    isBrief: true,
    code: `
for index in range(400_000): os.close(os.open(f"/tmp/{index}", os.O_CREAT | os.O_WRONLY))
escaped("400 000 files")`,
  },
  {
    name: "makes directories without end",
    language: "python",
    fails: ["memory-exceeded", "script-failed", "call-timeout"],
    isBrief: true,
    code: `
os.chdir("/dev/shm")
for index in range(200_000): os.mkdir("deep"); os.chdir("deep")
escaped("200 000 directories")`,
  },
  {
    name: "writes a file larger than it may",
    language: "bash",
    code: ({
      writable,
    }) => `try head -c 9000000 /dev/zero > ${writable}/large; (head -c 9000000 /dev/zero > ${writable}/large) 2>/dev/null
[ $(stat -c %s ${writable}/large) -le 4194304 ] || escaped it is larger; rm -f ${writable}/large`,
    harm: ({ writable }) =>
      readdirSync(writable).some((name) => statSync(join(writable, name)).size > 4_194_304)
        ? "it is on the disk"
        : undefined,
  },
  {
    name: "opens files without end",
    language: "python",
    code: `
opened = []
try:
    while len(opened) < 5000: opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError: pass
for descriptor in opened: os.close(descriptor)
if len(opened) > 128: escaped(len(opened), "files")`,
  },
  {
    name: "raises its own limits",
    language: "python",
    code: `
import resource
for name in (resource.RLIMIT_CPU, resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE):
    soft, hard = resource.getrlimit(name)
    if hard == resource.RLIM_INFINITY: escaped("no limit", name)
    else: attempt(name, resource.setrlimit, name, (hard + 1, hard + 1))
attempt("priority", os.nice, -5)
for path in ("/proc/self/oom_score_adj", "/proc/1/oom_score_adj"):
    try:
        with open(path, "w") as file: file.write("-1000")
        escaped(path)
    except OSError: pass`,
  },
  { name: "floods its output", language: "bash", fails: ["output-flooded"], code: "yes flood" },
  { name: "floods its errors", language: "bash", fails: ["output-flooded"], code: "yes flood >&2" },
  {
    name: "spins",
    language: "python",
    fails: ["script-failed"],
    code: "while True: pass",
  },
  {
    name: "spins in many processes",
    language: "python",
    isBrief: true,
    fails: ["call-timeout"],
    code: ({ mark }) => `
for _ in range(6):
    if os.fork() == 0:
        sys.argv.append("${mark}")
        while True: pass
subprocess.run(["sleep", "${mark}"])`,
  },
];
