import { chmodSync, copyFileSync } from "node:fs";
import { join } from "node:path";

import { insideFile, makeReadableFolder } from "../host.ts";
import { devices } from "../layout.ts";
import { findProgram } from "../programs.ts";
import { mostFiles } from "../limits/watch-resources.ts";
import { guarantees, type Profile, type Sandbox } from "../sandbox.ts";
import { startIn, usesNode, type HeldLayout, type LinuxHost } from "./linux.ts";
import { filterOf } from "./with-relay.ts";

/** Numbers of the kernel for what can be limited. */
const resource = { cpu: 0, fsize: 1, data: 2, core: 4, nproc: 6, nofile: 7 };

/** Programs run in namespaces made with `unshare` and Perl, which every common Linux has; no rights of root are needed. */
export function unshareSandbox(host: LinuxHost): Sandbox {
  const root = join(host.area.own, "root");
  makeReadableFolder(root);
  // The user that programs run as may not be able to pass through the folders above ours.
  const enter = join(host.area.own, "enter.pl");
  copyFileSync(insideFile("enter.pl"), enter);
  chmodSync(enter, 0o644);
  return startIn(host, {
    name: "unshare",
    enforces: new Set(guarantees),
    boundsFiles: true,
    toCommand(profile, layout, command) {
      const plan = [root, ...toPlan(profile, layout, command)].map((word) => `${word}\0`).join("");
      return {
        files: [plan, filterOf(profile, host)],
        lifeline: true,
        words: [
          findProgram("unshare") ?? "unshare",
          ...["--user", "--map-user=65534", "--map-group=65534", "--keep-caps", "--mount", "--propagation", "private"],
          ...["--pid", "--fork", "--kill-child", "--ipc", "--uts", "--net", "--cgroup", "--"],
          ...[findProgram("perl") ?? "perl", enter],
        ],
      };
    },
  });
}

function toPlan(profile: Profile, layout: HeldLayout, command: readonly string[]): string[] {
  const { limits, sealed = [] } = profile;
  const temporary = `size=${limits.temporaryBytes},nr_inodes=${mostFiles},mode=1777`;
  const most = {
    cpu: limits.cpuSeconds,
    fsize: limits.fileBytes,
    core: 0,
    nproc: limits.processes,
    nofile: limits.openFiles,
    ...(!usesNode(command) && { data: limits.memoryBytes }),
  };
  return [
    ...["tmpfs", "/tmp", temporary, "tmpfs", "/dev/shm", temporary],
    ...sealed.flatMap((folder) => ["tmpfs", folder, "size=1m,nr_inodes=4096,mode=755"]),
    ...devices.flatMap((name) => ["device", `/dev/${name}`]),
    ...layout.links.flatMap(({ path, target }) => ["link", path, target]),
    ...layout.mounts.flatMap(({ source, target, write, held }) => [
      ...["mount", source, target],
      ...[write === true ? "1" : "", held?.identity ?? ""],
    ]),
    ...sealed.flatMap((folder) => ["seal", folder]),
    ...Object.entries(most).flatMap(([name, value]) => [
      "limit",
      String(resource[name as keyof typeof resource]),
      String(value),
    ]),
    ...Object.entries(layout.environment).flatMap(([name, value]) => ["set", name, value]),
    ...["in", layout.directory],
    ...(profile.filter === "fork-server" ? ["keep"] : []),
    ...["run", ...command],
  ];
}
