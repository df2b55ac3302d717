import { spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";

import { afterAll, describe, expect, test } from "vitest";

import { needProgram } from "../../../test/support/need-program.ts";
import { renderFilter, type FilterKind } from "./render-filter.ts";
import { filterArchitectures, syscallNumbers, type FilterArchitecture, type Syscall } from "./syscalls.ts";

const directory = await mkdtemp(join(tmpdir(), "kitbag-seccomp-"));
afterAll(() => rm(directory, { recursive: true }));

const python = "/usr/bin/python3";
const bubblewrap = "bwrap";
const repository = resolve(import.meta.dirname, "../../..");
const audit = { x64: 0xc000003e, arm64: 0xc00000b7 };

const decidedByArguments = new Set<Syscall>([
  "chmod",
  "clone",
  "creat",
  "fchmod",
  "fchmodat",
  "fchmodat2",
  "ioctl",
  "memfd_create",
  "msgget",
  "mknod",
  "mknodat",
  "open",
  "openat",
  "semget",
  "setsockopt",
  "shmget",
  "socket",
  "socketpair",
]);
const hidden = new Set<Syscall>(["clone3", "openat2"]);
const leftToForkServer = new Set<Syscall>(["mount", "pivot_root", "sethostname", "umount2", "unshare"]);

describe.for(filterArchitectures)("renderFilter() for %s", (architecture) => {
  test("refuses each call of the table, and allows each other one", () => {
    const filter = renderFilter("tool", architecture);
    const names = namesByNumber(architecture);

    const wrong = Array.from({ length: 463 }, (_, number) => number).filter((number) => {
      const name = names.get(number);
      if (name !== undefined && decidedByArguments.has(name)) return false;
      const expected = name === undefined ? "allow" : hidden.has(name) ? "errno 38" : "errno 1";
      return judge(filter, { architecture, number }) !== expected;
    });

    expect(wrong).toEqual([]);
  });

  test("leaves a fork server only what it needs more than a tool", () => {
    const tool = renderFilter("tool", architecture);
    const server = renderFilter("fork-server", architecture);
    const names = namesByNumber(architecture);

    const different = Array.from({ length: 600 }, (_, number) => number).filter(
      (number) => judge(tool, { architecture, number }) !== judge(server, { architecture, number }),
    );

    const namespaces = { architecture, number: numberOf("clone", architecture), arguments: [0x1000_0011] };
    expect(new Set(different.map((number) => names.get(number)))).toEqual(leftToForkServer);
    expect(judge(server, namespaces)).toBe("allow");
    expect(judge(tool, namespaces)).toBe("errno 1");
  });

  test.for([463, 467, 512, 547, 1000, 0x3fff_ffff])("hides the call %i, which is newer than the filter", (number) => {
    const filter = renderFilter("tool", architecture);

    const answer = judge(filter, { architecture, number });

    expect(answer).toBe("errno 38");
  });

  test("kills a process that uses the calls of another architecture", () => {
    const filter = renderFilter("tool", architecture);
    const foreign = [0x4000_0003, 0x4000_0028, audit[architecture === "x64" ? "arm64" : "x64"], 0];

    const answers = foreign.map((code) => judge(filter, { architecture, number: 0, code }));

    expect(answers).toEqual(["kill", "kill", "kill", "kill"]);
  });

  test.for([
    ["thread", 0x003d_0f00, "allow"],
    ["fork", 0x0120_0011, "allow"],
    ["vfork", 0x4111, "allow"],
    ["mount namespace", 0x0002_0011, "errno 1"],
    ["cgroup namespace", 0x0200_0011, "errno 1"],
    ["uts namespace", 0x0400_0011, "errno 1"],
    ["ipc namespace", 0x0800_0011, "errno 1"],
    ["user namespace", 0x1000_0011, "errno 1"],
    ["pid namespace", 0x2000_0011, "errno 1"],
    ["network namespace", 0x4000_0011, "errno 1"],
  ] as const)("decides clone by its flags: %s", ([, flags, expected]) => {
    const filter = renderFilter("tool", architecture);

    const answer = judge(filter, { architecture, number: numberOf("clone", architecture), arguments: [flags] });

    expect(answer).toBe(expected);
  });

  test.for([
    [0x5412, "errno 1"],
    [0x541c, "errno 1"],
    [0x5423, "errno 1"],
    [0x5401, "allow"],
    [0x5413, "allow"],
  ] as const)("decides ioctl %i by the half that the kernel reads", ([command, expected]) => {
    const filter = renderFilter("tool", architecture);
    const number = numberOf("ioctl", architecture);

    const plain = judge(filter, { architecture, number, arguments: [0, command] });
    const disguised = judge(filter, { architecture, number, arguments: [0, command], high: 1 });

    expect([plain, disguised]).toEqual([expected, expected]);
  });

  test.for([
    ["unix", 1, 0, "errno 97"],
    ["internet", 2, 0, "allow"],
    ["internet, TCP", 2, 6, "allow"],
    ["internet, MPTCP", 2, 262, "errno 93"],
    ["internet 6, SCTP", 10, 132, "errno 93"],
    ["internet 6", 10, 0, "allow"],
    ["routes", 16, 0, "allow"],
    ["kernel events", 16, 15, "errno 97"],
    ["packets", 17, 0, "errno 97"],
    ["kernel ciphers", 38, 0, "errno 97"],
    ["the host of the virtual machine", 40, 0, "errno 97"],
    ["none", 0, 0, "errno 97"],
  ] as const)("decides socket by its family and protocol: %s", ([, family, protocol, expected]) => {
    const filter = renderFilter("tool", architecture);
    const number = numberOf("socket", architecture);

    const answer = judge(filter, { architecture, number, arguments: [family, 1, protocol] });

    expect(answer).toBe(expected);
  });

  test.for([
    ["a stream", 1, "allow", "allow"],
    ["a stream that closes on exec", 0x80801, "allow", "allow"],
    ["packets in order", 5, "allow", "allow"],
    ["datagrams", 2, "errno 97", "allow"],
    ["datagrams that close on exec", 0x80802, "errno 97", "allow"],
    ["raw, which are datagrams", 3, "errno 97", "allow"],
  ] as const)("decides a pair of Unix sockets by its type: %s", ([, type, expected, withSockets]) => {
    const call = { architecture, number: numberOf("socketpair", architecture), arguments: [1, type, 0] };

    const answers = [{}, { unixSockets: true }].map((options) =>
      judge(renderFilter("tool", architecture, options), call),
    );

    expect(answers).toEqual([expected, withSockets]);
  });

  test.for([
    ["a larger buffer to send from", 1, 7, "errno 0"],
    ["a larger buffer to receive into", 1, 8, "errno 0"],
    ["a buffer beyond the limit of the machine, to send from", 1, 32, "errno 0"],
    ["a buffer beyond the limit of the machine, to receive into", 1, 33, "errno 0"],
    ["the address again soon", 1, 2, "allow"],
    ["an option of TCP with the number of a buffer", 6, 7, "allow"],
  ] as const)("decides what is asked of a socket: %s", ([, level, option, expected]) => {
    const call = { architecture, number: numberOf("setsockopt", architecture), arguments: [3, level, option] };

    expect(judge(renderFilter("tool", architecture), call)).toBe(expected);
  });

  test("leaves Unix sockets to a program that may make its own, and to a fork server", () => {
    const call = { architecture, number: numberOf("socket", architecture), arguments: [1, 1, 0] };
    const filters = [
      renderFilter("tool", architecture, { unixSockets: true }),
      renderFilter("fork-server", architecture),
    ];

    expect(filters.map((filter) => judge(filter, call))).toEqual(["allow", "allow"]);
  });

  test.for(["memfd_create", "msgget", "semget", "shmget"] as const)(
    "hides %s, whose memory belongs to no process, where nothing counts it",
    (name) => {
      const call = { architecture, number: numberOf(name, architecture), arguments: [0, 8] };

      const answers = [true, false].map((memoryFiles) =>
        judge(renderFilter("tool", architecture, { memoryFiles }), call),
      );

      expect(answers).toEqual(["allow", "errno 38"]);
    },
  );

  test.for([
    ["fchmod", [3, 0o755], "allow"],
    ["fchmod", [3, 0o4755], "errno 1"],
    ["fchmod", [3, 0o2755], "errno 1"],
    ["fchmodat", [3, 0, 0o6755], "errno 1"],
    ["fchmodat2", [3, 0, 0o4000], "errno 1"],
    ["mknodat", [3, 0, 0o104755], "errno 1"],
    ["openat", [3, 0, 0x41, 0o4755], "errno 1"],
    ["openat", [3, 0, 0x40_0001, 0o2755], "errno 1"],
    ["openat", [3, 0, 0x41, 0o644], "allow"],
    ["openat", [3, 0, 0, 0o4755], "allow"],
    ["memfd_create", [0, 1], "errno 13"],
    ["memfd_create", [0, 9], "allow"],
  ] as const)("decides %s by its arguments %j", ([name, values, expected]) => {
    const filter = renderFilter("tool", architecture);

    const answer = judge(filter, { architecture, number: numberOf(name, architecture), arguments: values });

    expect(answer).toBe(expected);
  });

  test("answers any call in at most 24 steps", () => {
    const filter = renderFilter("tool", architecture);

    const steps = Array.from({ length: 600 }, (_, number) => run(filter, { architecture, number }).steps);

    expect(Math.max(...steps)).toBeLessThanOrEqual(24);
  });
});

test.for([0x4000_0000, 0x4000_0038, 0xffff_ffff])(
  "renderFilter() kills a process that uses the x32 call %i",
  (number) => {
    const filter = renderFilter("tool", "x64");

    const answer = judge(filter, { architecture: "x64", number });

    expect(answer).toBe("kill");
  },
);

test("renderFilter() hides even the call -1 on arm64", () => {
  const filter = renderFilter("tool", "arm64");

  const answer = judge(filter, { architecture: "arm64", number: 0xffff_ffff });

  expect(answer).toBe("errno 38");
});

test("renderFilter() knows each call of this machine by its right number", async (context) => {
  needProgram(context, bubblewrap);
  needProgram(context, python);
  const architecture = here();
  const calls = Object.keys(syscallNumbers)
    .map((name) => name as Syscall)
    .filter((name) => !decidedByArguments.has(name))
    .map((name) => [name, syscallNumbers[name][filterArchitectures.indexOf(architecture)]] as const)
    .filter((call) => call[1] !== undefined);

  const filtered = await probe(calls.map(([, number]) => `call(${number}, -1, 0, 0, 0, 0)`));

  expect(filtered).toEqual(calls.map(([name]) => (hidden.has(name) ? "38" : "1")));
});

test("renderFilter() refuses in the kernel what is open without it", async (context) => {
  needProgram(context, bubblewrap);
  needProgram(context, python);
  const [ring, setPersonality] = here() === "x64" ? [425, 135] : [425, 92];
  const calls = [
    `call(${ring}, 1, 0)`,
    `call(${setPersonality}, 0xffffffff)`,
    "named('ptrace', 16, 999999, 0, 0)",
    "attempt(lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM))",
    "attempt(lambda: os.memfd_create('x'))",
    "attempt(lambda: os.chmod(own, 0o4755))",
    "attempt(lambda: os.open('/tmp/y', os.O_CREAT | os.O_WRONLY, 0o4755))",
  ];

  const [open, filtered] = await Promise.all([probe(calls, "none"), probe(calls)]);

  expect(open).toEqual(["14", "0", "3", expect.stringMatching(/^(0|97)$/), "0", "0", "0"]);
  expect(filtered).toEqual(["1", "1", "1", "97", "13", "1", "1"]);
});

test("renderFilter() ends a process that calls through the 32-bit interface", async (context) => {
  needProgram(context, bubblewrap);
  needProgram(context, python);
  if (here() !== "x64") context.skip("only x64 has it");
  // mov eax, 20 (getpid); int 0x80; ret
  const program = `
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex("b814000000cd80c3"))
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))() > 0, flush=True)
`;

  const open = await runInside([python, "-c", program], "none");
  const filtered = await runInside([python, "-c", program]);

  expect(open).toMatchObject({ code: 0, output: "True\n" });
  expect(filtered).toMatchObject({ code: 128 + 31, output: "" });
});

test.for([
  [
    "threads of Python",
    [python, "-c", "import threading as t; x = t.Thread(target=print, args=('done',)); x.start(); x.join()"],
  ],
  [
    "processes of Python",
    [
      python,
      "-c",
      "import subprocess as s; print(s.run(['echo', 'done'], capture_output=True, text=True).stdout, end='')",
    ],
  ],
  [
    "a pool of Python",
    [
      python,
      "-c",
      "import multiprocessing as m\nif __name__ == '__main__':\n  with m.Pool(2) as p: print(p.map(str.lower, ['DONE'])[0])",
    ],
  ],
  [
    "a socket pair of Python",
    [python, "-c", "import socket as s; a, b = s.socketpair(); a.send(b'done'); print(b.recv(4).decode())"],
  ],
  ["Node", [process.execPath, "-e", "setTimeout(() => console.log('done'), 1)"]],
  [
    "files and threads of Node",
    [
      process.execPath,
      "-e",
      "require('fs').promises.readFile('/usr/bin/env').then(() => { const w = new (require('worker_threads').Worker)('require(`worker_threads`).parentPort.postMessage(`done`)', { eval: true }); w.on('message', console.log) })",
    ],
  ],
  [
    "processes of Node",
    [
      process.execPath,
      "-e",
      "console.log(require('child_process').execFileSync('echo', ['done'], { encoding: 'utf8' }).trim())",
    ],
  ],
  [
    "WebAssembly in Node",
    [
      process.execPath,
      "-e",
      "WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(() => console.log('done'))",
    ],
  ],
  ["pipes of Bash", ["bash", "-c", "echo done | cat | (read x; echo $(echo $x))"]],
  [
    "temporary files of Bash",
    [
      "bash",
      "-c",
      "cat <<< done > /tmp/probe-file; chmod 755 /tmp/probe-file; mkdir -p /tmp/a/b; mv /tmp/probe-file /tmp/a/b; cat < /tmp/a/b/probe-file; wait",
    ],
  ],
  ["Perl", ["perl", "-e", "open(my $f, '-|', 'echo done'); print <$f>"]],
] as const)("renderFilter() leaves a tool %s", async ([, command], context) => {
  needProgram(context, bubblewrap);
  needProgram(context, command[0]);

  const result = await runInside(command);

  expect(result).toEqual({ code: 0, output: "done\n", errors: "" });
});

test("renderFilter() lets a fork server make namespaces until its child puts on the filter of a tool", async (context) => {
  needProgram(context, bubblewrap);
  needProgram(context, python);
  const toolFilter = Buffer.from(renderFilter("tool", here())).toString("hex");
  const program = `${prelude}
class Program(ctypes.Structure): _fields_ = [("length", ctypes.c_ushort), ("code", ctypes.c_char_p)]
code = bytes.fromhex("${toolFilter}")
print(named("unshare", 0x04020000), named("mount", b"none", b"/tmp", b"tmpfs", 0, None), named("sethostname", b"x", 1))
print(named("prctl", 38, 1, 0, 0, 0), named("prctl", 22, 2, ctypes.byref(Program(len(code) // 8, code)), 0, 0))
print(named("unshare", 0x00020000), named("mount", b"none", b"/tmp", b"tmpfs", 0, None), named("sethostname", b"x", 1))
`;

  const { output, errors } = await runInside([python, "-c", program], "fork-server", ["--cap-add", "CAP_SYS_ADMIN"]);

  expect(errors).toBe("");
  expect(output).toBe("0 0 0\n0 0\n1 1 1\n");
});

interface Call {
  readonly architecture: FilterArchitecture;
  readonly number: number;
  readonly arguments?: readonly number[];
  /** The high half of each argument. */
  readonly high?: number;
  /** What the kernel calls the architecture of the caller. */
  readonly code?: number;
}

function judge(filter: Uint8Array, call: Call): string {
  const { verdict } = run(filter, call);
  if (verdict === 0x7fff_0000) return "allow";
  if (verdict === 0x8000_0000) return "kill";
  return verdict >>> 16 === 5 ? `errno ${verdict & 0xffff}` : `unknown ${verdict}`;
}

/** Runs a filter as the kernel would, and refuses what the kernel would refuse to load. */
function run(filter: Uint8Array, call: Call): { readonly verdict: number; readonly steps: number } {
  const program = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call.number, true);
  data.setUint32(4, call.code ?? audit[call.architecture], true);
  for (let index = 0; index < 6; index++) {
    data.setUint32(16 + index * 8, call.arguments?.[index] ?? 0, true);
    data.setUint32(20 + index * 8, call.high ?? 0, true);
  }
  let accumulator = 0;
  let steps = 0;
  for (let at = 0; at * 8 < filter.length; at++) {
    const operand = program.getUint32(at * 8 + 4, true);
    const branch = (taken: boolean): number => program.getUint8(at * 8 + (taken ? 2 : 3));
    steps++;
    switch (program.getUint16(at * 8, true)) {
      case 0x20:
        accumulator = data.getUint32(operand, true);
        break;
      case 0x05:
        at += operand;
        break;
      case 0x15:
        at += branch(accumulator === operand);
        break;
      case 0x35:
        at += branch(accumulator >= operand);
        break;
      case 0x45:
        at += branch((accumulator & operand) !== 0);
        break;
      case 0x06:
        return { verdict: operand, steps };
      default:
        throw new Error(`unknown instruction at ${at}`);
    }
  }
  throw new Error("the program does not return");
}

