import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";

import { resolveKitbagHome } from "../../platform/home.ts";
import { openSealer, type Sealer } from "../../records/audit/audit-keys.ts";
import type { Invocation } from "../cli-command.ts";
import { toKeyFile } from "./audit-files.ts";
import type { Kept } from "./open-kept.ts";

type Configured = Pick<Kept, "audit">;

/** What tells genuine decisions from others: the audit of the configuration, else the key of the person. Without a key none is. */
export async function findSealer({ audit }: Configured, { env }: Pick<Invocation, "env">): Promise<Sealer> {
  if (audit !== undefined) return audit;
  const keyFile = toKeyFile(resolveKitbagHome(env));
  return openSealer(existsSync(keyFile) ? { keyFile } : { key: randomBytes(32) });
}

/**
 * What seals a decision, so that it counts when the run goes on.
 *
 * @throws {KitbagError} `audit-key-invalid` if the key is not there, or may not be used.
 */
export async function needSealer({ audit }: Configured, { env }: Pick<Invocation, "env">): Promise<Sealer> {
  return audit ?? openSealer({ keyFile: toKeyFile(resolveKitbagHome(env)) });
}
