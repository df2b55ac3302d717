import { readdirSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { quote } from "../../core/errors.ts";
import { type Answer, type CliCommand, type Invocation, usageError, suggest } from "../cli-command.ts";
import { addListOption, addOption, getText, getTexts } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { toShellWord, toShownPath } from "../render.ts";
import type { SkillTemplate } from "../templates/skill-template.ts";
import { bashTemplate } from "../templates/bash.ts";
import { hybridTemplate } from "../templates/hybrid.ts";
import { nodeTemplate } from "../templates/node.ts";
import { pluginTemplate } from "../templates/plugin.ts";
import { plainTemplate } from "../templates/plain.ts";
import { pythonTemplate } from "../templates/python.ts";
import { checkLink, isProjectPlace, trustWritten, writeFolder } from "../templates/write-project.ts";

/** The templates of tools, as they are listed in the help: what they are made of is loaded when one is used. */
export const toolTemplateNames: readonly string[] = [
  "api-client",
  "csv-report",
  "file-converter",
  "llm-judge",
  "pipeline",
  "script-bash",
  "script-node",
  "script-python",
  "skill-plain",
  "skill-with-script",
  "sql-query",
  "wasm-assemblyscript",
  "wasm-rust",
  "web-scraper",
];

/** Every template there is, the simplest first. */
export const skillTemplates: readonly SkillTemplate[] = [
  plainTemplate,
  pythonTemplate,
  nodeTemplate,
  bashTemplate,
  hybridTemplate,
];

/** `kitbag new`: a skill or a tool to start from. */
export const newCommand: CliCommand = {
  examples: [
    ["kitbag new skill meeting-notes", "a skill with instructions only, in .kitbag/skills/meeting-notes"],
    ["kitbag new skill csv-tools --template python --dir skills", "with a Python script, in skills/csv-tools"],
    ["kitbag new plugin my-plugin", `a plugin: ${pluginTemplate.summary}`],
    ["kitbag new tool sales --template csv-report --param groupBy=region", "a tool, in .kitbag/tools/sales"],
    ["kitbag new tool --help", `templates of tools: ${toolTemplateNames.join(", ")}`],
    ...skillTemplates.map(({ name, summary }) => [`kitbag new skill my-skill --template ${name}`, summary] as const),
  ],
  define(command) {
    command.argument("<kind>", "what to start: skill, plugin or tool");
    command.argument("<name>", "its name: lower-case letters, digits and single dashes");
    addOption(
      command,
      "--template <name>",
      `for a skill: ${skillTemplates.map(({ name }) => name).join(", ")}; plain unless set. For a tool: ${toolTemplateNames.join(", ")}; script-python unless set`,
    );
    addListOption(command, "--param <name=value>", "for a tool: a parameter of the template; may be given again");
    addOption(command, "--dir <dir>", "the folder to put it in; .kitbag/skills unless set");
    addOption(command, "--description <text>", "what it does and when to use it: a model decides by this text");
  },
  async run(invocation) {
    const { args, options, cwd } = invocation;
    const [kind = "", name = ""] = args;
    if (kind === "tool") return newTool(invocation, name);
    if (kind !== "skill" && kind !== "plugin")
      throw usageError(
        `Cannot start ${quote(kind)}: only a skill, a plugin or a tool can be started; write: kitbag new skill <name>`,
      );
    if (getTexts(options, "param").length > 0)
      throw usageError("Cannot use --param: only templates of tools have parameters");
    checkName(name);
    const template = kind === "plugin" ? pluginOnly(options) : findTemplate(getText(options, "template") ?? "plain");
    const given = getText(options, "dir");
    const folder = resolve(cwd, given ?? ".kitbag/skills", name);
    if (given === undefined) checkLink(cwd, folder, ", or name the folder with --dir");
    const title = toTitle(name);
    const description = readDescription(getText(options, "description"), title);
    const files = template.render({ name, title, description });
    writeFolder(folder, files);
    const path = toShownPath(folder, cwd);
    const isFound = isProjectPlace(dirname(folder), cwd);
    const trusted = isFound && (await trustWritten({ skill: { folder, files } }, invocation));
    const document = { name, template: template.name, path, files: files.map((file) => file.path), trusted };
    const aFile = findOrdinaryFile(cwd);
    return { document, text: toPrintable(renderNext(template, { ...document, isFound, aFile })) };
  },
};

async function newTool(invocation: Invocation, name: string): Promise<Answer> {
  if (getText(invocation.options, "dir") !== undefined)
    throw usageError("Cannot use --dir: tools are made in .kitbag/tools, where the forge looks after them");
  const { newFromTemplate } = await import("../templates/new-from-template.ts");
  return newFromTemplate(invocation, name);
}

const nameForm = /^(?=.{1,64}$)[a-z0-9]+(?:-[a-z0-9]+)*$/u;

/** The name of the specification: what other clients refuse is not written. */
function checkName(name: string): void {
  if (nameForm.test(name)) return;
  const better = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/gu, "-")
    .slice(0, 64)
    .replaceAll(/^-+|-+$/gu, "");
  const cure = better === "" ? "for example: my-skill" : `for example: ${better}`;
  throw usageError(
    `Cannot name a skill ${quote(name)}: expected 1 to 64 lower-case letters, digits and single dashes between them, ${cure}`,
  );
}