function namesByNumber(architecture: FilterArchitecture): Map<number | undefined, Syscall> {
  const names = Object.keys(syscallNumbers) as Syscall[];
  return new Map(names.map((name) => [syscallNumbers[name][filterArchitectures.indexOf(architecture)], name]));
}

/** The calls whose arguments are tested here, apart from the table under test. */
function numberOf(name: Syscall, architecture: FilterArchitecture): number {
  const numbers: { readonly [Name in Syscall]?: readonly [number, number] } = {
    clone: [56, 220],
    ioctl: [16, 29],
    socket: [41, 198],
    fchmod: [91, 52],
    fchmodat: [268, 53],
    fchmodat2: [452, 452],
    mknodat: [259, 33],
    openat: [257, 56],
    memfd_create: [319, 279],
    msgget: [68, 186],
    semget: [64, 190],
    setsockopt: [54, 208],
    shmget: [29, 194],
    socketpair: [53, 199],
  };
  return numbers[name]![architecture === "x64" ? 0 : 1];
}

function here(): FilterArchitecture {
  const architecture = filterArchitectures.find((name) => name === process.arch);
  if (architecture === undefined) throw new Error(`no filter for ${process.arch}`);
  return architecture;
}

const prelude = `
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
own = "/tmp/own"
open(own, "w").close()
def named(name, *values):
    ctypes.set_errno(0)
    return 0 if getattr(libc, name)(*values) >= 0 else ctypes.get_errno()
def call(number, *values):
    return named("syscall", number, *(ctypes.c_long(value) for value in values))
def attempt(function):
    try:
        function()
        return 0
    except OSError as error:
        return error.errno
`;

