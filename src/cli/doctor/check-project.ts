import { plural } from "../render.ts";
import { accessSync, constants, existsSync, statSync } from "node:fs";

import { describeFileError } from "../../platform/files.ts";
import { loadTrust } from "../../skills/trust/trust-file.ts";
import type { CliContext } from "../cli-command.ts";
import { checkTrust } from "../config/require-trust.ts";
import { findConfig } from "../config/find-config.ts";
import { mustBeTrusted } from "../config/find-trust-target.ts";
import { defaultStore, findNamedStore, nameStore } from "../store/choose-store.ts";
import { resolveKitbagHome } from "../../platform/home.ts";

/** The result of one check. */
export interface DoctorCheck {
  readonly name: string;
  /** `note` is neither right nor wrong. */
  readonly status: "ok" | "note" | "wrong";
  readonly found: string;
  /** What to do about it. */
  readonly cure?: string;
}

/** Looks at the machine and the project. Changes nothing and runs nothing of the project. */
export async function runChecks(context: CliContext): Promise<DoctorCheck[]> {
  return [
    checkNode(process.versions.node),
    { name: "platform", status: "ok", found: `${process.platform} ${process.arch}` },
    attempt("KITBAG_HOME", () => checkHome(resolveKitbagHome(context.env))),
    attempt("trust list", () => checkTrustList(resolveKitbagHome(context.env))),
    attempt("configuration", () => checkConfig(context)),
    await checkStore(context).catch((cause: unknown) => toWrong("store", cause)),
    checkTerminal(context),
  ];
}

/** What is wrong is what this command is there to tell. */
function attempt(name: string, check: () => DoctorCheck): DoctorCheck {
  try {
    return check();
  } catch (cause) {
    return toWrong(name, cause);
  }
}

function toWrong(name: string, cause: unknown): DoctorCheck {
  return { name, status: "wrong", found: cause instanceof Error ? cause.message : String(cause) };
}

const oldestNode = [22, 19] as const;

/** Tells whether this Node is new enough. */
export function checkNode(version: string): DoctorCheck {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNew = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
  if (isNew) return { name: "Node.js", status: "ok", found: version };
  return { name: "Node.js", status: "wrong", found: version, cure: `install ${oldestNode.join(".")} or newer` };
}

function checkHome(home: string): DoctorCheck {
  const name = "KITBAG_HOME";
  const found = statSync(home, { throwIfNoEntry: false });
  if (found === undefined) return { name, status: "note", found: `${home} (made when it is needed)` };
  if (!found.isDirectory()) return { name, status: "wrong", found: `${home} is not a folder`, cure: "move it away" };
  try {
    accessSync(home, constants.W_OK);
  } catch (cause) {
    return { name, status: "wrong", found: `${home}: ${describeFileError(cause)}`, cure: "make it yours" };
  }
  return { name, status: "ok", found: home };
}

function checkTrustList(home: string): DoctorCheck {
  const { configs, folders: listed } = loadTrust(home);
  const folders = [...listed.values()].filter((files) => files.size > 0);
  const found = [
    plural(configs.size, "trusted configuration"),
    ...(folders.length > 0 ? [plural(folders.length, "skill folder")] : []),
  ];
  return { name: "trust list", status: "ok", found: found.join(", ") };
}

function checkConfig({ cwd, env }: CliContext): DoctorCheck {
  const name = "configuration";
  const path = findConfig(cwd);
  if (path === undefined)
    return { name, status: "note", found: "none here or above", cure: "write one, or use --module" };
  if (!mustBeTrusted(path)) return { name, status: "ok", found: `${path} (only data: needs no trust)` };
  const { status, changed } = checkTrust(path, resolveKitbagHome(env));
  const cure = `read it, then run: kitbag trust ${path}`;
  if (status === "trusted") return { name, status: "ok", found: `${path} (trusted)` };
  if (status === "untrusted") return { name, status: "note", found: `${path} (not trusted)`, cure };
  return { name, status: "note", found: `${path} (changed since it was trusted: ${changed.join(", ")})`, cure };
}

async function checkStore(context: CliContext): Promise<DoctorCheck> {
  const name = "store";
  const choice = findNamedStore({ ...context, options: {} }) ?? defaultStore(context);
  if (choice.kind === "none" || choice.kind === "memory") {
    return {
      name,
      status: "note",
      found: `${choice.kind}: nothing is kept`,
      cure: "unset KITBAG_STORE to keep records",
    };
  }
  if (choice.kind === "postgres") {
    const { reachPostgres } = await import("../../store/postgres/reach-postgres.ts");
    await reachPostgres(choice.url);
  } else if (!existsSync(choice.file)) {
    return { name, status: "note", found: `${choice.file} (made with the first call)` };
  } else {
    accessSync(choice.file, constants.R_OK | constants.W_OK);
  }
  return { name, status: "ok", found: nameStore(choice) };
}

function checkTerminal({ terminal }: CliContext): DoctorCheck {
  const colour = terminal.hasColour ? "with colour" : "without colour";
  const found = terminal.isScreen ? `a screen, ${colour}` : "a pipe or a file";
  return { name: "output", status: "ok", found: `${found}; ${terminal.canAsk ? "can" : "cannot"} ask questions` };
}
