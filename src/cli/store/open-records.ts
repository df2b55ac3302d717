import { userInfo } from "node:os";

import type { Store } from "../../core/store.ts";
import { resolveKitbagHome } from "../../platform/home.ts";
import type { Workspace, WorkspaceOptions } from "../../workspace/workspace.ts";
import type { Invocation } from "../cli-command.ts";
import { toPrintableLine } from "../printable.ts";
import { withHints } from "../hints.ts";
import { checkKeyKept } from "./audit-files.ts";
import { defaultStore, findNamedStore, type StoreChoice } from "./choose-store.ts";
import { type keepCalled, type KeepPlace, onCalled } from "./keep-called.ts";
import { openAudited } from "./open-audited.ts";
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
        versions = versions.then(() => keep(called, place));
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

const keep: typeof keepCalled = async (...words) => (await import("./keep-called.ts")).keepCalled(...words);

function findUser(): string | undefined {
  try {
    return userInfo().username;
  } catch {
    // In a container there may be no name for who runs this.
    return undefined;
  }
}
