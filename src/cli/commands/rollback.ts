import { userInfo } from "node:os";

import type { Forge, ForgedTool } from "../../forge/forge-interface.ts";
import { type Answer, type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import { findForged } from "../forge/forged-versions.ts";
import { noteUsers } from "../forge/render-forged.ts";
import { withForge } from "../forge/with-forge.ts";
import { toProject } from "../import/import-options.ts";
import { toPrintable } from "../printable.ts";
import { failedAnswer } from "../report-error.ts";

/** `kitbag rollback`: an earlier version of a tool or a skill that was made here, live again. */
export const rollbackCommand: CliCommand = {
  examples: [
    ["kitbag rollback count-words 1.0.0", "make 1.0.0 the live version again; kitbag versions count-words lists them"],
    ["kitbag rollback pdf-text 1.0.0", "a skill that was made here, with all its tools"],
    ["kitbag rollback pdf", "a skill that was added: what it was before kitbag update"],
    ["kitbag rollback count-words 1.0.0 --json", "for programs"],
  ],
  define(command) {
    command.argument("<address>", "a tool of .kitbag/tools, or a skill that was made here");
    command.argument("[version]", "a version that was live before, such as 1.0.0; none for a skill that was added");
  },
  run: (invocation) =>
    invocation.args.length === 1
      ? rollBackImported(invocation)
      : withForge(invocation, async (forge) => {
          const isSkill = findForged(invocation.args[0] ?? "", invocation) === "skill";
          return isSkill ? rollBackSkill(invocation, forge) : rollBack(invocation, forge);
        }),
};

/** A skill that was added has one earlier version: what the last update replaced. */
async function rollBackImported(invocation: Invocation): Promise<Answer> {
  const [address = ""] = invocation.args;
  if (findForged(address, invocation) !== undefined)
    throw usageError(`Cannot roll back "${address}": name a version; kitbag versions ${address} lists them`);
  const { rollbackSkill } = await import("../../forge/import/rollback-skill.ts");
  const { name, version, from } = await rollbackSkill(address, toProject(invocation));
  const shown = version === undefined ? "what it was before the last update" : `at version ${version}`;
  const before = from === undefined ? "" : `; it was at ${from}`;
  return {
    document: { address: name, ...(version !== undefined && { version }), ...(from !== undefined && { from }) },
    text: toPrintable(`${name} is again ${shown}${before}. To undo: kitbag rollback ${name}`),
  };
}

async function rollBackSkill({ args }: Invocation, forge: Forge): Promise<Answer> {
  const [address = "", version = ""] = args;
  const before = forge.listSkills().find(({ name }) => name === address);
  const answer = await forge.rollbackSkill(address, version, { author: userInfo().username, isAgreed: true });
  if (answer.status === "refused") return failedAnswer(answer.error);
  const isLive = before?.status !== "deleted" && before?.editedByHand === undefined;
  const from = isLive && before !== undefined && before.version !== version ? { from: before.version } : {};
  const undo =
    from.from === undefined ? "" : `; it was at ${from.from}. To undo: kitbag rollback ${address} ${from.from}`;
  return {
    document: { address, version, ...from },
    text: toPrintable(`${address} is at ${version} now${undo || "."}`),
  };
}

async function rollBack({ args }: Invocation, forge: Forge): Promise<Answer> {
  const [address = "", version = ""] = args;
  const events = (await forge.history(address)).length;
  const before = forge.listTools().find(({ name }) => name === address)?.status;
  const answer = await forge.rollbackTool(address, version, { author: userInfo().username, isAgreed: true });
  if (answer.status !== "live") {
    return answer.status === "refused"
      ? failedAnswer(answer.error)
      : { document: answer, text: "It waits.", exitCode: 1 };
  }
  // What was written by hand has got its number only now.
  const done = (await forge.history(address)).slice(events);
  const from = done.find(({ type }) => type === "rollback")?.from;
  const text = `${describe(address, version, { from, before })}${noteUsers(answer)}`;
  const { usedBy } = answer;
  const document = {
    address,
    version,
    ...(from !== undefined && { from }),
    ...(usedBy !== undefined && { usedBy }),
  };
  return { document, text: toPrintable(text) };
}

interface Before {
  /** The version that was live, or would have been; none if nothing had to be done. */
  readonly from: string | undefined;
  readonly before: ForgedTool["status"] | undefined;
}

function describe(address: string, version: string, { from, before }: Before): string {
  if (before === "broken" && from === undefined)
    return `${address} is at ${version} now; what was broken is kept in .kitbag/tools/${address}/versions, in a folder that begins with broken-`;
  if (from === undefined) return `${address} is at ${version} already.`;
  if (before === "deleted")
    return `${address} is at ${version} now, and no longer deleted. To undo: kitbag remove ${address}`;
  const undo = `kitbag rollback ${address} ${from}`;
  if (before === "untrusted")
    return `${address} is at ${version} now; what was not trusted is kept as ${from}. To undo: kitbag trust .kitbag/tools/${address}, then ${undo}`;
  return `${address} is at ${version} now; it was at ${from}. To undo: ${undo}`;
}
