import { KitbagError } from "../../core/errors.ts";
import { isRoot } from "../host.ts";
import { devices, type Layout } from "../layout.ts";
import { findProgram } from "../programs.ts";
import { guarantees, type Profile, type Sandbox } from "../sandbox.ts";
import { limitWords, startIn, type LinuxHost } from "./linux.ts";

/** Programs run in nsjail: namespaces, mounts and a system-call filter of its own language. */
export function nsjailSandbox(host: LinuxHost): Sandbox {
  return startIn(host, {
    name: "nsjail",
    enforces: new Set(guarantees),
    // Root stages what was granted at places of its own.
    takesPaths: !isRoot,
    toCommand(profile, layout, command) {
      const lacks = { tool: [], "fork-server": ["namespaces for each call of a server"], traced: ["tracers"] };
      const lacking = lacks[profile.filter ?? "tool"];
      if (lacking.length > 0) throw new KitbagError("sandbox-weak", { sandbox: "nsjail", lacks: lacking });
      return {
        // In a file instead of the command line, where every user of the machine could read the environment.
        files: [renderNsjailConfig(profile, layout, [...limitWords(profile, command), ...command])],
        words: [
          ...[findProgram("setpriv") ?? "setpriv", "--pdeathsig", "KILL", "--"],
          ...[findProgram("nsjail") ?? "nsjail", "--config", "/proc/self/fd/4"],
        ],
      };
    },
  });
}

/** What no tool needs and what has broken kernels before. An nsjail that does not know one of these names does not start. */
const refusedCalls =
  `ptrace process_vm_readv process_vm_writev mount umount2 pivot_root chroot unshare setns bpf perf_event_open
  keyctl add_key request_key kexec_load init_module finit_module delete_module personality open_by_handle_at name_to_handle_at
  swapon swapoff reboot acct quotactl syslog userfaultfd io_uring_setup`.split(/\s+/u);

/** A program with the right to become its owner or group would outlive the sandbox in a granted folder. */
const setIdCalls = ["fchmod(fd, mode)", "fchmodat(dfd, filename, mode)", "chmod(filename, mode)"];

/** Unix sockets, and pairs that could be connected to one: datagrams. */
const socketCalls = [
  "socket(domain, type, protocol) { domain == 1 }",
  "socketpair(domain, type, protocol, pair) { domain == 1 && (type & 2) != 0 }",
];

function renderCalls({ sockets }: Profile): string {
  // arm64 has no chmod.
  const guarded = setIdCalls.slice(0, process.arch === "x64" ? 3 : 2);
  const ofSockets = sockets === "private" ? [] : socketCalls;
  return [...refusedCalls, ...guarded.map((call) => `${call} { (mode & 06000) != 0 }`), ...ofSockets].join(", ");
}

/** The configuration of nsjail for one program, in the text format of protocol buffers. */
export function renderNsjailConfig(profile: Profile, layout: Layout, command: readonly string[]): string {
  const { limits, sealed = [] } = profile;
  const [program = "", ...argv] = command;
  const temporary = `size=${limits.temporaryBytes},mode=1777`;
  return [
    ...["mode: ONCE", "log_level: FATAL", "time_limit: 0", 'hostname: "tool"', `cwd: ${quote(layout.directory)}`],
    ...["keep_env: false", "keep_caps: false", "disable_no_new_privs: false", "skip_setsid: false", "pass_fd: 3"],
    ...["user", "ns", "pid", "ipc", "uts", "net", "cgroup"].map((name) => `clone_new${name}: true`),
    ...["uid", "gid"].map((kind) => `${kind}map { inside_id: "65534" outside_id: "" count: 1 }`),
    // Limits are set inside, where the processes of this sandbox alone are counted.
    ...["as", "cpu", "fsize", "nofile", "nproc"].map((name) => `rlimit_${name}_type: HARD`),
    ...Object.entries(layout.environment).map(([name, value]) => `envar: ${quote(`${name}=${value}`)}`),
    mount({ dst: "/proc", fstype: "proc" }),
    ...devices.map((name) => mount({ src: `/dev/${name}`, dst: `/dev/${name}`, bind: true, write: true })),
    mount({ dst: "/tmp", fstype: "tmpfs", options: temporary, write: true }),
    mount({ dst: "/dev/shm", fstype: "tmpfs", options: temporary, write: true }),
    // It makes what is only to be read so when all is mounted.
    ...sealed.map((folder) => mount({ dst: folder, fstype: "tmpfs", options: "size=1m,mode=755" })),
    ...layout.links.map(({ path, target }) => `mount { src: ${quote(target)} dst: ${quote(path)} is_symlink: true }`),
    ...layout.mounts.map(({ source, target, write }) =>
      mount({ src: source, dst: target, bind: true, write: write === true }),
    ),
    `seccomp_string: ${quote(`ERRNO(1) { ${renderCalls(profile)} } DEFAULT ALLOW`)}`,
    `exec_bin { path: ${quote(toProgram(program))} ${argv.map((word) => `arg: ${quote(word)}`).join(" ")} }`,
    "",
  ].join("\n");
}

interface NsjailMount {
  readonly src?: string;
  readonly dst: string;
  readonly fstype?: string;
  readonly options?: string;
  readonly bind?: boolean;
  readonly write?: boolean;
}

function mount({ src, dst, fstype, options, bind = false, write = false }: NsjailMount): string {
  const fields = [
    ...(src === undefined ? [] : [`src: ${quote(src)}`]),
    `dst: ${quote(dst)}`,
    ...(fstype === undefined ? [] : [`fstype: ${quote(fstype)}`]),
    ...(options === undefined ? [] : [`options: ${quote(options)}`]),
    ...[`is_bind: ${bind}`, `rw: ${write}`, "nosuid: true", "nodev: false"],
  ];
  return `mount { ${fields.join(" ")} }`;
}

/** It does not look for programs itself. */
function toProgram(name: string): string {
  return name.startsWith("/") ? name : `/usr/bin/${name}`;
}

/** A string of the text format: every byte that is not plain is written as an octal number, so nothing can end it. */
function quote(text: string): string {
  const bytes = [...Buffer.from(text, "utf8")];
  const plain = (byte: number): boolean => byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
  const characters = bytes.map((byte) =>
    plain(byte) ? String.fromCodePoint(byte) : `\\${byte.toString(8).padStart(3, "0")}`,
  );
  return `"${characters.join("")}"`;
}
