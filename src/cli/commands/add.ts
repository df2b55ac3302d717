import type { ImportOptions, ImportReport } from "../../forge/import/import-skills.ts";
import { type Answer, type CliCommand, type Invocation, usageError } from "../cli-command.ts";
import {
  approveImport,
  whyRefused,
  addImportOptions,
  toImportOptions,
  withVersions,
} from "../import/import-options.ts";
import { renderList, renderReport } from "../import/render-candidate.ts";
import { addListOption, getTexts, addStoreOption } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { isYes } from "../terminal.ts";
import { untilInterrupted } from "../until-interrupted.ts";

/** `kitbag add`: skills of others, fetched, shown, and enabled if the person agrees. */
export const addCommand: CliCommand = {
  examples: [
    ["kitbag add owner/repo", "a repository of GitHub; if it has several skills, you are asked which"],
    ["kitbag add owner/repo#v1.2.0:skills/pdf", "a tag, a branch or a commit, and one folder of it"],
    [
      "kitbag add https://example.com/skills.git --skill pdf --yes",
      "one skill by name, without questions, for scripts",
    ],
    ["kitbag add gist:0123456789abcdef", "a Gist"],
    ["kitbag add ./skills.zip", "an archive: a file or an address; .zip, .tar, .tar.gz, .tgz"],
    ["kitbag add npm:some-skills@1", "the skills of an npm package; nothing of it is run"],
    ["kitbag add owner/marketplace --plugin reviewer", "a plugin of a marketplace of Claude Code or Codex"],
    ["kitbag add owner/repo --list --json", "what is in it, for programs; nothing is kept"],
  ],
  define(command) {
    command.argument("<source>", "owner/repo, an address, a path, gist:ID or npm:name; with #ref:folder behind it");
    addListOption(command, "--skill <name>", "take this skill; may be given again");
    addListOption(command, "--plugin <name>", "take the skills of this plugin; may be given again");
    command.option("--all", "take every skill that is in it");
    command.option("--list", "only show what is in it");
    command.option("--replace", "replace what is there under the same name; the old version is kept");
    addImportOptions(command);
    addStoreOption(command);
  },
  async run(invocation) {
    const { importSkills } = await import("../../forge/import/import-skills.ts");
    const { args, options, terminal, cwd } = invocation;
    const [source = ""] = args;
    terminal.showStatus("Fetching …");
    const importing = (more: ImportOptions): Promise<ImportReport> =>
      untilInterrupted((signal) =>
        importSkills(source, {
          ...toImportOptions(invocation),
          ...toChoice(invocation),
          ...more,
          workingDirectory: cwd,
          signal,
        }),
      );
    if (options["list"] === true)
      return answerList(await importing({ replace: true, approve: () => false }), invocation);
    if (options["replace"] !== true) return answerAdded(await importing(approveImport(invocation)), invocation);
    return withVersions(invocation, async (kept) =>
      answerAdded(await importing({ ...approveImport(invocation), ...kept, replace: true }), invocation),
    );
  },
};

function toChoice({ options, terminal }: Invocation): Pick<ImportOptions, "skills" | "plugins" | "choose"> {
  const [skills, plugins] = [getTexts(options, "skill"), getTexts(options, "plugin")];
  if (options["all"] === true && skills.length > 0)
    throw usageError("Cannot use --all with --skill: take all, or those that are named");
  const takesAll = options["all"] === true || options["list"] === true;
  return {
    ...(takesAll ? { skills: "all" as const } : skills.length > 0 && { skills }),
    ...(plugins.length > 0 && { plugins }),
    ...(terminal.canAsk && { choose: (report: ImportReport) => askWhich(report, terminal) }),
  };
}

async function askWhich(report: ImportReport, terminal: Invocation["terminal"]): Promise<readonly string[]> {
  terminal.note(`${renderList(report, terminal)}\n\n`);
  if (report.skills.length === 0) return [];
  const answer = (await terminal.ask("Which skills? Names, or all: ")) ?? "";
  const names = report.skills.map(({ name }) => name);
  const words = answer.split(/[\s,]+/u).filter((name) => name !== "");
  const [first = ""] = words;
  return words.length === 1 && !names.includes(first) && (first === "all" || isYes(first)) ? names : words;
}

function answerList(report: ImportReport, { terminal }: Invocation): Answer {
  return { document: { ...report, status: "listed" }, text: renderList(report, terminal) };
}

function answerAdded(report: ImportReport, invocation: Invocation): Answer {
  const { terminal } = invocation;
  const { status, skills } = report;
  switch (status) {
    case "listed":
      return { document: report, text: renderList(report, terminal), failure: whichOne(report), exitCode: 1 };
    case "refused":
      return { document: report, failure: whyRefused(invocation), exitCode: 1 };
    case "enabled":
    case "disabled": {
      const shown =
        invocation.options["yes"] === true || status === "disabled" ? `${renderReport(report, terminal)}\n\n` : "";
      return {
        document: report,
        text:
          shown + toPrintable([...skills.map((skill) => describeEnd(skill, status)), ...nextSteps(report)].join("\n")),
      };
    }
  }
}

function whichOne({ skills, plugins }: ImportReport): string {
  const elsewhere = plugins.filter(({ from }) => from !== "here").length;
  const plugin = elsewhere > 0 ? `, or a plugin with --plugin` : "";
  return skills.length === 0
    ? "Nothing was added: pick a plugin with --plugin"
    : `Nothing was added: there are ${skills.length} skills; pick some with --skill, all with --all${plugin}`;
}

/** What a person does with the first skill that may run. */
function nextSteps({ status, skills }: ImportReport): readonly string[] {
  const ready = status === "enabled" ? skills.filter(({ code }) => code === undefined) : [];
  const skill = ready.find(({ tools }) => tools.length > 0) ?? ready[0];
  if (skill === undefined) return [];
  const [tool] = skill.tools;
  const address = skill.kind === "tool" || tool === undefined ? skill.name : `${skill.name}/${tool.name}`;
  const show = `kitbag show ${address}${tool === undefined ? " --text" : ""}`;
  return [
    "",
    "Next:",
    "  kitbag list",
    `  ${show}${tool === undefined ? "" : "   # what it takes, and an example call"}`,
  ];
}

function describeEnd(
  { name, place, code, digest }: ImportReport["skills"][number],
  status: "enabled" | "disabled",
): string {
  if (status === "enabled" && code === undefined) {
    return `Enabled ${name} in ${place}, pinned to ${digest.slice(0, 19)}…. If a file changes, it runs nothing until you trust it again.`;
  }
  return `Imported ${name} into ${place}, disabled. Read it, then run: kitbag trust ${place}`;
}
