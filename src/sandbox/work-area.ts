import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { KitbagError } from "../core/errors.ts";
import { isRunning } from "./is-running.ts";

/** Directories for what sandboxes need on disk. Programs inside may be another user, so they can pass through all but the private one. */
export interface WorkArea {
  /** All of them are below it; no tool may see it. */
  readonly root: string;
  /** Kept between processes: only for what is named by its content. */
  readonly kept: string;
  /** Of this process; removed with it. */
  readonly own: string;
  /** Of this process, and no other user can enter it. */
  readonly private: string;
  remove(): Promise<void>;
}

/** Makes the directories of this process, and removes those of processes that are gone. */
export function openWorkArea(parent = tmpdir()): WorkArea {
  const area = join(parent, `kitbag-${ownUser()}`);
  mkdirSync(area, { recursive: true, mode: 0o711 });
  checkOwn(area);
  const kept = join(area, "kept");
  mkdirSync(kept, { recursive: true });
  chmodSync(kept, 0o711);
  removeLeftovers(area);
  const own = mkdtempSync(join(area, `run-${process.pid}-`));
  chmodSync(own, 0o711);
  const secret = join(own, "private");
  mkdirSync(secret, { mode: 0o700 });
  // A process that was ended a moment ago may still make a file there.
  const remove = (): Promise<void> => rm(own, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  return { root: area, kept, own, private: secret, remove };
}

/** Not every user has a name, as in containers; systems without numbers have one user a directory. */
function ownUser(): number {
  return process.getuid?.() ?? 0;
}

/** Another user may have made a directory of this name first. */
function checkOwn(area: string): void {
  const facts = lstatSync(area);
  if (!facts.isDirectory() || facts.uid !== ownUser()) {
    throw new KitbagError("sandbox-failed", {
      sandbox: area,
      reason: "somebody else made it; remove it, or set TMPDIR to a directory of yours",
    });
  }
  chmodSync(area, 0o711);
}

function removeLeftovers(area: string): void {
  for (const name of readdirSync(area)) {
    const pid = /^run-(\d+)-/u.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`) && !isRunning(Number(pid))) {
      rmSync(join(area, name), { recursive: true, force: true });
    }
  }
}
