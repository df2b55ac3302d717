// Tells whether the locked dependencies are installed, by a mark that `npm ci` and `npm install` leave (see prepare.mjs).
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const markFile = "node_modules/.kitbag-ready";

/** Tells whether what is installed in `root` is what its lock file says. */
export function isReady(root) {
  try {
    return readFileSync(join(root, markFile), "utf8") === lockDigest(root);
  } catch {
    return false;
  }
}

/** Notes that what is installed in `root` is what its lock file says. */
export function markReady(root) {
  writeFileSync(join(root, markFile), lockDigest(root));
}

function lockDigest(root) {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}
