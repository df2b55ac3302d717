import {
  type FilterArchitecture,
  lastKnownSyscall,
  type Syscall,
  syscallNumbers,
  toSyscallNumber,
} from "./syscalls.ts";

/** What to look at: a 32-bit word of what the kernel shows a filter (`struct seccomp_data`), by its offset. */
const word = {
  number: 0,
  architecture: 4,
  /** The low half of an argument. The kernel ignores the high half of every argument that we test. */
  argument: (index: number): number => 16 + 8 * index,
};

/** What the kernel does with a call. */
const verdict = {
  allow: 0x7fff_0000,
  kill: 0x8000_0000,
  fail: (errno: number): number => 0x0005_0000 | errno,
};

/** A decision: a verdict, or a question about one word with what follows from each answer. */
type Decision = number | Question;

/** A question about one word. */
interface Question {
  readonly word: number;
  /** `equal` to the value, `atLeast` the value (without sign), or any of its `bits` set. */
  readonly test: "equal" | "atLeast" | "bits";
  readonly value: number;
  readonly yes: Decision;
  readonly no: Decision;
}

/** Decides the same for all numbers from `from` to `to`, both included. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly decision: Decision;
}

interface Instruction {
  readonly code: number;
  readonly yes: number;
  readonly no: number;
  readonly value: number;
}

const code = { load: 0x20, jump: 0x05, return: 0x06, equal: 0x15, atLeast: 0x35, bits: 0x45 };
const farthestBranch = 255;

/** The largest number that there can be. */
const largestWord = 0xffff_ffff;

/** Writes a decision as a classic BPF program, as the kernel takes it on little-endian machines. */
function assemble(decision: Decision): Uint8Array {
  const instructions = compile(decision);
  const bytes = new DataView(new ArrayBuffer(instructions.length * 8));
  for (const [index, instruction] of instructions.entries()) {
    bytes.setUint16(index * 8, instruction.code, true);
    bytes.setUint8(index * 8 + 2, instruction.yes);
    bytes.setUint8(index * 8 + 3, instruction.no);
    bytes.setUint32(index * 8 + 4, instruction.value, true);
  }
  return new Uint8Array(bytes.buffer);
}

/** Asks for the number's range by halves, so that a call costs few steps however many ranges there are. */
function search(ranges: readonly Range[], otherwise: Decision): Decision {
  const sorted = ranges.toSorted((left, right) => left.from - right.from);
  const starts: { readonly at: number; readonly decision: Decision }[] = [];
  let next = 0;
  for (const { from, to, decision } of sorted) {
    if (from > next) starts.push({ at: next, decision: otherwise });
    starts.push({ at: from, decision });
    next = to + 1;
  }
  if (next <= largestWord) starts.push({ at: next, decision: otherwise });
  const merged = starts.filter(({ decision }, index) => index === 0 || decision !== starts[index - 1]?.decision);

  function half(low: number, high: number): Decision {
    const first = merged[low];
    if (first === undefined) return otherwise;
    if (high - low === 1) return first.decision;
    const middle = (low + high) >> 1;
    const value = merged[middle]?.at ?? 0;
    return { word: word.number, test: "atLeast", value, yes: half(middle, high), no: half(low, middle) };
  }
  return half(0, merged.length);
}

function compile(decision: Decision, loaded?: number): Instruction[] {
  if (typeof decision === "number") return [{ code: code.return, yes: 0, no: 0, value: decision }];
  const yes = compile(decision.yes, decision.word);
  const no = compile(decision.no, decision.word);
  const { value } = decision;
  const load = loaded === decision.word ? [] : [{ code: code.load, yes: 0, no: 0, value: decision.word }];
  const branch =
    yes.length <= farthestBranch
      ? [{ code: code[decision.test], yes: 0, no: yes.length, value }]
      : [
          { code: code[decision.test], yes: 1, no: 0, value },
          { code: code.jump, yes: 0, no: 0, value: yes.length },
        ];
  return [...load, ...branch, ...yes, ...no];
}

