import { expect, test } from "vitest";

import type { Layout } from "../layout.ts";
import { defaultLimits, type Profile } from "../sandbox.ts";
import { renderNsjailConfig } from "./nsjail.ts";

const profile: Profile = { mounts: [], environment: {}, programs: [], limits: defaultLimits };
const layout: Layout = {
  mounts: [
    { source: "/usr/lib", target: "/usr/lib" },
    { source: "/data", target: "/data", write: true },
  ],
  links: [{ path: "/bin", target: "usr/bin" }],
  environment: { PATH: "/usr/bin", HOME: "/tmp" },
  directory: "/tmp",
};

test("renderNsjailConfig() writes all that a program may see", () => {
  const config = renderNsjailConfig(profile, layout, ["prlimit", "--cpu=60", "--", "/usr/bin/python3", "/skill/a.py"]);

  expect(config).toMatchInlineSnapshot(`
    "mode: ONCE
    log_level: FATAL
    time_limit: 0
    hostname: "tool"
    cwd: "/tmp"
    keep_env: false
    keep_caps: false
    disable_no_new_privs: false
    skip_setsid: false
    pass_fd: 3
    clone_newuser: true
    clone_newns: true
    clone_newpid: true
    clone_newipc: true
    clone_newuts: true
    clone_newnet: true
    clone_newcgroup: true
    uidmap { inside_id: "65534" outside_id: "" count: 1 }
    gidmap { inside_id: "65534" outside_id: "" count: 1 }
    rlimit_as_type: HARD
    rlimit_cpu_type: HARD
    rlimit_fsize_type: HARD
    rlimit_nofile_type: HARD
    rlimit_nproc_type: HARD
    envar: "PATH=/usr/bin"
    envar: "HOME=/tmp"
    mount { dst: "/proc" fstype: "proc" is_bind: false rw: false nosuid: true nodev: false }
    mount { src: "/dev/null" dst: "/dev/null" is_bind: true rw: true nosuid: true nodev: false }
    mount { src: "/dev/zero" dst: "/dev/zero" is_bind: true rw: true nosuid: true nodev: false }
    mount { src: "/dev/full" dst: "/dev/full" is_bind: true rw: true nosuid: true nodev: false }
    mount { src: "/dev/random" dst: "/dev/random" is_bind: true rw: true nosuid: true nodev: false }
    mount { src: "/dev/urandom" dst: "/dev/urandom" is_bind: true rw: true nosuid: true nodev: false }
    mount { dst: "/tmp" fstype: "tmpfs" options: "size=67108864,mode=1777" is_bind: false rw: true nosuid: true nodev: false }
    mount { dst: "/dev/shm" fstype: "tmpfs" options: "size=67108864,mode=1777" is_bind: false rw: true nosuid: true nodev: false }
    mount { src: "usr/bin" dst: "/bin" is_symlink: true }
    mount { src: "/usr/lib" dst: "/usr/lib" is_bind: true rw: false nosuid: true nodev: false }
    mount { src: "/data" dst: "/data" is_bind: true rw: true nosuid: true nodev: false }
    seccomp_string: "ERRNO(1) { ptrace, process_vm_readv, process_vm_writev, mount, umount2, pivot_root, chroot, unshare, setns, bpf, perf_event_open, keyctl, add_key, request_key, kexec_load, init_module, finit_module, delete_module, personality, open_by_handle_at, name_to_handle_at, swapon, swapoff, reboot, acct, quotactl, syslog, userfaultfd, io_uring_setup, fchmod(fd, mode) { (mode & 06000) != 0 }, fchmodat(dfd, filename, mode) { (mode & 06000) != 0 }, chmod(filename, mode) { (mode & 06000) != 0 }, socket(domain, type, protocol) { domain == 1 }, socketpair(domain, type, protocol, pair) { domain == 1 && (type & 2) != 0 } } DEFAULT ALLOW"
    exec_bin { path: "/usr/bin/prlimit" arg: "--cpu=60" arg: "--" arg: "/usr/bin/python3" arg: "/skill/a.py" }
    "
  `);
});

test("renderNsjailConfig() makes a sealed folder before what is mounted in it, and only to read", () => {
  const config = renderNsjailConfig({ ...profile, sealed: ["/tmp/project"] }, layout, ["true"]);

  const folder =
    'mount { dst: "/tmp/project" fstype: "tmpfs" options: "size=1m,mode=755" is_bind: false rw: false nosuid: true nodev: false }';
  expect(config).toContain(folder);
  expect(config.indexOf(folder)).toBeLessThan(config.indexOf('dst: "/data"'));
});

test.for([
  ['/a" } mount { src: "/', String.raw`"/a\042 } mount { src: \042/"`],
  ["/a\nkeep_env: true", String.raw`"/a\012keep_env: true"`],
  ["/a\\", String.raw`"/a\134"`],
  ["/a:b (c) 'd'", `"/a:b (c) 'd'"`],
  ["/ä\u0000", String.raw`"/\303\244\000"`],
] as const)("renderNsjailConfig() lets no path end its string: %j", ([path, quoted]) => {
  const mounts = [{ source: path, target: path }];

  const config = renderNsjailConfig(profile, { ...layout, mounts }, ["true"]);

  expect(config.split("\n")).toContain(
    `mount { src: ${quoted} dst: ${quoted} is_bind: true rw: false nosuid: true nodev: false }`,
  );
});

test("renderNsjailConfig() lets no word and no value end its string", () => {
  const environment = { A: '" keep_caps: true #' };

  const config = renderNsjailConfig(profile, { ...layout, environment }, ["/bin/sh", '" } time_limit: 1']);

  expect(config).toContain(String.raw`envar: "A=\042 keep_caps: true #"`);
  expect(config).toContain(String.raw`exec_bin { path: "/bin/sh" arg: "\042 } time_limit: 1" }`);
});
