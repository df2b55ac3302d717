import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";

import { afterAll, expect, onTestFinished, test, vi } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { renderFilter } from "../seccomp/render-filter.ts";
import {
  debugPort,
  egressEnvironment,
  relayPort,
  findRelayInterpreter,
  relaySource,
  toRelayCommand,
  toRelayEnvironment,
  type RelayInterpreter,
} from "./relay.ts";
import { openEgress, type Egress } from "./open-egress.ts";

const directory = await mkdtemp(join(tmpdir(), "kitbag-relay-"));
afterAll(() => rm(directory, { recursive: true }));

const python = "/usr/bin/python3";
const inside = "/run/egress.sock";
const repository = resolve(import.meta.dirname, "../../..");
const programs = { perl: "/usr/bin/perl", python };
const architecture = process.arch === "arm64" ? "arm64" : "x64";
const filter = join(directory, "filter");
writeFileSync(filter, renderFilter("tool", architecture));

/** The sandboxes that a relay runs in, as words before its own. In the first `lo` is up, in the second the relay brings it up. */
const sandboxes = {
  bwrap: (egress: Egress): string[] => [
    ...["bwrap", "--unshare-all", "--unshare-user", "--die-with-parent", "--cap-drop", "ALL"],
    ...["--ro-bind", "/", "/", "--proc", "/proc"],
    // This repository may itself be below /tmp.
    ...["--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", repository, repository, "--tmpfs", "/run"],
    ...["--ro-bind", filter, filter, "--bind", egress.socket, inside, "--seccomp", "4", "--"],
  ],
  unshare: (egress: Egress): string[] => [
    ...[
      "unshare",
      "--user",
      "--map-root-user",
      "--mount",
      "--net",
      "--pid",
      "--fork",
      "--kill-child",
      "--mount-proc",
      "--",
    ],
    ...["sh", "-c", 'mount -t tmpfs none /run && : > "$0" && mount --bind "$1" "$0" && shift && "$@" 4<&-; exit $?'],
    ...[inside, egress.socket],
  ],
};

const places = [
  ["perl", "bwrap"],
  ["python", "bwrap"],
  ["perl", "unshare"],
  ["python", "unshare"],
] as const;

test.for(places)(
  "the relay in %s lets programs in %s reach what is granted, and nothing else",
  async ([relay, sandbox], context) => {
    needAll(context, relay, sandbox);
    const port = await serve((request, response) => response.end(`hello ${request.headers.host}`));
    const egress = await open([`127.0.0.1:${port}`, `ok.test:${port}`]);
    const program = `
import urllib.request, socket
def get(url):
    try:
        return urllib.request.urlopen(url, timeout=5).read().decode()
    except Exception as error:
        return str(error)
print(get("http://127.0.0.1:${port}/"))
print(get("http://ok.test:${port}/"))
print(get("http://evil.test/"))
print(get("https://evil.test/"))
def direct(host, port):
    try:
        socket.create_connection((host, port), 2)
        return "connected"
    except OSError as error:
        return error.strerror
print(direct("127.0.0.1", ${port}))
print(direct("1.1.1.1", 443))
`;

    const result = await run({ egress, relay, sandbox, command: [python, "-c", program] });

    expect(result).toEqual({
      code: 0,
      errors: "",
      output: [
        `hello 127.0.0.1:${port}`,
        `hello ok.test:${port}`,
        'HTTP Error 403: no rule allows evil.test:80; to allow it, add "evil.test:80" to the network permission',
        '<urlopen error Tunnel connection failed: 403 no rule allows evil.test:443; to allow it, add "evil.test:443" to the network permission>',
        "Connection refused",
        "Network is unreachable",
        "",
      ].join("\n"),
    });
  },
);

test.for(places)(
  "the relay in %s becomes its command in %s: input, arguments, exit code, and no children",
  async ([relay, sandbox], context) => {
    needAll(context, relay, sandbox);
    const egress = await open([]);
    const program = `
import os, sys
print(sys.argv[1:], sys.stdin.read(), sorted(int(n) for n in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + n) and int(n) < 100))
try:
    os.wait()
    print("a child")
except ChildProcessError:
    print("no child")
sys.exit(7)
`;

    const result = await run({
      egress,
      relay,
      sandbox,
      command: [python, "-c", program, "--", "$(x)", "a b", ""],
      input: "input",
    });

    expect(result).toEqual({ code: 7, errors: "", output: "['--', '$(x)', 'a b', ''] input [0, 1, 2]\nno child\n" });
  },
);