/** Whom a filter is for: a tool, a server that makes namespaces for the tools it forks, or a tool with a tracer that watches it. */
export type FilterKind = "tool" | "fork-server" | "traced";

/** What a filter leaves beside what every program needs. */
export interface FilterOptions {
  /** Unix sockets of its own; pairs that are connected from the start are always left. @default false, but for a fork server */
  readonly unixSockets?: boolean;
  /** Memory that no process has mapped: leave it only where the kernel counts it (control groups). @default true */
  readonly memoryFiles?: boolean;
}

const notPermitted = verdict.fail(1);
const accessDenied = verdict.fail(13);
const noSuchCall = verdict.fail(38);
const noSuchProtocol = verdict.fail(93);
const noSuchFamily = verdict.fail(97);

const auditArchitecture = { x64: 0xc000_003e, arm64: 0xc000_00b7 };
/** Calls of the x32 interface have this bit: the same calls under other numbers. */
const x32Bit = 0x4000_0000;

/** NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. NEWTIME cannot be asked for through `clone`. */
const namespaceFlags = 0x7e02_0000;
/** Input pushed into a terminal (TIOCSTI), selections of the console (TIOCLINUX), drivers behind a terminal (TIOCSETD). */
const terminalTricks = [0x5412, 0x541c, 0x5423];
const unix = 1;
/** INET, INET6. Network namespaces do not hold back others, such as VSOCK, which reaches the host of a virtual machine. */
const networkFamilies = [2, 10];
/** The one of the family's own, ICMP, TCP, UDP, ICMPv6. The kernel does not list what waits in others, such as MPTCP. */
const networkProtocols = [0, 1, 6, 17, 58];
const netlink = 16;
/** The bit that SOCK_DGRAM and SOCK_RAW have, and SOCK_STREAM and SOCK_SEQPACKET do not. */
const datagramBit = 0x2;
/** O_CREAT and the bit of O_TMPFILE that says it. */
const createFlags = 0x40_0040;
const setIdBits = 0o6000;
const socketLevel = 1;
/** SO_SNDBUF, SO_RCVBUF, SO_SNDBUFFORCE, SO_RCVBUFFORCE: larger buffers are memory that no limit of a process counts. */
const bufferSizes = [7, 8, 32, 33];
/** Not done, and said to be done: the size of a buffer is a wish, and programs stop when it is refused. */
const ignored = verdict.fail(0);
/** MFD_NOEXEC_SEAL: without it, what was written to memory can be started as a program. */
const memoryWithoutPrograms = 0x8;

const noSetIdIn = (mode: number): Decision => ifBits(mode, setIdBits, notPermitted, verdict.allow);
const noSetIdWhenCreated = (flags: number, mode: number): Decision =>
  ifBits(flags, createFlags, noSetIdIn(mode), verdict.allow);
const route: Decision = ifEqual(2, [0], verdict.allow, noSuchFamily);
const protocol: Decision = ifEqual(2, networkProtocols, verdict.allow, noSuchProtocol);
const network: Decision = ifEqual(0, networkFamilies, protocol, ifEqual(0, [netlink], route, noSuchFamily));
const networkOrUnix: Decision = ifEqual(0, [unix], verdict.allow, network);
/** One end of a pair of datagrams can be connected to any socket whose path the program knows. */
const pair: Decision = ifEqual(0, [unix], ifBits(1, datagramBit, noSuchFamily, verdict.allow), network);

type Decisions = { readonly [Name in Syscall]?: Decision };

