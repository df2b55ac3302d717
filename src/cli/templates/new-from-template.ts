import { existsSync } from "node:fs";
import { join } from "node:path";

import { quote, toFailure } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ForgeAnswer, SkillAnswer } from "../../forge/forge-interface.ts";
import { makeFilled, fillTemplate } from "../../forge/templates/create-template-tool.ts";
import type { Template } from "../../forge/templates/template.ts";
import { templates } from "../../forge/templates/templates.ts";
import { describePermissions } from "../../forge/permissions-beyond.ts";
import { type Answer, type Invocation, usageError, suggest } from "../cli-command.ts";
import { fromText } from "../flags/parameter.ts";
import { withForge } from "../forge/with-forge.ts";
import { getText, getTexts } from "../options.ts";
import { toPrintable } from "../printable.ts";
import { failedAnswer } from "../report-error.ts";

/** Makes a tool, or a skill, of a template of the forge: it is there only if it passes the gate. */
export async function newFromTemplate(invocation: Invocation, name: string): Promise<Answer> {
  const { options } = invocation;
  const template = findTemplate(getText(options, "template") ?? "script-python");
  const description = getText(options, "description");
  const filled = fillTemplate({
    template: template.name,
    name,
    parameters: readParameters(template, getTexts(options, "param")),
    ...(description !== undefined && { description }),
  });
  const answer = await withForge(invocation, (forge) => makeFilled(forge, filled));
  return refuseTaken(answer, invocation) ?? toAnswer(answer, template.name);
}

/** What to do about a tool that is there is another thing on the command line than for a model. */
function refuseTaken(answer: ForgeAnswer | SkillAnswer, { cwd }: Invocation): Answer | undefined {
  const { name } = answer;
  const place = `.kitbag/tools/${name}`;
  const isTaken = answer.status === "refused" && answer.diagnostics.some(({ code }) => code === "name-taken");
  if (!isTaken || !existsSync(join(cwd, place))) return undefined;
  const reason = `there is already a tool of this name; take another name, or edit its files in ${place} and run: kitbag trust ${place}, which tries it and makes the next version`;
  return failedAnswer(toFailure("draft-refused", { name, reasons: [reason] }));
}

function toAnswer(answer: ForgeAnswer | SkillAnswer, template: string): Answer {
  if (answer.status === "refused") return failedAnswer(answer.error);
  const { name, status } = answer;
  if (answer.status === "waiting") {
    const { id, asks } = answer;
    const text = `${name} asks for ${describePermissions(asks)}. It is there once you agree:\n  kitbag approvals approve ${id}`;
    return { document: { name, template, status, id, asks }, text: toPrintable(text) };
  }
  const path = "path" in answer ? answer.path : `.kitbag/tools/${name}`;
  const next = "path" in answer ? `kitbag show ${name}` : `kitbag show ${name}\n  kitbag test ${name}`;
  return {
    document: { name, template, status, path },
    text: toPrintable(`Made ${path} of the template ${template}; its examples pass. Next:\n  ${next}`),
  };
}

/** The template of this name. @throws {KitbagError} `usage-invalid` for an unknown name. */
function findTemplate(asked: string): Template {
  const found = templates.find(({ name }) => name === asked);
  if (found !== undefined) return found;
  const names = templates.map(({ name }) => name);
  const cure = suggest(asked, names, `the templates are ${names.join(", ")}`);
  throw usageError(`Cannot use --template ${quote(asked)}: there is no such template for a tool; ${cure}`);
}

/** Each `name=value`; a value is read by the schema of its parameter. */
function readParameters({ parameters }: Template, words: readonly string[]): JsonObject {
  const properties = parameters["properties"] as Readonly<Record<string, JsonObject>>;
  const pairs = words.map((word): [string, JsonValue] => {
    const [, given, value] = /^([^=]+)=(.*)$/su.exec(word) ?? [];
    // base_url means baseUrl.
    const name = given?.replaceAll(/[_-]([a-z])/gu, (_, letter: string) => letter.toUpperCase());
    if (name === undefined || value === undefined)
      throw usageError(`Cannot use --param ${quote(word)}: write name=value, such as --param groupBy=region`);
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema !== undefined) return [name, fromText(parameters, schema, value)];
    const known = Object.keys(properties).join(", ");
    throw usageError(`Cannot use --param ${quote(name)}: the parameters of this template are ${known}`);
  });
  return Object.fromEntries(pairs);
}
