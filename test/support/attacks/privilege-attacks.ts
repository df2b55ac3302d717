import { hostname } from "node:os";

import type { Attack } from "./attack.ts";

/** Getting rights, and using them on others. */
export const privilegeAttacks: readonly Attack[] = [
  {
    name: "sees and signals processes of the host",
    language: "python",
    code: ({ victim }) => `
for pid in (${victim}, os.getppid() + 100000): attempt("a signal", os.kill, pid, 0)
attempt("its directory", os.stat, "/proc/${victim}/status")
kernel("pidfd_open", 434, ${victim}, 0)
kernel("pidfd_send_signal", 424, -1, 9, 0, 0)`,
  },
  {
    name: "signals the server and other calls",
    language: "python",
    sibling: "echo ready; sleep 0.7; echo done",
    // It may hit the threads of its own interpreter.
    fails: ["script-failed"],
    mayEndWell: true,
    code: `
for pid in list(range(2, 400)) + [-process for process in range(2, 400)]:
    if abs(pid) in (os.getpid(), os.getpgrp(), os.getppid(), os.getpgid(os.getppid()) if os.getppid() else 0): continue
    try: os.kill(pid, signal.SIGKILL)
    except OSError: pass`,
  },
  {
    name: "debugs other processes",
    language: "python",
    code: `
buffer = ctypes.create_string_buffer(64)
vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 64)
for pid in (1, os.getppid()):
    kernel("ptrace attach", 101, 16, pid, 0, 0)
    kernel("ptrace seize", 101, 0x4206, pid, 0, 0)
    kernel("process_vm_readv", 310, pid, vector, 1, vector, 1, 0)
    kernel("process_vm_writev", 311, pid, vector, 1, vector, 1, 0)
    kernel("kcmp", 312, pid, os.getpid(), 0, 0, 0)
kernel("pidfd_getfd", 438, libc.syscall(434, 1, 0), 0, 0)
for name in os.listdir("/proc/1/fd") if os.access("/proc/1/fd", os.R_OK) else ():
    if int(name) > 3: attempt(name, open, f"/proc/1/fd/{name}", "rb")
try: print(open("/proc/1/environ").read()[:2000])
except OSError: pass
kernel("ptrace traceme", 101, 0, 0, 0, 0)`,
  },
  {
    name: "mounts",
    language: "python",
    code: `
for source, target, kind, flags in ((b"x", b"/tmp", b"tmpfs", 0), (b"/", b"/tmp", None, 4096), (b"proc", b"/tmp", b"proc", 0), (b"x", b"/tmp", b"cgroup", 0),
        (b"x", b"/tmp", b"sysfs", 0), (None, b"/", None, 4096 | 32), (None, b"/skill", None, 4096 | 32), (None, b"/usr", None, 32), (b"x", b"/tmp", b"overlay", 0)):
    kernel(("mount", target, kind), 165, source or 0, target, kind or 0, flags, 0)
for target in (b"/skill", b"/tmp", b"/proc", b"/run/calls", b"/usr", b"/dev/shm"):
    kernel(("umount", target), 166, target, 2)
kernel("fsopen", 430, b"tmpfs", 0)
kernel("open_tree", 428, -100, b"/", 1)
kernel("move_mount", 429, -100, b"/tmp", -100, b"/skill", 0)
kernel("mount_setattr", 442, -100, b"/", 0x8000, ctypes.create_string_buffer(32), 32)
kernel("pivot_root", 155, b"/tmp", b"/tmp")
kernel("chroot", 161, b"/tmp")`,
  },
  {
    name: "makes namespaces",
    language: "python",
    code: `
for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x4000000, 0x8000000, 0x2000000, 0x80): kernel(("unshare", hex(flag)), 272, flag)
for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000): kernel(("clone", hex(flag)), 56, flag | 17, 0, 0, 0, 0)
kernel("clone3", 435, (ctypes.c_ulong * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0), 64)
for name in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
    for pid in ("1", "self"):
        try: descriptor = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
        except OSError: continue
        kernel(("setns", pid, name), 308, descriptor, 0)
attempt("unshare", subprocess.check_output, ["unshare", "-r", "id"])`,
  },
  {
    name: "becomes root",
    language: "bash",
    code: `try python3 -c 'import os; os.setuid(0)'; try python3 -c 'import os; os.setgid(0)'; try python3 -c 'import os; os.setgroups([0])'; try python3 -c 'import os; os.setresuid(0, 0, 0)'
[ "$(id -u)" != 0 ] || escaped it is root; grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):.*[1-9a-f]' /proc/self/status && escaped it has rights
grep -q '^NoNewPrivs:.1' /proc/self/status || escaped it may get rights; grep -q '^Seccomp:.2' /proc/self/status || escaped nothing filters
for word in $(cat /proc/self/uid_map); do [ "$word" != 0 ] || escaped it is root outside; done`,
    // Others are mapped there, among them root, but never the tool itself.
    firejail: {
      code: `try python3 -c 'import os; os.setuid(0)'; try python3 -c 'import os; os.setgid(0)'; try python3 -c 'import os; os.setgroups([0])'; try python3 -c 'import os; os.setresuid(0, 0, 0)'
[ "$(id -u)" != 0 ] || escaped it is root; grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):.*[1-9a-f]' /proc/self/status && escaped it has rights
grep -q '^NoNewPrivs:.1' /proc/self/status || escaped it may get rights; grep -q '^Seccomp:.2' /proc/self/status || escaped nothing filters
while read inside outside count; do [ $((outside + $(id -u) - inside)) != 0 ] || escaped it is root outside; done < /proc/self/uid_map`,
    },
  },
  {
    name: "uses programs with special rights",
    language: "bash",
    code: `for name in su sudo mount umount passwd chsh newgrp pkexec ping fusermount3 newuidmap dbus-daemon-launch-helper bwrap unshare nsenter; do
  try command -v $name; done
for file in $(find / -xdev -perm /6000 -type f 2>/dev/null); do "$file" --version 2>&1 | grep -qi root && escaped $file; done`,
    // It shows programs with special rights that say they have lost them.
    firejail: {
      code: `for name in su sudo mount umount passwd chsh newgrp pkexec ping fusermount3 newuidmap dbus-daemon-launch-helper bwrap unshare nsenter; do
  try command -v $name; done
for file in $(find / -xdev -perm /6000 -type f 2>/dev/null); do "$file" --version 2>&1 | grep -vi 'needs to be setuid root' | grep -qi root && escaped $file; done`,
    },
  },
  {
    name: "calls what tools have no use for",
    language: "python",
    code: `
for name, number, *words in (("keyctl", 250, 0, -3, 1), ("add_key", 248, b"user", b"x", b"y", 1, -3), ("bpf", 321, 0, 0, 0), ("io_uring", 425, 8, ctypes.create_string_buffer(200)),
        ("userfaultfd", 323, 1), ("perf", 298, ctypes.create_string_buffer(b"\\0\\0\\0\\0\\x70", 112), 0, -1, -1, 0), ("personality", 135, 0x40000), ("modify_ldt", 154, 0, 0, 0),
        ("init_module", 175, b"", 0, b""), ("finit_module", 313, 0, b"", 0), ("kexec", 246, 0, 0, 0, 0), ("reboot", 169, 0xfee1dead, 672274793, 0x89ABCDEF, 0), ("swapon", 167, b"/tmp/x", 0),
        ("sethostname", 170, b"taken", 5), ("setdomainname", 171, b"taken", 5), ("settimeofday", 164, (ctypes.c_long * 2)(1, 1), 0), ("clock_settime", 227, 0, (ctypes.c_long * 2)(1, 1)),
        ("acct", 163, b"/tmp/x"), ("quotactl", 179, 0, 0, 0, 0), ("syslog", 103, 3, ctypes.create_string_buffer(64), 64), ("iopl", 172, 3), ("fanotify", 300, 0, 0), ("vhangup", 153)):
    kernel(name, number, *words)`,
    harm: () => (hostname() === "taken" ? "the name of the host was changed" : undefined),
  },
  {
    name: "changes settings of the kernel",
    language: "bash",
    code: `for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sysrq-trigger /proc/sys/vm/drop_caches /proc/sys/fs/file-max /proc/sys/kernel/hostname /proc/sys/user/max_user_namespaces /proc/sys/kernel/ns_last_pid; do
  [ ! -e $file ] || try sh -c "cat $file > /tmp/same; cat /tmp/same > $file"; done; try ls /sys/fs/cgroup; try ls /sys/kernel`,
  },
  {
    name: "types into a terminal",
    language: "python",
    code: `
import fcntl
for descriptor in range(4):
    for request in (0x5412, 0x541C, 0x540E): attempt(hex(request), fcntl.ioctl, descriptor, request, b"x")
attempt("tty", os.open, "/dev/tty", os.O_RDWR); attempt("console", os.open, "/dev/console", os.O_RDWR); attempt("ptmx", os.open, "/dev/ptmx", os.O_RDWR)`,
  },
  {
    name: "runs a program from memory",
    language: "python",
    code: `
descriptor = libc.memfd_create(b"x", 0)
if descriptor >= 0:
    os.write(descriptor, open("/usr/bin/true", "rb").read())
    if os.fork() == 0:
        try: os.execve(descriptor, ["true"], {})
        except OSError: os._exit(1)
    if os.wait()[1] == 0: escaped("it ran")`,
  },
  {
    name: "shares memory with others",
    language: "python",
    sibling: `python3 -c '
import ctypes, time
libc = ctypes.CDLL(None)
part = libc.shmget(0x4b17, 4096, 0o1666); libc.msgget(0x4b17, 0o1666)
print("ready", flush=True); time.sleep(0.6); libc.shmctl(part, 0, None)'`,
    code: `
if libc.shmget(0x4b17, 4096, 0o666) >= 0: escaped("memory")
if libc.msgget(0x4b17, 0o666) >= 0: escaped("messages")
for name in ("shm", "msg", "sem"):
    if open(f"/proc/sysvipc/{name}").read().count("\\n") > 1: escaped(name)`,
  },
];
