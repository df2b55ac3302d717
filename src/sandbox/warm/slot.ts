import { join } from "node:path";
import { text } from "node:stream/consumers";

import { KitbagError } from "../../core/errors.ts";
import { toEnvironment } from "../layout.ts";
import type { Mount, Profile, Sandbox, SandboxProcess } from "../sandbox.ts";

/** What runs in a slot. */
export interface SlotOrder {
  /** The script and its arguments for the Node that waits; else the program and its arguments. */
  readonly argv: readonly string[];
  /** Environment variables of this script, beside those of the profile. */
  readonly environment: Readonly<Record<string, string>>;
  readonly input?: string | Uint8Array;
}

/** What waits in a slot: Node, or a shell that becomes the program. */
export type SlotKind = "node" | "program";

/** What waits in a slot. */
export interface SlotSpec {
  readonly kind: SlotKind;
  /** First arguments of the interpreter. */
  readonly argv: readonly string[];
}

/** A sandbox with an interpreter that waits for the one script it will run. */
export interface Slot {
  /** Runs the script; once. */
  run(order: SlotOrder): SandboxProcess;
  /** Resolves when it is gone. */
  readonly ended: Promise<unknown>;
  close(): void;
}

const launchers: Record<SlotKind, { readonly program: string; readonly file: string }> = {
  node: { program: "/opt/node", file: "launch.cjs" },
  program: { program: "bash", file: "launch.sh" },
};

/** Starts a slot, and waits until its interpreter is there. */
export async function startSlot(sandbox: Sandbox, profile: Profile, { kind, argv }: SlotSpec): Promise<Slot> {
  const { program, file } = launchers[kind];
  const inside = `/opt/kitbag/warm/${file}`;
  const mount: Mount = { source: join(import.meta.dirname, "inside", file), target: inside };
  const waiting = await sandbox.start({ ...profile, mounts: [...profile.mounts, mount] }, [program, ...argv, inside]);
  const isReady = await Promise.race([waitForLine(waiting), waiting.exit.then(() => false)]);
  if (!isReady) {
    const complaint = (await text(waiting.stderr)).trim();
    throw new KitbagError("sandbox-failed", { sandbox: sandbox.name, reason: complaint.slice(-500) });
  }
  waiting.setHeld(false);
  return {
    run(order) {
      waiting.setHeld(true);
      waiting.fillInput(order.input ?? "");
      waiting.channel.write(kind === "node" ? toLine(profile, order) : toWords(profile, order));
      return waiting;
    },
    ended: waiting.exit,
    close: () => waiting.kill(),
  };
}

/** The first line says that the interpreter waits; nothing comes after it before the script runs. */
function waitForLine({ channel }: SandboxProcess): Promise<boolean> {
  return new Promise((resolve) => {
    channel.on("readable", function read() {
      // It can be told of something to read before there is anything.
      if (channel.read() === null) return;
      channel.off("readable", read);
      resolve(true);
    });
  });
}

function toLine(profile: Profile, { argv, environment }: SlotOrder): string {
  const all = { ...toEnvironment(profile), ...environment };
  return `${JSON.stringify({ directory: profile.directory ?? "/tmp", environment: all, argv })}\n`;
}

function toWords(profile: Profile, { argv, environment }: SlotOrder): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const words = [profile.directory ?? "/tmp", String(variables.length), ...variables, String(argv.length), ...argv];
  return words.map((word) => `${word}\0`).join("");
}
