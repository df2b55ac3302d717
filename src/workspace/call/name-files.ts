import { isUtf8 } from "node:buffer";

import type { FileNamer, NamedFile, WrittenFile } from "../../core/call-files.ts";
import { untilTimeout } from "../../core/async.ts";
import { isKitbagError } from "../../core/errors.ts";
import { isRecord } from "../../core/json.ts";
import type { FailedOutcome, ToolOutcome } from "../../core/outcome.ts";
import type { CallFiles } from "../../core/runtime.ts";
import { describeThrown } from "../describe-thrown.ts";
import { isLimited } from "./authority.ts";
import type { Call } from "./call.ts";
import { approverOf, type Next, type Phase } from "./phase.ts";

/**
 * Finds the files that the input names, and decides whether the tool may have them in this call:
 *
 * 1. A person, who is the local user with all scopes, is not asked about what they named themselves.
 * 2. A model is unasked only if the tool reads ordinary files, has no network, and calls no tool that is not read-only without a network.
 *    Everything else needs an approval; the policy `files` can allow or deny all of it.
 * 3. A nested call is one of a model, or of a remote caller, also if a person made the outermost call. What the calls around it can do with
 *    the file counts as well.
 * 4. A default is named by the author of the tool, not by the caller, so it names no file.
 *
 * Which files each of them may name at all is decided by the runtime, which knows where they are.
 */
export const nameFiles: Phase = (call, next) => {
  const { code, files } = call.entry.tool;
  if (call.host.runtimes.get(code.kind)?.findFiles === undefined) return next();
  return files === undefined && namerOf(call) !== "person" ? withWritten(call, next) : nameFirst(call, next);
};

async function nameFirst(call: Call, next: Next): Promise<ToolOutcome> {
  return (await findNamed(call)) ?? withWritten(call, next);
}

/** How long a tool that must stop may take to end, and Kitbag to keep what it wrote. */
const mostEndMs = 5000;

/** What the tool wrote belongs to every outcome, also to a failed one. */
async function withWritten(call: Call, next: Next): Promise<ToolOutcome> {
  const outcome = await next();
  const { stopped, running } = call;
  // What a tool wrote that had to stop is known when it has ended, and how it ends says nothing more.
  if (stopped !== undefined && running !== undefined) {
    await untilTimeout(running, mostEndMs, () => undefined).catch(() => undefined);
  }
  return call.written.length === 0 ? outcome : { ...outcome, files: call.written };
}

/** Finds the named files of the checked input; a failed outcome if the caller may not name one. */
export async function findNamed(call: Call): Promise<FailedOutcome | undefined> {
  const { tool } = call.entry;
  const by = namerOf(call);
  try {
    call.named = (await call.host.runtimes.get(tool.code.kind)?.findFiles?.(tool, givenInput(call), by)) ?? [];
  } catch (cause) {
    if (isKitbagError(cause)) return { status: "failed", error: cause.toJSON() };
    return call.fail("file-denied", { tool: call.address, file: "its input", reason: describeThrown(cause) });
  }
  return by === "model" ? applyPolicy(call, call.named) : undefined;
}

/** What the caller said itself. A default is the author's word: it gives the tool no file. */
function givenInput({ refined, given }: Call): unknown {
  if (!isRecord(refined)) return refined;
  return Object.fromEntries(Object.entries(refined).filter(([name]) => given.has(name)));
}

/** Who names the files in the input of a call. */
function namerOf({ root, parent, user, host }: Call): FileNamer {
  const { namedBy = "model" } = root.options;
  if (namedBy === "remote" || host.users.ownerOf(user) !== undefined) return "remote";
  return namedBy === "person" && parent === undefined && !isLimited(root) ? "person" : "model";
}

