import { createTool } from "../../core/define-tool.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CodeFolder, ScriptCode, WasmCode } from "../../core/script-code.ts";
import type { Tool, ToolAuthor, ToolCode } from "../../core/tool.ts";
import { definePipeline, type DefinePipelineOptions } from "../../runtimes/pipeline/define-pipeline.ts";
import type { PipelineSpec } from "../../runtimes/pipeline/pipeline-spec.ts";
import { fromHints, toDependencies, type ToolJson } from "../../skills/manifests/read-tool-json.ts";
import { withoutUndefined } from "../../skills/scripts/without-undefined.ts";

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
