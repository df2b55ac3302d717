import { defineTool, toMetaTool } from "../../core/define-tool.ts";
import type { Tool } from "../../core/tool.ts";
import type { ImportOptions, ImportReport } from "./import-skills.ts";

/** How the tool imports. */
export type ImportToolOptions = Omit<ImportOptions, "skills" | "plugins" | "choose" | "replace" | "signal">;

/**
 * Makes the tool `import`, for models: fetches skills, pins them and says what they are. Each call waits for approval; and what it
 * imports stays disabled until a person trusts it, unless `approve` says yes to exactly what was fetched. Folders and archives of this
 * machine are not imported unless `allowLocal` says so.
 *
 * @example
 * ```ts
 * import { createWorkspace } from "kitbag";
 * import { createImportTool } from "kitbag/forge";
 *
 * const workspace = createWorkspace({ tools: [createImportTool({ directory: process.cwd() })] });
 * const outcome = await workspace.call("import", { source: "owner/repo" });
 * console.assert(outcome.status === "failed" && outcome.error.code === "approval-missing");
 * ```
 */
export function createImportTool(options: ImportToolOptions = {}): Tool {
  const tool: Tool = defineTool({
    name: "import",
    title: "Import skills",
    description:
      "Fetch skills from a git repository (owner/repo, or its address, with #branch:folder if needed), a Gist (gist:ID), an archive (the address of a .zip or .tgz) or an npm package (npm:name), and put them into the project, disabled. Runs nothing of them. Answers with what they are: tools, permissions, token cost, findings. If there are several skills, call it again with the names of those to take. A person enables them.",
    input: {
      type: "object",
      properties: {
        source: { type: "string", minLength: 1, maxLength: 2048, description: "Where the skills are" },
        skills: {
          type: "array",
          items: { type: "string", minLength: 1, maxLength: 64 },
          maxItems: 50,
          description: "The names of the skills to take, if there are several",
        },
        plugins: {
          type: "array",
          items: { type: "string", minLength: 1, maxLength: 200 },
          maxItems: 20,
          description: "The plugins of a marketplace to take them from",
        },
      },
      required: ["source"],
      additionalProperties: false,
    },
    annotations: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
    needsApproval: true,
    async run(input, { signal }) {
      const { source, skills, plugins } = input as unknown as ImportInput;
      // Fetching and unpacking take long to load, and most servers never import anything.
      const { importSkills } = await import("./import-skills.ts");
      const report = await importSkills(source, {
        allowLocal: false,
        ...options,
        ...(skills !== undefined && { skills }),
        ...(plugins !== undefined && { plugins }),
        signal,
      });
      return toAnswer(report);
    },
  });
  return toMetaTool(tool);
}

interface ImportInput {
  readonly source: string;
  readonly skills?: readonly string[];
  readonly plugins?: readonly string[];
}

const next: Readonly<Record<ImportReport["status"], string>> = {
  listed: "Nothing was imported: call import again with the names of the skills to take.",
  refused: "Nothing was imported: it was not approved.",
  disabled: "Imported, and disabled: a person reads it and runs `kitbag trust` with the path.",
  enabled: "Imported and enabled, exactly as it is described here.",
};

/** What a model needs: not every schema. */
function toAnswer({ source, status, skills, plugins, skipped, notes }: ImportReport): object {
  return {
    status,
    next: next[status],
    source,
    skills: skills.map(
      ({ name, kind, description, version, place, permissions, tools, tokens, diagnostics, source: from }) => ({
        name,
        kind,
        description,
        ...(version !== undefined && { version }),
        place,
        ...(from.commit !== undefined && { commit: from.commit }),
        permissions,
        tools: tools.map((tool) => ({ name: tool.name, description: tool.description })),
        tokens,
        findings: diagnostics
          .filter(({ severity }) => severity !== "info")
          .map(({ code, message, file }) => ({ code, message, file })),
      }),
    ),
    plugins,
    skipped,
    notes,
  };
}