test.for(places)(
  "the relay in %s leaves the signals of its command in %s as they are",
  async ([relay, sandbox], context) => {
    needAll(context, relay, sandbox);
    const egress = await open([]);
    const broken = "yes | head -1; echo ${PIPESTATUS[0]}; kill -TERM $$";

    const result = await run({ egress, relay, sandbox, command: ["bash", "-c", broken] });

    expect(result).toMatchObject({ code: 128 + 15, output: "y\n141\n" });
  },
);

test.for(places)(
  "the relay in %s carries 40 connections at a time in %s without mixing them",
  async ([relay, sandbox], context) => {
    needAll(context, relay, sandbox);
    const port = await listen(
      createTcpServer({ allowHalfOpen: true }, (socket) => socket.on("error", () => {}).pipe(socket)),
    );
    const egress = await open([`127.0.0.1:${port}`]);
    const program = `
import socket, threading
def talk(index):
    s = socket.create_connection(("127.0.0.1", ${relayPort}), 20)
    s.sendall(b"CONNECT 127.0.0.1:${port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
    body = (b"%08d" % index) * 40000
    threading.Thread(target=lambda: (s.sendall(body), s.shutdown(socket.SHUT_WR))).start()
    answer = b"".join(iter(lambda: s.recv(65536), b""))
    results[index] = answer == b"HTTP/1.1 200 Connected\\r\\n\\r\\n" + body
results = {}
threads = [threading.Thread(target=talk, args=(index,)) for index in range(40)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sum(results.values()))
`;

    const result = await run({ egress, relay, sandbox, command: [python, "-c", program] });

    expect(result).toEqual({ code: 0, errors: "", output: "40\n" });
  },
);

test.for(["perl", "python"] as const)("the relay in %s hands the channel of its command on", async (relay, context) => {
  needAll(context, relay, "bwrap");
  const egress = await open([]);
  const command = commandOf(relay, ["bash", "-c", "read line <&3; echo heard $line >&3"]);
  const [program = "", ...words] = [...sandboxes.bwrap(egress), ...command];

  const child = spawn(program, words, {
    stdio: ["ignore", "inherit", "inherit", "pipe", filterFile()],
    env: { PATH: "/usr/bin:/bin", KITBAG_FD: "3" },
  });
  const channel = child.stdio[3] as Duplex;
  channel.write("words\n");

  expect(await text(channel)).toBe("heard words\n");
});

test.for(["perl", "python"] as const)(
  "the relay in %s ends with its command, and its connections too",
  async (relay, context) => {
    needAll(context, relay, "bwrap");
    const port = await serve(() => {});
    const egress = await open([`127.0.0.1:${port}`]);
    const program = `
import socket, time, os
s = socket.create_connection(("127.0.0.1", ${relayPort}))
s.sendall(b"CONNECT 127.0.0.1:${port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n")
print(s.recv(100))
os._exit(0)
`;

    await run({ egress, relay, sandbox: "bwrap", command: [python, "-c", program] });

    await vi.waitFor(() => expect(egress.connections).toMatchObject([{ host: "127.0.0.1", allowed: true }]), 10_000);
  },
);

test.for(["perl", "python"] as const)(
  "the relay in %s says so when lo is down and it may not bring it up",
  async (relay, context) => {
    needAll(context, relay, "unshare");
    const egress = await open([]);
    const words = ["unshare", "--user", "--map-root-user", "--net", "--", "unshare", "--user", "--"];

    const result = await start([...words, ...commandOf(relay, ["echo", "started"])], egress);

    expect(result).toMatchObject({ code: 125, output: "" });
    expect(result.errors).toMatch(/^kitbag: relay: lo is down and cannot be brought up/u);
  },
);

test.for(["perl", "python"] as const)(
  "the relay in %s says so when its command is not there",
  async (relay, context) => {
    needAll(context, relay, "bwrap");
    const egress = await open([]);

    const result = await run({ egress, relay, sandbox: "bwrap", command: ["/no/such/program"] });

    expect(result).toMatchObject({ code: 125, output: "" });
    expect(result.errors).toMatch(/^kitbag: relay: cannot start \/no\/such\/program: /u);
  },
);