async function probe(calls: readonly string[], kind?: FilterKind | "none"): Promise<string[]> {
  const program = `${prelude}${calls.map((call) => `print(${call}, flush=True)`).join("\n")}`;
  const { output } = await runInside([python, "-c", program], kind);
  return output.trim().split("\n");
}

async function runInside(
  command: readonly string[],
  kind: FilterKind | "none" = "tool",
  more: readonly string[] = [],
): Promise<{ code: number | null; output: string; errors: string }> {
  const file = join(directory, kind);
  writeFileSync(file, kind === "none" ? "" : renderFilter(kind, here()));
  const filter = openSync(file, "r");
  const child = spawn(
    bubblewrap,
    [
      ...["--unshare-all", "--unshare-user", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc"],
      // This repository may itself be below /tmp.
      ...["--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", repository, repository, "--chdir", "/tmp", ...more],
      ...(kind === "none" ? [] : ["--seccomp", "3"]),
      ...["--", ...command],
    ],
    { stdio: ["ignore", "pipe", "pipe", filter], env: { PATH: "/usr/bin:/bin", LANG: "C.UTF-8" } },
  );
  closeSync(filter);
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [output, errors] = await Promise.all([text(child.stdout!), text(child.stderr!)]);
  return { code: await code, output, errors };
}
