import type { Attack } from "./attack.ts";
import { fileAttacks } from "./file-attacks.ts";
import { lifetimeAttacks } from "./lifetime-attacks.ts";
import { networkAttacks } from "./network-attacks.ts";
import { privilegeAttacks } from "./privilege-attacks.ts";
import { resourceAttacks } from "./resource-attacks.ts";
import { secretAttacks } from "./secret-attacks.ts";

/** All attacks that are run in every sandbox and in every way to start, by theme. */
export const attacks = {
  files: fileAttacks,
  secrets: secretAttacks,
  network: networkAttacks,
  resources: resourceAttacks,
  lifetime: lifetimeAttacks,
  privileges: privilegeAttacks,
} satisfies Readonly<Record<string, readonly Attack[]>>;
