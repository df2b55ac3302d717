import type { Attack } from "./attack.ts";

/** Reaching something without the right to. */
export const networkAttacks: readonly Attack[] = [
  {
    name: "reaches a service of the host over loopback",
    language: "bash",
    code: ({ port }) =>
      `for host in 127.0.0.1 ::1 0.0.0.0 127.1.2.3 localhost; do try bash -c ": > /dev/tcp/$host/${port}"; done`,
  },
  {
    name: "reaches the machine by its addresses",
    language: "python",
    code: ({ port }) => `
for line in open("/proc/net/dev").read().splitlines()[2:]:
    if line.split(":")[0].strip() != "lo": escaped("there is an interface", line)
if open("/proc/net/route").read().count("\\n") > 1: escaped("there is a route")
for host in ("10.0.0.1", "172.17.0.1", "192.168.0.1", "192.0.2.1"):
    attempt(host, socket.create_connection, (host, ${port}), 0.3)`,
  },
  {
    name: "reaches the metadata service of a cloud",
    language: "python",
    code: `
for host in ("169.254.169.254", "fd00:ec2::254", "169.254.170.2"):
    attempt(host, socket.create_connection, (host, 80), 0.3)`,
  },
  {
    name: "asks for names",
    language: "python",
    code: `
attempt("a name", socket.getaddrinfo, "example.com", 80)
query = b"\\x12\\x34\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0\\x07example\\x03com\\0\\0\\x01\\0\\x01"
for server in ("127.0.0.53", "127.0.0.1", "8.8.8.8", "192.0.2.53"):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.settimeout(0.2)
        try: asker.sendto(query, (server, 53)); asker.recv(512); escaped(server)
        except OSError: pass
attempt("the resolver's settings", open, "/etc/resolv.conf")`,
  },
  {
    name: "reaches an abstract socket of the host",
    language: "python",
    code: ({ abstractName }) => `
def reach(): socket.socket(socket.AF_UNIX).connect("\\0" + ${JSON.stringify(abstractName)})
attempt("it", reach)
names = [line.split()[-1] for line in open("/proc/net/unix").read().splitlines()[1:] if "@" in line]
if names: escaped(names)`,
  },
  {
    name: "reaches a socket in the file system of the host",
    language: "python",
    code: ({ socket }) => `
for path in (${JSON.stringify(socket)}, "/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private", "/run/calls/channel"):
    def reach(): socket.socket(socket.AF_UNIX).connect(path)
    attempt(path, reach)`,
  },
  {
    name: "talks to a socket in a folder that it may read",
    language: "python",
    code: ({ readableSocket }) => `
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET, socket.SOCK_RAW):
    def reach(): socket.socket(socket.AF_UNIX, kind).connect(${JSON.stringify(readableSocket)})
    attempt(("a socket", kind), reach)
    attempt(("a socket of another table", kind), socket.socket, socket.AF_UNIX, kind | 0x80000)
    def turn():
        one, two = socket.socketpair(socket.AF_UNIX, kind)
        try: one.sendto(b"x", ${JSON.stringify(readableSocket)})
        finally: one.connect(${JSON.stringify(readableSocket)})
    attempt(("a pair", kind), turn)
with socket.socket(fileno=os.dup(3)) as channel: attempt("the channel", channel.connect, ${JSON.stringify(readableSocket)})`,
  },
  {
    name: "opens sockets that are of no network",
    language: "python",
    code: `
for family, kind, protocol in ((40, 1, 0), (17, 3, 768), (2, 3, 1), (10, 3, 58), (16, 3, 9), (16, 3, 15), (38, 5, 0), (31, 1, 3), (29, 3, 1), (44, 3, 0)):
    attempt((family, kind), socket.socket, family, kind, protocol)`,
  },
  {
    name: "opens a port that the host could reach",
    language: "python",
    sibling: "echo ready; sleep 0.6",
    code: `
import random
server = socket.create_server(("0.0.0.0", 0))
port = server.getsockname()[1]
with socket.create_connection(("127.0.0.1", port), 1) as own: pass
for line in open("/proc/net/tcp").read().splitlines()[1:]:
    if int(line.split()[1].split(":")[1], 16) != port and line.split()[3] == "0A": escaped("a port of somebody else", line)`,
  },
  {
    name: "reaches a port of another call",
    language: "python",
    sibling: `python3 -c '
import socket, time
server = socket.create_server(("127.0.0.1", 45678))
print("ready", flush=True); server.settimeout(0.8)
try: server.accept(); raise SystemExit(1)
except TimeoutError: pass'`,
    code: `
attempt("its port", socket.create_connection, ("127.0.0.1", 45678), 0.3)`,
  },
  {
    name: "changes the network",
    language: "python",
    code: `
import fcntl
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    for request in (0x8914, 0x8916, 0x8924, 0x890B):
        attempt(hex(request), fcntl.ioctl, any_socket, request, b"lo".ljust(16, b"\\0") + b"\\x49\\0".ljust(24, b"\\0"))
attempt("tun", os.open, "/dev/net/tun", os.O_RDWR)
attempt("sysctl", os.open, "/proc/sys/net/ipv4/ip_forward", os.O_WRONLY)`,
  },
];