test.for(["perl", "python"] as const)(
  "the relay in %s says so when it is called in a wrong way",
  async (relay, context) => {
    needProgram(context, programs[relay]);
    const egress = await open([]);
    const [program = "", ...words] = commandOf(relay, []);

    const result = await start([program, ...words.slice(0, words.indexOf(String(relayPort))), "port"], egress);

    expect(result).toMatchObject({ code: 125, errors: expect.stringMatching(/^kitbag: relay: expected: relay/u) });
  },
);

test.for(["perl", "python"] as const)(
  "the relay in %s leaves its command no Unix socket, and no way into the process that has them",
  async (relay, context) => {
    needAll(context, relay, "bwrap");
    const egress = await open([]);
    const program = `
import os, socket
def attempt(*arguments):
    try: socket.socket(*arguments); print("had")
    except OSError as error: print(error.errno)
attempt(socket.AF_UNIX, socket.SOCK_STREAM)
attempt(socket.AF_UNIX, socket.SOCK_DGRAM)
for process in os.listdir("/proc"):
    if process.isdigit() and int(process) not in (1, os.getpid()):
        try: os.open(f"/proc/{process}/mem", os.O_RDWR); print("opened", open(f"/proc/{process}/comm").read())
        except OSError as error: print("closed", error.errno)
`;

    const result = await run({ egress, relay, sandbox: "bwrap", command: [python, "-c", program] });

    expect(result).toEqual({ code: 0, errors: "", output: "97\n97\nclosed 13\n" });
  },
);

test.for(["perl", "python"] as const)(
  "the relay in %s gives its command the variables that have the prefix, and does not read them",
  async (relay, context) => {
    needAll(context, relay, "bwrap");
    const egress = await open([]);
    const environment = toRelayEnvironment({
      PERL5OPT: "-Mno_such",
      PYTHONHOME: "/nowhere",
      LANG: "x",
      PATH: "/usr/bin",
    });

    const result = await start([...sandboxes.bwrap(egress), ...commandOf(relay, ["env"])], egress, "", environment);

    expect(result).toMatchObject({ code: 0, errors: "" });
    const variables = result.output.split("\n");
    expect(variables).toEqual(
      expect.arrayContaining(["PERL5OPT=-Mno_such", "PYTHONHOME=/nowhere", "LANG=x", "PATH=/usr/bin"]),
    );
    expect(variables.filter((line) => line.startsWith("KITBAG_"))).toEqual([]);
  },
);

test("egressEnvironment() leads the fetch and the http of Node to the proxy", async (context) => {
  needAll(context, "perl", "bwrap");
  const port = await serve((request, response) => response.end(`hello ${request.headers.host}`));
  const egress = await open([`ok.test:${port}`, `127.0.0.1:${port}`]);
  const program = `
const text = await (await fetch("http://ok.test:${port}/")).text();
const plain = await new Promise((done) => require("http").get("http://ok.test:${port}/", (r) => r.on("data", (d) => done(String(d)))));
const denied = await fetch("https://evil.test/").catch(() => "refused");
console.log(text + "|" + plain + "|" + denied);
`;

  const result = await run({
    egress,
    relay: "perl",
    sandbox: "bwrap",
    command: [process.execPath, "-e", `(async () => {${program}})()`],
  });

  expect(result.output).toBe(`hello ok.test:${port}|hello ok.test:${port}|refused\n`);
  expect(egress.connections).toContainEqual(expect.objectContaining({ host: "evil.test", port: 443, allowed: false }));
});

test.for([
  ["curl", ["curl", "-sS", "-m", "5"]],
  ["curl over SOCKS", ["curl", "-sS", "-m", "5", "-x", `socks5h://127.0.0.1:${relayPort}`]],
  ["wget", ["wget", "-q", "-T", "5", "-O", "-"]],
  ["perl", ["perl", "-MHTTP::Tiny", "-e", "print HTTP::Tiny->new->get($ARGV[0])->{content}"]],
  ["ruby", ["ruby", "-rnet/http", "-e", "print Net::HTTP.get(URI(ARGV[0]))"]],
] as const)("egressEnvironment() leads %s to the proxy", async ([, command], context) => {
  needAll(context, "perl", "bwrap");
  needProgram(context, command[0]);
  const port = await serve((request, response) => response.end(`hello ${request.headers.host}`));
  const egress = await open([`ok.test:${port}`, `127.0.0.1:${port}`]);

  const result = await run({
    egress,
    relay: "perl",
    sandbox: "bwrap",
    command: [...command, `http://ok.test:${port}/`],
  });

  expect(result).toEqual({ code: 0, errors: "", output: `hello ok.test:${port}` });
});

