import { userInfo } from "node:os";

import type { Skill } from "../../core/skill.ts";
import type { Store } from "../../core/store.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import { toDigest, toNotes, type VersionSource } from "../../records/versions/history.ts";
import { createVersions, type Versions } from "../../records/versions/versions.ts";
import type { RegisteredTool } from "../../workspace/registry/registered-tool.ts";
import { fromSkill, fromTool } from "../../workspace/versions/keep-versions.ts";
import type { Workspace, WorkspaceOptions } from "../../workspace/workspace.ts";
import type { Invocation } from "../cli-command.ts";
import { toPrintableLine } from "../printable.ts";
import { withHints } from "../report-error.ts";
import { checkKeyKept } from "./audit-files.ts";
import { defaultStore, findNamedStore, type StoreChoice } from "./choose-store.ts";
import { openAudited } from "./identify-store.ts";
import { openStore } from "./open-store.ts";

/** What a command that runs tools records, and where. */
export interface Records {
  /**
   * Adds to the options of a workspace the store that the person named, or the default one, with what is recorded there. A
   * configuration that has a store of its own keeps it, with the records that it asks for.
   *
   * @throws {KitbagError} `store-…`, `audit-…` if it cannot be used.
   */
  complete(options: WorkspaceOptions): Promise<WorkspaceOptions>;
  /**
   * From now on keeps the version of each tool that is called, also by another one, and of its skill: at the first call, and at the
   * first after the workspace changed. Closing the records waits for it.
   */
  keepVersions(workspace: Workspace): void;
  /** Whose calls they are. */
  readonly user: string | undefined;
  close(): Promise<void>;
}

/** What is closed in the end. */
interface Open {
  readonly store: Store;
  close(): Promise<void>;
}

/**
 * Finds out where a command records what it does. Nothing is opened yet.
 *
 * @throws {KitbagError} `usage-invalid` for an invalid store.
 */
export function createRecords(invocation: Invocation): Records {
  const named = findNamedStore(invocation);
  let opened: Open | undefined;
  let versions = Promise.resolve();

  async function complete(options: WorkspaceOptions): Promise<WorkspaceOptions> {
    const { store: configured, audit, ...others } = options;
    if (configured !== undefined && named === undefined) {
      opened = { store: configured, close: () => configured.close() };
      return options;
    }
    await configured?.close();
    const choice = named ?? defaultStore(invocation);
    if (choice.kind === "none") return others;
    const found = await open(choice, invocation);
    opened = found;
    return {
      keepFailed: !isTrial(invocation),
      ...others,
      store: found.store,
      ...pick(configured === undefined && audit, found.audit),
    };
  }

  const user = findUser();
  const local = user === undefined ? {} : { localUser: user };
  return {
    user,
    async complete(options) {
      try {
        return { ...local, ...(await complete(options)) };
      } catch (cause) {
        throw withHints(cause, { invocation, isRecording: true });
      }
    },
    keepVersions(workspace) {
      const { store } = opened ?? {};
      if (store === undefined) return;
      const place = { store, author: user, onError: noteUnkept(invocation) };
      onCalled(workspace, (called) => {
        // One after the other: they write to the same history.
        versions = versions.then(() => keepCalled(called, place));
      });
    },
    async close() {
      await versions;
      await opened?.close();
    },
  };
}

function noteUnkept({ terminal }: Invocation): KeepPlace["onError"] {
  return (cause, name) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    terminal.note(`${toPrintableLine(`Cannot keep the version of ${name}: ${reason}`)}\n`);
  };
}

/** Who wants to learn what a script needs, or looks at it step by step, expects that it fails. */
function isTrial({ options }: Invocation): boolean {
  return options["learn"] === true || options["debug"] === true;
}

type Audited = Pick<WorkspaceOptions, "audit">;

function pick(configured: Audited["audit"] | false, ours: Audited["audit"]): Audited {
  const audit = configured || ours;
  return audit === undefined ? {} : { audit };
}

