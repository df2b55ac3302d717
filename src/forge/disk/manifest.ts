import { toCanonicalJson } from "../../core/canonical-json.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { ToolAuthor } from "../../core/tool.ts";
import { fromHints, toDependencies, toHints, type ToolJson } from "../../skills/manifests/read-tool-json.ts";
import { withoutUndefined } from "../../skills/scripts/without-undefined.ts";
import { toLanguage, toPlaces } from "../drafts/languages.ts";
import type { DraftHead, ToolDraft } from "../tool-draft.ts";

/** The file that says what a tool is. */
export const manifestFile = "manifest.json";

/** What a manifest has beside the draft. */
export interface ManifestNotes {
  readonly version: string;
  readonly author?: ToolAuthor | undefined;
}

/** Writes a draft down as a manifest. Where its code is follows from its language. */
export function toManifest(draft: ToolDraft, { version, author }: ManifestNotes): ToolJson {
  const { name, title, description, input, annotations, permissions, limits, needsApproval, examples } = draft;
  return withoutUndefined<ToolJson>({
    name,
    title,
    version,
    description,
    ...toCodeParts(draft),
    input_schema: input as JsonObject | undefined,
    annotations: annotations && toHints(annotations),
    permissions,
    limits,
    needs_approval: needsApproval,
    examples,
    author: author?.user,
    author_scopes: author === undefined || author.scopes === "all" ? undefined : author.scopes,
    owner: author?.owner,
    shared: author?.owner === undefined ? undefined : draft.shared,
  });
}

type CodeParts = Pick<ToolJson, "tool_type"> & Partial<ToolJson>;

function toCodeParts(draft: ToolDraft): CodeParts {
  if ("steps" in draft) {
    const { steps, result } = draft;
    return withoutUndefined<CodeParts>({ tool_type: "pipeline", pipeline_steps: steps, pipeline_output: result });
  }
  const { type, entryFile, source } = toPlaces(draft);
  return withoutUndefined<CodeParts>({
    tool_type: type,
    entry_file: entryFile,
    source_file: source?.file,
    language: source?.language,
    output_schema: draft.output as JsonObject | undefined,
    dependencies: draft.dependencies,
    uses: draft.uses,
  });
}

/** The text of a manifest, for a person to read. */
export function renderManifest(manifest: ToolJson): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Two manifests say the same, whether the tool is used or not. */
export function isSameManifest(one: ToolJson, other: ToolJson): boolean {
  return toText(one) === toText(other);
}

function toText(manifest: ToolJson): string {
  return toCanonicalJson({ ...manifest, disabled: false } as unknown as JsonValue);
}

/** The draft that a manifest and its files were made from; nothing if the language is not known. */
export function toDraft(manifest: ToolJson, texts: ReadonlyMap<string, string>): ToolDraft | undefined {
  const head = toHead(manifest);
  if (manifest.tool_type === "pipeline") {
    const { pipeline_steps: steps = [], pipeline_output: result } = manifest;
    return { ...head, steps, ...(result !== undefined && { result }) };
  }
  const { entry_file = "", language: source, output_schema, uses } = manifest;
  const language = toLanguage(entry_file, source);
  if (language === undefined) return undefined;
  const all = Object.fromEntries([...texts].filter(([path]) => path !== manifestFile));
  const { codeFile } = toPlaces({ language, files: all });
  // A folder that somebody else made may call its program otherwise.
  const own = texts.has(codeFile) ? codeFile : entry_file;
  const { [own]: code = "", ...files } = all;
  const dependencies = toDependencies(manifest);
  return {
    ...head,
    language,
    code,
    ...(Object.keys(files).length > 0 && { files }),
    ...(output_schema !== undefined && output_schema !== null && { output: output_schema }),
    ...(dependencies !== undefined && { dependencies }),
    ...(uses !== undefined && { uses }),
  };
}

function toHead(manifest: ToolJson): DraftHead {
  const { name, description = `The tool ${name}`, annotations, examples = [] } = manifest;
  return {
    name,
    description,
    ...withoutUndefined<Partial<DraftHead>>({
      title: manifest.title,
      input: manifest.input_schema,
      annotations: annotations && fromHints(annotations),
      permissions: manifest.permissions,
      limits: manifest.limits,
      needsApproval: manifest.needs_approval,
      shared: manifest.shared,
    }),
    examples,
  };
}
