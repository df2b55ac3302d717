import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { text } from "node:stream/consumers";

import { egressEnvironment } from "../../src/sandbox/egress/relay.ts";
import type { EgressConnection } from "../../src/sandbox/egress/ledger.ts";
import { openEgress } from "../../src/sandbox/egress/open-egress.ts";
import type { FoundSandbox } from "../../src/sandbox/find-sandbox.ts";
import { defaultLimits } from "../../src/sandbox/sandbox.ts";

/** Something that must be true of the network of every sandbox. */
export interface EgressCheck {
  readonly name: string;
  run(sandbox: FoundSandbox): Promise<void>;
}

/** What must be true of the network of every sandbox. Needs Python. */
export const egressChecks: readonly EgressCheck[] = [
  { name: "leads out through the egress proxy, and nowhere else", run: checkOnlyWay },
  { name: "does not exist without an egress proxy", run: checkNoWay },
];

async function checkOnlyWay(sandbox: FoundSandbox): Promise<void> {
  const { port, server } = await serve();
  const rules = [`127.0.0.1:${port}`, `ok.test:${port}`, "inner.test"];

  const { lines, connections } = await runInside(sandbox, toAttempts(port), rules);

  server.close();
  assert.match(lines.splice(7, 1)[0] ?? "", /^gaierror /u);
  assert.deepEqual(lines, [
    `hello ok.test:${port}`,
    "HTTPError HTTP Error 403: no rule allows evil.test:80",
    "HTTPError HTTP Error 403: the name leads to a loopback address",
    "HTTPError HTTP Error 403: no rule allows 169.254.169.254:80",
    "HTTP/1.1 403 no rule allows evil.test:443",
    "ConnectionRefusedError [Errno 111] Connection refused",
    "OSError [Errno 101] Network is unreachable",
    "PermissionError [Errno 1] Operation not permitted",
    "OSError [Errno 97] Address family not supported by protocol",
  ]);
  assert.deepEqual(
    connections.map(({ host, allowed }) => [host, allowed]),
    [
      ["ok.test", true],
      ["evil.test", false],
      ["inner.test", false],
      ["169.254.169.254", false],
      ["evil.test", false],
    ],
  );
}

function toAttempts(port: number): string {
  return `
import socket, urllib.request
def attempt(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__ + " " + str(error).split(";")[0]
get = lambda url: attempt(lambda: urllib.request.urlopen(url, timeout=5).read().decode())
def through_relay(words):
    s = socket.create_connection(("127.0.0.1", 3128))
    s.sendall(words)
    return s.recv(1000).split(b";")[0].decode()
print(get("http://ok.test:${port}/"))
print(get("http://evil.test/"))
print(get("http://inner.test/"))
print(get("http://169.254.169.254/latest/meta-data/"))
print(through_relay(b"CONNECT evil.test:443 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"))
print(attempt(lambda: socket.create_connection(("127.0.0.1", ${port}), 2)))
print(attempt(lambda: socket.create_connection(("1.1.1.1", 443), 2)))
print(attempt(lambda: socket.getaddrinfo("ok.test", 80)))
print(attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)))
print(attempt(lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)))
`;
}

async function checkNoWay(sandbox: FoundSandbox): Promise<void> {
  const { port, server } = await serve();
  const program = `
import os, socket
for host, port in [("127.0.0.1", ${port}), ("127.0.0.1", 3128), ("1.1.1.1", 443)]:
    try:
        socket.create_connection((host, port), 2)
        print("connected")
    except OSError as error:
        print(error.errno)
print(os.path.exists("/run/egress.sock"))
`;

  const { lines } = await runInside(sandbox, program);

  server.close();
  assert.deepEqual(lines, ["111", "111", "101", "False"]);
}

async function runInside(
  sandbox: FoundSandbox,
  program: string,
  rules?: readonly string[],
): Promise<{ lines: string[]; connections: readonly EgressConnection[] }> {
  const egress = await openEgress({
    rules: rules ?? [],
    directory: sandbox.area.private,
    lookup: async () => ["127.0.0.1"],
  });
  const profile = {
    mounts: [],
    environment: rules === undefined ? {} : egressEnvironment(rules),
    programs: ["python3"],
    ...(rules !== undefined && { egress: egress.socket }),
    limits: defaultLimits,
  };
  const started = await sandbox.start(profile, ["python3", "-c", program], "");
  const [output, errors] = await Promise.all([text(started.stdout), text(started.stderr), started.exit]);
  await egress.close();
  assert.equal(errors, "");
  return { lines: output.trim().split("\n"), connections: egress.connections };
}

async function serve(): Promise<{ port: number; server: Server }> {
  const server = createServer((request, response) => response.end(`hello ${request.headers.host}`));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, server };
}
