import { createHash } from "node:crypto";
import { join } from "node:path";

import { toRealPath } from "../../skills/folder/to-real-path.ts";
import type { StoreChoice } from "./choose-store.ts";

/** The files of an audit that are not in its store. */
export interface AuditFiles {
  readonly keyFile: string;
  readonly anchorFile: string;
}

/** Where the key and the head of a store's audit are: in the person's own folder, which no tool sees. */
export function toAuditFiles(choice: StoreChoice, home: string): AuditFiles | undefined {
  const identity = toIdentity(choice);
  if (identity === undefined) return undefined;
  const name = createHash("sha256").update(identity).digest("hex").slice(0, 32);
  return { keyFile: toKeyFile(home), anchorFile: join(home, "audit", `${name}.head`) };
}

/** The key of all audits of a person. */
export function toKeyFile(home: string): string {
  return join(home, "audit.key");
}

/** The same store has the same name, whatever way leads to it. What is only in memory needs no audit. */
function toIdentity(choice: StoreChoice): string | undefined {
  if (choice.kind === "postgres") return choice.shown.replace(/^postgresql:/u, "postgres:");
  return choice.kind === "sqlite" ? `sqlite:${toRealPath(choice.file)}` : undefined;
}
