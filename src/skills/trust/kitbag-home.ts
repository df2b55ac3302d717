import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

import { KitbagError } from "../../core/errors.ts";
import { showValue } from "../../core/json.ts";

/**
 * The folder of this person's own files: `KITBAG_HOME`, or `~/.kitbag`.
 *
 * @throws {KitbagError} `option-invalid` if `KITBAG_HOME` is set to something that is not an absolute path: a relative one would
 *   let every project bring its own list of trusted files.
 */
export function resolveKitbagHome(env: Readonly<Record<string, string | undefined>>): string {
  const given = env["KITBAG_HOME"];
  if (given === undefined) return join(homedir(), ".kitbag");
  if (isAbsolute(given)) return given;
  throw new KitbagError("option-invalid", {
    option: "KITBAG_HOME",
    found: showValue(given),
    expected: "an absolute path",
  });
}
