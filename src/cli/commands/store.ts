import { plural } from "../render.ts";
import { addStoreOption } from "../options.ts";
import { createVersions } from "../../records/versions/versions.ts";
import { type Answer, type CliCommand, type Invocation, type Action, runAction } from "../cli-command.ts";
import { acceptStore } from "../store/accept-store.ts";
import { exportKept, importKept } from "../store/transfer-store.ts";
import { withKept } from "../store/open-kept.ts";
import { backupFile, checkFile, repairFile } from "../store/sqlite-file.ts";

/** For so long a large output is kept, so that it can still be read. */
const minAgeMs = 7 * 24 * 60 * 60 * 1000;

/** Deletes blobs that no version refers to and that were not written for a week: large outputs of calls. */
async function collectBlobs(invocation: Invocation): Promise<Answer> {
  const deleted = await withKept(invocation, async ({ store }) => {
    const keep = await createVersions(store).blobs();
    return store.blobs.collect(keep, { minAgeMs });
  });
  return { document: { deleted }, text: `Deleted ${plural(deleted, "blob")}` };
}

/** `kitbag store`: what is kept, as a whole. */
export const storeCommand: CliCommand = {
  examples: [
    ["kitbag store check", "is the file whole, and its audit? exit code 1 if not"],
    ["kitbag store repair", "save what can be read into a new file; the damaged one stays beside it"],
    ["kitbag store backup copies/monday.db", "a copy of one moment, while others may write"],
    ["kitbag store export kept.jsonl", "everything as lines of JSON; without a file, or with -, to standard output"],
    ["kitbag store import kept.jsonl --store postgres://localhost/kitbag", "into another store, which must be empty"],
    ["kitbag store accept", "take a store as it is that was moved here, restored or deleted"],
    [
      "kitbag store accept --new-audit",
      "go on behind an audit that is broken; kitbag audit verify tells of it from then on",
    ],
    ["kitbag store gc", "delete large outputs that are older than a week"],
  ],
  define(command) {
    command.argument("[action]", "check, repair, backup, export, import, accept or gc");
    command.argument("[file]", "backup and export: where to; import: where from; - for standard output or input");
    command.option("--new-audit", "accept: go on with a new audit behind one that is broken");
    addStoreOption(command);
  },
  run: (invocation) => runAction("store", actions, invocation),
};

const actions: Readonly<Record<string, Action>> = {
  check: { words: [0, 0], run: checkFile },
  repair: { words: [0, 0], run: repairFile },
  backup: { words: [1, 1], takes: "the file to write", run: backupFile },
  export: { words: [0, 1], run: exportKept },
  import: { words: [1, 1], takes: "the file to read, or - for standard input", run: importKept },
  accept: { words: [0, 0], run: acceptStore },
  gc: { words: [0, 0], run: collectBlobs },
};
