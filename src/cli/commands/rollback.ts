import { userInfo } from "node:os";

import type { Answer, CliCommand, Invocation } from "../cli-command.ts";
import { withForge } from "../forge/with-forge.ts";
import { toPrintable } from "../printable.ts";
import { failedAnswer } from "../report-error.ts";

/** `kitbag rollback`: an earlier version of a tool that was made here, live again. */
export const rollbackCommand: CliCommand = {
  examples: [
    ["kitbag rollback count-words 1.0.0", "make 1.0.0 the live version again; kitbag versions count-words lists them"],
    ["kitbag rollback count-words 1.0.0 --json", "for programs"],
  ],
  define(command) {
    command.argument("<address>", "a tool of .kitbag/tools");
    command.argument("<version>", "a version that was live before, such as 1.0.0");
  },
  run: (invocation) => withForge(invocation, async (forge) => rollBack(invocation, forge)),
};

async function rollBack({ args }: Invocation, forge: Parameters<Parameters<typeof withForge>[1]>[0]): Promise<Answer> {
  const [address = "", version = ""] = args;
  const before = (await forge.listVersions(address)).find(({ current }) => current)?.version;
  const answer = await forge.rollbackTool(address, version, { author: userInfo().username });
  if (answer.status !== "live") {
    return answer.status === "refused"
      ? failedAnswer(answer.error)
      : { document: answer, text: "It waits.", exitCode: 1 };
  }
  const text =
    before === version
      ? `${address} is at ${version} already.`
      : `${address} is at ${version} now${before === undefined ? "" : `; it was at ${before}`}. To undo: kitbag rollback ${address} ${before ?? version}`;
  return { document: { address, version, ...(before !== undefined && { from: before }) }, text: toPrintable(text) };
}