function pluginOnly(options: Invocation["options"]): SkillTemplate {
  if (getText(options, "template") === undefined) return pluginTemplate;
  throw usageError("Cannot use --template: there is one template of a plugin; leave it out");
}

function findTemplate(name: string): SkillTemplate {
  const found = skillTemplates.find((template) => template.name === name);
  if (found !== undefined) return found;
  const names = skillTemplates.map((template) => template.name);
  const cure = suggest(name, names, `the templates are ${names.join(", ")}`);
  throw usageError(`Cannot use --template ${quote(name)}: there is no such template; ${cure}`);
}

function toTitle(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");
}

const longestDescription = 1024;

function readDescription(given: string | undefined, title: string): string {
  if (given === undefined) {
    return `${title}. Say here what this skill does, and when to use it, in words that a user would use.`;
  }
  const text = given.replaceAll(/\s+/gu, " ").trim();
  if (text !== "" && text.length <= longestDescription && !/[<>\p{Cc}]/u.test(text)) return text;
  throw usageError(
    `Cannot use --description: expected 1 to ${longestDescription} characters without < and >, found ${text.length === 0 ? "nothing" : quote(text)}`,
  );
}

/** A file of the working directory for an example: the README if there is one; nothing in an empty folder. */
function findOrdinaryFile(cwd: string): string | undefined {
  const files = readdirSync(cwd, { withFileTypes: true }).filter(
    (item) => item.isFile() && /^(?!kitbag\.)[\w-]+\.\w+$/u.test(item.name),
  );
  const names = files.map(({ name }) => name).toSorted();
  return names.find((name) => name === "README.md") ?? names[0];
}

interface Made {
  readonly name: string;
  readonly path: string;
  /** Every command finds it without being told where it is. */
  readonly isFound: boolean;
  readonly trusted: boolean;
  readonly files: readonly string[];
  /** A file that the first call may be about. */
  readonly aFile: string | undefined;
}

function renderNext({ firstCall }: SkillTemplate, { name, path, isFound, trusted, files, aFile }: Made): string {
  const place = isFound ? "" : ` --skills ${toShellWord(path)}`;
  const call = firstCall?.(toShellWord(aFile ?? "notes.txt"));
  const next = [
    ...(isFound && !trusted ? [`kitbag trust ${toShellWord(path)}`] : []),
    ...(aFile === undefined && call?.includes("notes.txt") === true ? ["echo milk > notes.txt"] : []),
    ...(call === undefined
      ? [`kitbag show ${name} --text${place}`]
      : [`kitbag call ${name}/${call}${place}`, `kitbag test ${toShellWord(path)}`]),
    `kitbag dev ${toShellWord(path)}`,
  ];
  return [
    "Wrote:",
    ...files.map((file) => `  ${path}/${file}`),
    "",
    "Next:",
    ...next.map((line) => `  ${line}`),
    "",
    ...(call === undefined
      ? [`It has no tools yet: put scripts into ${path}/scripts, or start with --template python, node or bash.`]
      : []),
    "kitbag dev checks, tests and trusts what you edit, as long as it runs. Without it, run kitbag trust after an edit.",
  ].join("\n");
}
