import { existsSync } from "node:fs";
import { extname, join } from "node:path";

import { relayPort } from "./environment.ts";

/** Which program passes connections on inside. The relay in Perl starts in a third of the time of the one in Python; Node is the slowest by far. */
export type RelayInterpreter = "perl" | "python" | "node";

/** The folder with the programs of the relay on the host; mount it read-only at {@link relayTarget}. */
export const relaySource: string = join(import.meta.dirname, "inside");

/** Where the folder with the programs of the relay is inside. */
export const relayTarget = "/opt/kitbag/egress";

const interpreters = { perl: "/usr/bin/perl", python: "/usr/bin/python3", node: "/opt/node" };

/** Finds the relay that starts fastest on this machine. It needs its interpreter inside, under the same path. */
export function findRelayInterpreter(): RelayInterpreter {
  const found = (["perl", "python"] as const).find((name) => existsSync(interpreters[name]));
  return found ?? "node";
}

/**
 * Puts the relay in front of a command: it opens its port, leaves a process behind that passes connections on to `socket`, and
 * becomes the command. The interface `lo` must be up, or the relay must have the right to bring it up.
 */
export function toRelayCommand(
  interpreter: RelayInterpreter,
  socket: string,
  command: readonly string[],
  folder = relayTarget,
): string[] {
  const program = interpreters[interpreter];
  const words = [String(relayPort), socket, "--", ...command];
  switch (interpreter) {
    case "perl":
      return [program, `${folder}/relay.pl`, ...words];
    case "python":
      return [program, "-I", "-S", `${folder}/relay.py`, ...words];
    case "node":
      return [program, `${folder}/relay${extname(import.meta.filename)}`, ...words];
  }
}