async function open(
  choice: Exclude<StoreChoice, { readonly kind: "none" }>,
  { env, terminal }: Invocation,
): Promise<Open & Audited> {
  if (choice.kind === "memory") {
    const store = await openStore(choice);
    return { store, close: () => store.close() };
  }
  const home = resolveKitbagHome(env);
  checkKeyKept(home);
  const { store, audit } = await openAudited(choice, {
    home,
    env,
    onDeleted() {
      terminal.note("The records that were kept here are gone; new ones begin. See kitbag audit verify\n");
    },
  });
  return {
    store,
    audit,
    async close() {
      await audit.close();
      await store.close();
    },
  };
}

function findUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // In a container there may be no name for who runs this.
    return undefined;
  }
}

/** Where versions are kept, and for whom. */
interface KeepPlace {
  readonly store: Store;
  /** The caller, who is taken for the author of the version. */
  readonly author: string | undefined;
  readonly onError: (cause: unknown, address: string) => void;
}

/**
 * Keeps the versions of what was live with a tool that was called. What cannot be kept is told: the call that it belongs to is
 * recorded all the same, with its digest. A call of an earlier version (`tool@1.0.0`) does not make that the current one.
 */
export async function keepCalled(
  { tools, skill, earlier }: Called,
  { store, author, onError }: KeepPlace,
): Promise<void> {
  const versions = createVersions(store);
  const keep = async (name: string, source: VersionSource, label: string | undefined): Promise<void> => {
    await versions.keep(name, source, toNotes({ label, author })).catch((cause: unknown) => onError(cause, name));
  };
  const keepTool = ({ address, tool }: RegisteredTool): Promise<void> => keep(address, fromTool(tool), tool.version);
  if (earlier !== undefined && !(await isKept(versions, earlier))) await keepTool(earlier);
  for (const tool of tools) await keepTool(tool);
  if (skill !== undefined) await keep(skill.name, fromSkill(skill), skill.version);
}

async function isKept(versions: Versions, { address, tool }: RegisteredTool): Promise<boolean> {
  const digest = toDigest(fromTool(tool));
  return (await versions.list(address)).some((version) => version.digest === digest);
}

/** What is live with a tool that is called. */
interface Called {
  /** The tool; of one of a skill also its other tools. */
  readonly tools: readonly RegisteredTool[];
  readonly skill: Skill | undefined;
  /** The tool that was called, if it is not the live one but an earlier version. */
  readonly earlier?: RegisteredTool | undefined;
}

/** Calls `listener` at the first call of each tool, and at the first after the workspace changed. */
function onCalled(workspace: Workspace, listener: (called: Called) => void): void {
  const known = new Set<string>();
  workspace.onChange(() => known.clear());
  // A skill that only an agent has open does not change the available tools.
  workspace.onSkillsChange(() => known.clear());
  workspace.onEvent((event) => {
    if (event.type !== "call-start" || known.has(event.tool)) return;
    known.add(event.tool);
    const called = findCalled(workspace, event.tool);
    if (called !== undefined) listener(called);
  });
}

/** Finds what is live with a tool, as it is now; nothing if there is no such tool. */
function findCalled(workspace: Workspace, address: string): Called | undefined {
  const called = workspace.getTool(address);
  if (called === undefined) return undefined;
  const skill = called.source === "skill" ? workspace.getSkill(called.owner) : undefined;
  const live = workspace.getTool(called.address) ?? called;
  const earlier = live.tool === called.tool ? undefined : called;
  if (skill === undefined) return { tools: [live], skill, earlier };
  const open = workspace.getAvailableTools().filter(({ owner }) => owner === skill.name);
  if (open.length > 0) return { tools: open, skill };
  // An agent opens skills for itself: in the workspace they stay closed.
  return { tools: skill.tools.flatMap(({ name }) => workspace.getTool(`${skill.name}/${name}`) ?? []), skill };
}