/** Calls that are decided by what they are asked to do, or that must look as if there were none. */
const special: Decisions = {
  // A program with the right to become its owner or group would outlive the sandbox in a granted folder.
  chmod: noSetIdIn(1),
  fchmod: noSetIdIn(1),
  fchmodat: noSetIdIn(2),
  fchmodat2: noSetIdIn(2),
  creat: noSetIdIn(1),
  mknod: noSetIdIn(1),
  mknodat: noSetIdIn(2),
  open: noSetIdWhenCreated(1, 2),
  openat: noSetIdWhenCreated(2, 3),
  // Their arguments are in memory, where a filter cannot look. Libraries then use the older call.
  openat2: noSuchCall,
  clone3: noSuchCall,
  clone: ifBits(0, namespaceFlags, notPermitted, verdict.allow),
  ioctl: ifEqual(1, terminalTricks, notPermitted, verdict.allow),
  memfd_create: ifBits(1, memoryWithoutPrograms, verdict.allow, accessDenied),
  socket: network,
  socketpair: pair,
  setsockopt: ifEqual(1, [socketLevel], ifEqual(2, bufferSizes, ignored, verdict.allow), verdict.allow),
  // Each is in an IPC namespace of its own.
  msgget: verdict.allow,
  semget: verdict.allow,
  shmget: verdict.allow,
};

const withUnixSockets: Decisions = { socket: networkOrUnix, socketpair: networkOrUnix };

/** What holds memory that no process has mapped, and that no limit of a process counts. */
const withoutMemoryFiles: Decisions = {
  memfd_create: noSuchCall,
  msgget: noSuchCall,
  semget: noSuchCall,
  shmget: noSuchCall,
};

/** What a fork server may do beside a tool; the children it forks for calls put on the filter of a tool. */
const forkServerCalls = new Set<Syscall>(["clone", "mount", "pivot_root", "sethostname", "umount2", "unshare"]);

/** What a tracer of the processes that it started may do beside a tool. */
const tracerCalls = new Set<Syscall>(["ptrace", "process_vm_readv"]);

const allowedTo: { readonly [Kind in FilterKind]: ReadonlySet<Syscall> } = {
  tool: new Set(),
  "fork-server": forkServerCalls,
  traced: tracerCalls,
};

/**
 * Writes a seccomp filter: a classic BPF program as `bwrap --seccomp` and the kernel's `seccomp` take it. Calls that are refused
 * fail as if the caller lacked the right; calls of another architecture end the process; calls newer than the filter do not exist.
 * Filters add up, so a process under the filter of a fork server can put on the filter of a tool.
 */
export function renderFilter(
  kind: FilterKind,
  architecture: FilterArchitecture,
  { unixSockets = kind === "fork-server", memoryFiles = true }: FilterOptions = {},
): Uint8Array {
  const decisions = { ...special, ...(unixSockets && withUnixSockets), ...(!memoryFiles && withoutMemoryFiles) };
  const ranges: Range[] = [];
  for (const name of Object.keys(syscallNumbers) as Syscall[]) {
    const number = toSyscallNumber(name, architecture);
    if (number === undefined || allowedTo[kind].has(name)) continue;
    ranges.push({ from: number, to: number, decision: decisions[name] ?? notPermitted });
  }
  ranges.push({ from: lastKnownSyscall + 1, to: largestWord, decision: noSuchCall });
  const byNumber = search(ranges, verdict.allow);
  return assemble({
    word: word.architecture,
    test: "equal",
    value: auditArchitecture[architecture],
    yes:
      architecture === "x64"
        ? { word: word.number, test: "atLeast", value: x32Bit, yes: verdict.kill, no: byNumber }
        : byNumber,
    no: verdict.kill,
  });
}

function ifBits(argument: number, value: number, yes: Decision, no: Decision): Decision {
  return { word: word.argument(argument), test: "bits", value, yes, no };
}

function ifEqual(argument: number, values: readonly number[], yes: Decision, no: Decision): Decision {
  let decision = no;
  for (const value of values.toReversed()) {
    decision = { word: word.argument(argument), test: "equal", value, yes, no: decision };
  }
  return decision;
}
