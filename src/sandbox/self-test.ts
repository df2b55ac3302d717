import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";

import { KitbagError } from "../core/errors.ts";
import { isRoot, writeReadableFile } from "./host.ts";
import { listenIn } from "./sockets.ts";
import { findProgram } from "./programs.ts";
import { guarantees, type Guarantee, type Profile, type Sandbox } from "./sandbox.ts";
import type { WorkArea } from "./work-area.ts";

/** What a sandbox was seen to hold programs to, by trying to break out of it. */
export interface SelfTest {
  readonly enforced: readonly Guarantee[];
  /** What it did not hold back, and what was seen instead. */
  readonly broken: readonly { readonly guarantee: Guarantee; readonly found: string }[];
}

/** What was not held back, by what was seen instead: one cause is often behind many. */
export function groupBroken({ broken }: SelfTest): Map<string, Guarantee[]> {
  const groups = new Map<string, Guarantee[]>();
  for (const { guarantee, found } of broken) groups.set(found, [...(groups.get(found) ?? []), guarantee]);
  return groups;
}

const limits = {
  memoryBytes: 96 * 1024 * 1024,
  cpuSeconds: 20,
  processes: 24,
  openFiles: 64,
  fileBytes: 2 * 1024 * 1024,
  temporaryBytes: 4 * 1024 * 1024,
};
const longestMs = 20_000;

/** Each line it prints is the name of a guarantee and what was seen: `ok`, or what must not be. It uses basic programs alone. */
export const probe = String.raw`
say() { printf '%s %s\n' "$1" "$2"; }
try() { if (eval "$3") >/dev/null 2>&1; then say "$1" "$2"; else say "$1" ok; fi; }
try files 'a file outside can be read' '[ -e "$OUTSIDE" ] || cat /etc/shadow'
try files 'what was granted is not there' '[ ! -e "$GRANTED/file" ]'
try files 'the root can be written to' ': > /kitbag-probe || : > /usr/kitbag-probe || : > "$FOLDER/kitbag-probe"'
try user 'a file that was not granted can be read' 'cat "$FOLDER/secret"'
try user 'it is root' '[ "$(id -u)" = 0 ]'
try network 'a port of this machine can be reached' ': < "/dev/tcp/127.0.0.1/$PORT"'
try network 'there is a way out' ': < /dev/tcp/192.0.2.1/80 || grep -v "^ *lo:" /proc/net/dev | grep ":"'
try environment 'a variable that was not granted is seen' 'compgen -e | grep -vxE "PATH|HOME|TMPDIR|LANG|PWD|OLDPWD|SHLVL|_|OUTSIDE|FOLDER|PORT|PARENT|GRANTED"'
try processes 'processes outside are seen' '[ -e "/proc/$PARENT/exe" ] || kill -0 "$PARENT"'
try privileges 'it has rights' '! grep -q "^CapEff:.0*$" /proc/self/status || ! grep -q "^NoNewPrivs:.1$" /proc/self/status'
try privileges 'it may make programs that run as their owner' ': > /tmp/own; chmod u+s /tmp/own'
rm -f /tmp/own
try syscalls 'nothing filters its calls' '! grep -q "^Seccomp:.2$" /proc/self/status'
try programs 'programs exist that were not granted' '[ -e /usr/bin/mount ] || [ -e /usr/sbin/mount ] || [ -e /usr/bin/su ]'
try cpu 'it may use any time' '[ "$(ulimit -t)" != 20 ]'
try open-files 'it may open any number of files' '[ "$(ulimit -n)" -gt 64 ]'
try file-size 'it may write any file' 'head -c 3000000 /dev/zero > /tmp/large'
rm -f /tmp/large
try disk 'it may fill the disk' 'for part in 1 2 3 4; do head -c 1500000 /dev/zero > /tmp/$part || exit 1; done'
try disk 'it may fill the memory through a file' 'for part in 1 2 3 4; do head -c 1500000 /dev/zero > /dev/shm/$part || exit 1; done'
rm -f /tmp/? /dev/shm/?
# In one allocation: a refused allocation never used any memory, so the memory watcher has no reason to end the probe.
try memory 'it may use any memory' 'dd if=/dev/zero of=/dev/null bs=150000000 count=1'
fill() {
  seq 60 | xargs -P 60 -I{} sleep 60 &
  local last=0 same=0 waits=0
  # A shell that cannot start a process waits for seconds before it says so; counting starts none.
  while ((same < 6 && waits++ < 100)); do
    read -t 0.05 -u 3 line
    set -- /proc/[0-9]*
    [ $# -le 40 ] || return 0
    if (($# == last && last >= 20)); then same=$((same + 1)); else same=0; fi
    last=$#
  done
  ((last < 20))
}
# The last one: what it started ends with the sandbox.
try process-count 'it may start any number of processes' fill
say done ok
`;

