import { toCanonicalJson, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { ToolAuthor, Tool, ToolCode } from "../../core/tool.ts";
import { fromHints, toDependencies, toHints, type ToolJson } from "../../skills/manifests/read-tool-json.ts";
import { withoutUndefined } from "../../skills/scripts/without-undefined.ts";
import { toLanguage, toPlaces } from "../drafts/languages.ts";
import type { DraftHead, ToolDraft } from "../drafts/tool-draft.ts";
import { createTool } from "../../core/define-tool.ts";
import type { CodeFolder, ScriptCode, WasmCode } from "../../core/script-code.ts";
import { definePipeline, type DefinePipelineOptions } from "../../runtimes/pipeline/define-pipeline.ts";
import type { PipelineSpec } from "../../runtimes/pipeline/pipeline-spec.ts";

/** The file that says what a tool is. */
export const manifestFile = "manifest.json";

/** What a manifest has beside the draft. */
interface ManifestNotes {
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
  // A folder that was not made here may call its program otherwise.
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

/**
 * Makes the tool that a manifest describes, out of the files of `folder`.
 *
 * @throws {KitbagError} `tool-invalid` or `pipeline-invalid` with everything that is wrong.
 */
export function makeTool(manifest: ToolJson, folder: CodeFolder, pipelines: DefinePipelineOptions): Tool {
  const author = toAuthor(manifest);
  if (manifest.tool_type === "pipeline") return { ...definePipeline(toSpec(manifest), pipelines), author };
  const { name, description = `The tool ${name}`, input_schema: input, output_schema } = manifest;
  const output = output_schema ?? undefined;
  return createTool({
    name,
    description,
    ...toShared(manifest),
    input: input ?? { type: "object", properties: {} },
    ...(output !== undefined && { output }),
    code: toCode(manifest, folder),
    uses: manifest.uses ?? [],
    author,
  });
}

function toAuthor({ author: user, author_scopes: scopes, owner, shared }: ToolJson): ToolAuthor {
  return {
    ...(user !== undefined && { user }),
    scopes: scopes ?? "all",
    ...(owner !== undefined && { owner }),
    ...(shared !== undefined && { shared }),
  };
}

type Shared = Pick<PipelineSpec, "title" | "version" | "annotations" | "permissions" | "examples"> &
  Pick<PipelineSpec, "needsApproval" | "limits">;

function toShared(manifest: ToolJson): Shared {
  return withoutUndefined<Shared>({
    title: manifest.title,
    version: manifest.version,
    annotations: fromHints(manifest.annotations),
    permissions: manifest.permissions ?? {},
    examples: manifest.examples ?? [],
    needsApproval: manifest.needs_approval,
    limits: manifest.limits,
  });
}

function toSpec(manifest: ToolJson): PipelineSpec {
  const { name, description = `The pipeline ${name}`, pipeline_steps: steps = [], annotations } = manifest;
  const { annotations: hints, ...shared } = toShared(manifest);
  return withoutUndefined<PipelineSpec>({
    name,
    description,
    ...shared,
    annotations: annotations === undefined ? undefined : hints,
    input: manifest.input_schema,
    output: manifest.pipeline_output,
    steps: steps as unknown as PipelineSpec["steps"],
  });
}

function toCode(manifest: ToolJson, folder: CodeFolder): ToolCode {
  const { entry_file: path = "", interpreter, permissions = {} } = manifest;
  const digest = folder.files.find((file) => file.path === path)?.digest ?? "";
  const place = { directory: folder.directory, path, digest };
  if (manifest.tool_type === "wasm") return { kind: "wasm", ...place } satisfies WasmCode;
  const dependencies = toDependencies(manifest);
  const code: ScriptCode = {
    kind: "script",
    ...place,
    folder,
    interpreter: interpreter === undefined ? [] : [interpreter],
    environment: [...(permissions.env ?? [])],
    ...(dependencies !== undefined && { dependencies }),
    toCommand: (input: JsonObject) => ({ argv: [], stdin: JSON.stringify(input), env: {} }),
  };
  return code;
}