function applyPolicy(call: Call, named: readonly NamedFile[]): FailedOutcome | undefined {
  const asked = named.filter((file) => file.path !== undefined && needsApproval(call, file));
  const [first] = asked;
  const policy = call.host.files;
  if (policy === "deny") {
    const denied = named.find(({ path }) => path !== undefined);
    return denied && refuse(call, denied, 'the configuration has files = "deny", so models name no files');
  }
  if (first === undefined || policy === "allow") return undefined;
  const uses = describeUses(asked);
  const cure = cureOf(call, first);
  if (approverOf(call) === undefined && call.root.options.approveIfNobody === undefined) {
    const reason = `a model asks to ${first.use} it, and no person can be asked; to allow it: ${cure}`;
    return refuse(call, first, reason);
  }
  const question = `it asks to ${uses} (to allow this unasked: ${cure})`;
  call.question = call.question === undefined ? question : `${call.question}; ${question}`;
  return undefined;
}

/** Reading one file is harmless if what the tool reads cannot leave the machine by way of it, or of what called it. */
function needsApproval(call: Call, { use, kind }: NamedFile): boolean {
  if (use === "write" || kind === "folder") return true;
  for (let around: Call | undefined = call; around !== undefined; around = around.parent) {
    if (canPassOn(around)) return true;
  }
  return false;
}

function canPassOn({ entry, host }: Call): boolean {
  if ((entry.tool.uses ?? []).length > 0) return true;
  // A tool may call the others of its skill.
  const ofOwner = [...host.registry.entries()].filter(
    ({ source, owner }) => source === entry.source && owner === entry.owner && source !== "global",
  );
  return [entry, ...ofOwner].some(({ tool }) => (tool.permissions.network ?? []).length > 0);
}

function cureOf({ entry }: Call, { name, use }: NamedFile): string {
  const policy = 'files = "allow" in the configuration';
  if (entry.source !== "skill") return policy;
  return `kitbag grant ${entry.owner} --${use} ${showName(name)}, or ${policy}`;
}

const mostShown = 10;

/** What a person is asked to agree to: `read data.csv, overwrite report.md`. */
function describeUses(files: readonly NamedFile[]): string {
  const shown = files.slice(0, mostShown).map(describeUse);
  return [...shown, ...(files.length > mostShown ? [`use ${files.length - mostShown} more`] : [])].join(", ");
}

function describeUse({ name, use, kind }: NamedFile): string {
  if (kind === "folder") return `${use === "read" ? "read" : "write into"} the folder ${showName(name)}`;
  return `${use === "write" && kind === "file" ? "overwrite" : use} ${showName(name)}`;
}

function showName(name: string): string {
  return /^[\w./-]+$/u.test(name) ? name : JSON.stringify(name);
}

function refuse(call: Call, { name }: NamedFile, reason: string): FailedOutcome {
  return call.fail("file-denied", { tool: call.address, file: name, reason });
}

/** The maximum number of written files of one call whose bytes are kept. */
const mostKept = 100;

/** The files of a call, for one run of its tool. */
export function openCallFiles(call: Call): CallFiles {
  const written: WrittenFile[] = [];
  call.written = written;
  return {
    named: call.named,
    by: namerOf(call),
    read: (handle) => call.host.outputs.readBytes(handle, call.user),
    async add(file, bytes) {
      if (call.ended) return;
      const kept = bytes === undefined || written.length >= mostKept ? undefined : await keep(call, bytes);
      written.push(kept === undefined ? file : { ...file, handle: kept });
    },
  };
}

/** Keeps the bytes of a file without the secrets in them; answers with no handle if there is no room. */
async function keep(call: Call, bytes: Uint8Array): Promise<string | undefined> {
  const { redactor, host, user } = call;
  const shown = redactor !== undefined && isUtf8(bytes) ? redactor.value(Buffer.from(bytes).toString("utf8")) : bytes;
  try {
    return (await host.outputs.keep(shown, user)).handle;
  } catch {
    // A file without a handle is said not to be kept.
    return undefined;
  }
}