/** Tries to reach a Unix socket in a folder that it sees. No basic program can: it is in Perl, or in Node where there is no Perl. */
export const socketProbes = {
  perl: String.raw`use Socket; my $place = pack_sockaddr_un("$ENV{FOLDER}/socket");
sub say { my $seen = $_[0] ? "can be reached" : "answers: $!"; print "sockets ", !$_[0] && ($!{EAFNOSUPPORT} || $!{EPERM}) ? "ok" : "a Unix socket in a folder that it reads $seen", "\n" }
say(socket(my $one, PF_UNIX, SOCK_STREAM, 0) && connect($one, $place));
say(socketpair(my $two, my $three, PF_UNIX, SOCK_DGRAM, 0) && connect($two, $place));`,
  node: `const say = (what) => { console.log("sockets " + what); process.exit(); };
const socket = require("node:net").connect(process.env.FOLDER + "/socket");
socket.on("connect", () => say("a Unix socket in a folder that it reads can be reached"));
socket.on("error", ({ code }) => say(["EAFNOSUPPORT", "EPERM"].includes(code) ? "ok" : "a Unix socket in a folder that it reads answers: " + code));`,
};

/** Tries to break out of a sandbox in every way that it says it holds back. Takes a fraction of a second. */
export async function testSandbox(sandbox: Sandbox, area: WorkArea): Promise<SelfTest> {
  // Others may be tested at the same time.
  const directory = mkdtempSync(join(area.own, "self-test-"));
  const hidden = mkdtempSync(join(area.private, "self-test-"));
  const outside = join(hidden, "outside");
  chmodSync(directory, 0o755);
  // What this user owns it may read, so only one without any rights tells something.
  writeFileSync(join(directory, "secret"), "secret", { mode: isRoot ? 0o600 : 0 });
  writeReadableFile(join(directory, "probe.sh"), probe);
  writeFileSync(outside, "secret");
  const granted = mkdtempSync(join(area.own, "granted-"));
  chmodSync(granted, 0o755);
  writeReadableFile(join(granted, "file"), "");
  const [server, socketServer] = await Promise.all([serve(0), serve(join(directory, "socket"))]);
  try {
    const { port } = server.address() as { port: number };
    const folder = sandbox.keepsPaths === true ? directory : "/skill";
    const ids = { PORT: String(port), PARENT: String(process.pid) };
    const environment = { OUTSIDE: outside, FOLDER: folder, GRANTED: granted, ...ids };
    const mounts = [
      { source: directory, target: "/skill" },
      { source: granted, target: granted, granted: true },
    ];
    const profile: Profile = { mounts, environment, programs: [], limits };
    const [seen, sockets] = await Promise.all([
      run(sandbox, profile, ["bash", "/skill/probe.sh"]),
      run(sandbox, ...toSocketProbe(profile)),
    ]);
    // What is not there cannot be seen, and that would prove nothing.
    if (![outside, join(directory, "secret")].every((path) => existsSync(path))) {
      const reason = "another program removed the files of its test while it ran";
      throw new KitbagError("sandbox-failed", { sandbox: sandbox.name, reason });
    }
    return toResult(sandbox, { ...seen, lines: [...seen.lines, ...sockets.lines] });
  } finally {
    server.close();
    socketServer.close();
    for (const made of [directory, hidden, granted]) rmSync(made, { recursive: true, force: true });
  }
}

/** Listens on a port of the loopback interface, or on a Unix socket that every user may connect to. */
async function serve(place: 0 | string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const reason = `its test cannot listen (${cause.message}); use a writable directory`;
      reject(new KitbagError("sandbox-failed", { sandbox: "self-test", reason }, { cause }));
    });
    server.once("listening", resolve);
    if (place === 0) server.listen(0, "127.0.0.1");
    else listenIn(dirname(place), basename(place), server);
  });
  if (place !== 0) chmodSync(place, 0o666);
  return server;
}

function toSocketProbe(profile: Profile): [Profile, readonly string[]] {
  const perl = findProgram("perl");
  if (perl !== undefined) return [{ ...profile, programs: [perl] }, [perl, "-e", socketProbes.perl]];
  const node = { source: realpathSync(process.execPath), target: "/opt/node" };
  return [{ ...profile, mounts: [...profile.mounts, node] }, [node.target, "-e", socketProbes.node]];
}

interface ProbeRun {
  readonly lines: readonly string[];
  readonly complaint: string;
}

async function run(sandbox: Sandbox, profile: Profile, command: readonly string[]): Promise<ProbeRun> {
  const started = await sandbox.start(profile, command);
  const timer = setTimeout(() => started.kill(), longestMs);
  const [output, complaint] = await Promise.all([text(started.stdout), text(started.stderr), started.exit]);
  clearTimeout(timer);
  return { lines: output.split("\n"), complaint: complaint.trim() };
}

function toResult(sandbox: Sandbox, { lines, complaint }: ProbeRun): SelfTest {
  const isComplete = lines.includes("done ok");
  const broken = guarantees.flatMap((guarantee) => {
    if (!sandbox.enforces.has(guarantee)) return [];
    const seen = lines
      .filter((line) => line.startsWith(`${guarantee} `))
      .map((line) => line.slice(guarantee.length + 1));
    const found =
      seen.find((what) => what !== "ok") ??
      (seen.length > 0 && isComplete ? undefined : complaint || "the probe did not end");
    return found === undefined ? [] : [{ guarantee, found }];
  });
  const enforced = guarantees.filter(
    (name) => sandbox.enforces.has(name) && broken.every(({ guarantee }) => guarantee !== name),
  );
  return { enforced, broken };
}
