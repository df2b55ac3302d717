import { plural } from "../render.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Permissions } from "../../core/permissions.ts";
import type { Tool } from "../../core/tool.ts";
import type { LiveTool } from "../../forge/forge-interface.ts";
import { describeWish } from "../../forge/permissions-beyond.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import { renderCall } from "../flags/describe-flags.ts";
import { toPrintable } from "../printable.ts";

/** What an operation answers that made a tool or a skill, as far as a person wants to read it. */
type Forged = Partial<Pick<LiveTool, "version" | "change" | "replay" | "usedBy" | "diagnostics">> & {
  readonly status: "live" | "waiting" | "deleted" | "restored";
  readonly name: string;
  /** Of a skill: its folder, and the addresses of its tools. */
  readonly path?: string;
  readonly tools?: readonly string[];
  readonly examplesPassed?: number;
  readonly note?: string;
  /** Of what waits. */
  readonly id?: string;
  /** The version that it is an edit of. */
  readonly from?: string;
  readonly asks?: Permissions;
  readonly laxer?: readonly string[];
  /** Of what was deleted. */
  readonly undo?: string;
};

/** Says what was made and what to do next; nothing if the output is of another kind, and is shown as it is. */
export function renderForged(output: JsonValue, workspace: Workspace): string | undefined {
  const forged = output as unknown as Partial<Forged> & { readonly step?: string };
  if (forged.step !== undefined || forged.name === undefined) return undefined;
  if (forged.status === "waiting") return toPrintable(renderWaiting(forged as Forged));
  if (forged.status === "deleted") return toPrintable(renderDeleted(forged as Forged));
  if (forged.status === "restored") return toPrintable(renderRestored(forged as Forged));
  return forged.status === "live" ? toPrintable(renderLive(forged as Forged, workspace)) : undefined;
}

function renderWaiting({ name, from, asks = {}, laxer = [], id = "" }: Forged): string {
  const now = from === undefined ? `${name} is not live yet` : `${name} stays at ${from} for now`;
  const what = from === undefined ? "it" : "the change";
  return `${now}. It asks a person to agree to: ${describeWish({ asks, laxer })}. Nothing of ${what} has run. To agree:\n  kitbag approvals approve ${id}`;
}

/** How to undo it is said for models, by the name of the operation. */
function renderDeleted({ name, version = "", undo = "", usedBy }: Forged): string {
  const [operation = ""] = undo.split(" ", 1);
  const back = `kitbag forge ${operation} --name ${name} --undo`;
  return `${name} is deleted; it was at ${version}. To bring it back: ${back}${noteUsers(usedBy === undefined ? {} : { usedBy })}`;
}

function renderRestored({ name, version = "", note = "" }: Forged): string {
  return `${name} is back, at ${version}. ${note}`;
}

function renderLive(forged: Forged, workspace: Workspace): string {
  const { name, path, version = "", note, usedBy, diagnostics = [] } = forged;
  const place = path === undefined ? `at ${version}` : `at ${version}, in ${path}`;
  const lines = [
    `${name} is live, ${place}${describeChange(forged)}${describeExamples(forged)}. Next:`,
    ...renderCalls(forged, workspace.getTool(name)?.tool).map((line) => `  ${line}`),
    ...describeReplay(forged),
    ...(note === undefined ? [] : [note]),
    ...diagnostics.map(({ message, cure }) => (cure === undefined ? message : `${message}. ${cure}`)),
  ];
  return `${lines.join("\n")}${noteUsers(usedBy === undefined ? {} : { usedBy })}`;
}

function describeChange({ change }: Forged): string {
  return change === undefined ? "" : ` (${change.step}, after ${change.from})`;
}

function describeExamples({ examplesPassed = 0 }: Forged): string {
  return examplesPassed === 0 ? "" : `; ${plural(examplesPassed, "example")} passed`;
}

function describeReplay({ replay }: Forged): readonly string[] {
  if (replay === undefined || replay.calls === 0) return [];
  const { calls, same } = replay;
  const hint = calls === same ? "" : "; --json shows what is different";
  return [`Of ${calls} recorded calls that were made again, ${same} came out the same${hint}`];
}

/** Writes the command lines that call what was made: a tool, or the tools of a skill. */
export function renderCalls(
  { name, tools = [], path }: Pick<Forged, "name" | "tools" | "path">,
  made: (Pick<Tool, "inputSchema"> & { readonly examples: readonly { readonly input: JsonObject }[] }) | undefined,
): readonly string[] {
  if (path !== undefined)
    return tools.length === 0 ? [`kitbag show ${name}`] : tools.map((one) => `kitbag call ${one}`);
  return made === undefined ? [] : [renderCall(name, made.inputSchema, made.examples[0]?.input ?? {})];
}

/** What to look at after a tool has changed, for the end of a message; empty if no pipeline uses it. */
export function noteUsers({ usedBy = [] }: Pick<LiveTool, "usedBy">): string {
  return usedBy.length === 0
    ? ""
    : `\nUsed by ${usedBy.join(", ")}: see whether that is right with kitbag test ${usedBy.join(" ")}`;
}
