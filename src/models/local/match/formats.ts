import type { ModelTool } from "../../model.ts";
import { parametersOf, type Parameter } from "../fill/parameter.ts";
import { rolesOf, sampleKinds } from "../fill/roles.ts";
import { isStrictFormat, strictFormatsOf, toExtensionStems } from "../text/file-endings.ts";
import type { Request } from "../text/read-request.ts";
import { toStems } from "../text/stems.ts";

/** Tells whether a request has only files of formats that a text does not name, and it names some: "a JSON file" is no `CHANGELOG.md`. */
export function hasOtherFormat({ tokens }: Request, about: string): boolean {
  const named = formatsIn(about);
  if (named.size === 0) return false;
  const files = tokens.flatMap(({ kind, text }) => (kind === "path" ? [strictFormatsOf(text)] : []));
  const isOther = (formats: readonly string[]): boolean =>
    formats.length > 0 && !formats.some((stem) => named.has(stem));
  return files.length > 0 && files.every(isOther);
}

/** Tells whether a tool reads no file of the formats that a request has. */
export function readsOtherFormat(request: Request, tool: ModelTool): boolean {
  const isFile = (parameter: Parameter): boolean =>
    rolesOf(parameter).has("path") || (sampleKinds(parameter).has("path") && !rolesOf(parameter).has("selector"));
  const files = parametersOf(tool).filter(isFile);
  return files.length > 0 && files.every((parameter) => hasOtherFormat(request, aboutFile(tool, parameter)));
}

/** What is said about a file: by its parameter, and if that says nothing about files, by the tool. */
function aboutFile({ description = "" }: ModelTool, parameter: Parameter): string {
  const own = `${parameter.name} ${parameter.description}`;
  return formatsIn(own).size > 0 || /\bfiles?\b/iu.test(parameter.description) ? own : description;
}

/** What comes out ("as JSON") is no format of what goes in. */
function formatsIn(text: string): ReadonlySet<string> {
  const read = text.slice(0, 4000).replaceAll(/\b(?:as|with|into) \w+/giu, "");
  return new Set(
    toStems(read)
      .flatMap((stem) => [stem, ...toExtensionStems(stem)])
      .filter(isStrictFormat),
  );
}
