import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";

/**
 * The folder of this person's own files: `KITBAG_HOME`, or `~/.kitbag`.
 *
 * @throws {KitbagError} `option-invalid` if `KITBAG_HOME` or `HOME` is not an absolute path: a relative or empty one would let every
 *   project bring its own list of trusted files.
 */
export function resolveKitbagHome(env: Readonly<Record<string, string | undefined>>): string {
  const home = findHome();
  const given = env["KITBAG_HOME"];
  if (given === undefined) return join(home, ".kitbag");
  if (isAbsolute(given)) return given;
  throw new KitbagError("option-invalid", {
    option: "KITBAG_HOME",
    found: showValue(given),
    expected: "an absolute path",
  });
}

function findHome(): string {
  const expected = "the absolute path of a home directory";
  let home: string;
  try {
    home = homedir();
  } catch (cause) {
    // The user of a container often has no entry in the list of users.
    throw new KitbagError("option-invalid", { option: "HOME", found: "nothing", expected }, { cause });
  }
  if (isAbsolute(home)) return home;
  throw new KitbagError("option-invalid", { option: "HOME", found: showValue(home), expected });
}
