import { existsSync, realpathSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";

import { dependencyFailed } from "../dependency-failure.ts";

/**
 * Finds the directory of npm: beside the Node that runs this, else of the `npm` on the path.
 *
 * @throws {KitbagError} `dependency-failed` if there is none.
 */
export function findNpm(node = process.execPath, path = process.env["PATH"] ?? ""): string {
  const directories = [dirname(node), ...path.split(delimiter).filter(isAbsolute), "/usr/bin", "/usr/local/bin"];
  for (const directory of directories) {
    const candidates = [
      join(directory, "npm"),
      join(directory, "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
    ];
    for (const candidate of candidates.filter((file) => existsSync(file))) {
      const npm = dirname(dirname(realpathSync(candidate)));
      if (existsSync(join(npm, "bin", "npm-cli.js"))) return npm;
    }
  }
  const cure = "install it: it comes with Node.js, or apt install npm";
  throw dependencyFailed("node", { problem: "installer-missing", reason: "there is no npm on this machine", cure });
}