test("findRelayInterpreter() finds the one that starts fastest", () => {
  const interpreter = findRelayInterpreter();

  const expected = existsSync(programs.perl) ? "perl" : existsSync(python) ? "python" : undefined;
  expect(interpreter).toBe(expected);
});

test.for([
  ["perl", ["/usr/bin/perl", "/opt/kitbag/egress/relay.pl"]],
  ["python", ["/usr/bin/python3", "-I", "-S", "/opt/kitbag/egress/relay.py"]],
] as const)("toRelayCommand() puts the relay in %s in front of a command", ([interpreter, start]) => {
  const routes = [
    { port: relayPort, socket: inside },
    { port: debugPort, socket: "/d.sock" },
  ];

  const command = toRelayCommand({ interpreter, routes, filter: "/filter" }, ["tool", "--", "x"]);

  const prctl = architecture === "x64" ? "157" : "167";
  const words = [prctl, "/filter", "3128", inside, "3129", "/d.sock", "--", "tool", "--", "x"];
  expect(command).toEqual([...start, ...words]);
});

test("egressEnvironment() keeps programs from the proxy for what they start themselves, unless loopback is granted", () => {
  const usual = egressEnvironment(["api.github.com", "10.0.0.1:80"]);
  const granted = egressEnvironment(["127.0.0.1:8080"]);
  const granted6 = egressEnvironment(["[::1]:8080"]);

  expect(usual).toMatchObject({ no_proxy: "localhost,127.0.0.1,::1", https_proxy: "http://127.0.0.1:3128" });
  expect([granted["no_proxy"], granted6["NO_PROXY"]]).toEqual(["", ""]);
});

interface Run {
  readonly egress: Egress;
  readonly relay: RelayInterpreter;
  readonly sandbox: keyof typeof sandboxes;
  readonly command: readonly string[];
  readonly input?: string;
}

function run({ egress, relay, sandbox, command, input }: Run): Promise<Result> {
  return start([...sandboxes[sandbox](egress), ...commandOf(relay, command)], egress, input);
}

interface Result {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

async function start(
  [program = "", ...words]: readonly string[],
  egress: Egress,
  input = "",
  environment: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const outer = filterFile();
  const child = spawn(program, words, {
    stdio: ["pipe", "pipe", "pipe", "ignore", outer],
    // The rule is for the loopback of the host, which a program inside reaches through the proxy alone.
    env: {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      LANG: "C.UTF-8",
      ...egressEnvironment(["127.0.0.1"]),
      ...environment,
    },
  });
  closeSync(outer);
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin?.on("error", () => {}).end(input);
  const code = new Promise<number | null>((resolve) => {
    child.once("close", (exit, signal) => resolve(signal === "SIGTERM" ? 128 + 15 : exit));
  });
  const [output, errors] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  return { code: await code, output, errors };
}

function commandOf(relay: RelayInterpreter, command: readonly string[]): string[] {
  const routes = [{ port: relayPort, socket: inside }];
  const [, ...words] = toRelayCommand({ interpreter: relay, routes, filter, folder: relaySource }, command);
  return [programs[relay], ...words];
}

/** The filter of the relay itself. */
function filterFile(): number {
  const path = join(directory, "outer");
  writeFileSync(path, renderFilter("tool", architecture, { unixSockets: true }));
  return openSync(path, "r");
}

function needAll(context: Parameters<typeof needProgram>[0], relay: RelayInterpreter, sandbox: string): void {
  for (const program of [programs[relay], sandbox, python]) needProgram(context, program);
}

async function open(rules: readonly string[]): Promise<Egress> {
  const granted = rules.flatMap((rule) =>
    rule.startsWith("ok.test:") ? [rule, rule.replace("ok.test", "127.0.0.1")] : [rule],
  );
  const egress = await openEgress({ rules: granted, directory, lookup: async () => ["127.0.0.1"] });
  onTestFinished(() => egress.close());
  return egress;
}

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  onTestFinished(() => server.closeAllConnections());
  return listen(server);
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}
