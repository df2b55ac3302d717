import { defineTool, toMetaTool } from "../../core/define-tool.ts";
import { KitbagError } from "../../core/errors.ts";
import type { JsonObject, JsonValue } from "../../core/json.ts";
import type { Tool } from "../../core/tool.ts";
import type { Workspace } from "../workspace.ts";

/** Pages that fit into a conversation. */
const pageBytes = 8 * 1024;

/**
 * Makes the tool `read_output`, with which a model looks into an output that was too large to hand over: by pages, by words, or by
 * the path of a part if it is JSON. Give it to the workspace whose outputs it reads.
 *
 * @example
 * ```ts
 * import { createOutputTool, createWorkspace, defineTool } from "kitbag";
 *
 * const list = defineTool({ name: "list", description: "Lists numbers", run: () => Array.from({ length: 500 }, (_, n) => n) });
 * const workspace = createWorkspace({ tools: [list], limits: { maxOutputBytes: 1000 } });
 * workspace.add(createOutputTool(workspace));
 *
 * const listed = await workspace.call("list");
 * const handle = listed.status === "ok" ? listed.capped?.handle : "";
 * const part = await workspace.call("read_output", { handle, from: 498 });
 * console.assert(part.status === "ok" && JSON.stringify(part.output).includes("[498,499]"));
 * ```
 */
export function createOutputTool(workspace: Pick<Workspace, "readOutput" | "searchOutput" | "sliceOutput">): Tool {
  return toMetaTool(
    defineTool({
      name: "read_output",
      title: "Read a large output",
      description:
        "Reads an output that was too large to show: page by page (offset), by words (search), or a part of JSON (path, such as rows[3].name, and from).",
      input: inputSchema,
      annotations: { readOnly: true, idempotent: true },
      run: (input, { user }) => read(workspace, input as unknown as ReadInput, user),
    }),
  );
}

interface ReadInput {
  readonly handle: string;
  readonly offset?: number;
  readonly search?: string;
  readonly path?: string;
  readonly from?: number;
  readonly limit?: number;
}

const inputSchema: JsonObject = {
  type: "object",
  properties: {
    handle: { type: "string", description: "output:sha256:…, as the answer gave it" },
    offset: { type: "integer", minimum: 0, description: "In bytes; nextOffset of the page before" },
    search: { type: "string", description: "Words to find, in any case" },
    path: { type: "string", description: "Of a part of JSON" },
    from: { type: "integer", minimum: 0, description: "The first item of a list, from 0" },
    limit: { type: "integer", minimum: 1, maximum: 1000, description: "How many places or items" },
  },
  required: ["handle"],
};

async function read(
  workspace: Pick<Workspace, "readOutput" | "searchOutput" | "sliceOutput">,
  { handle, offset, search, path, from, limit }: ReadInput,
  user: string | undefined,
): Promise<JsonValue> {
  const isSlice = path !== undefined || from !== undefined;
  if (search !== undefined && isSlice) {
    const expected = "search, or path and from, not both";
    throw new KitbagError("option-invalid", { option: "search", found: "both", expected });
  }
  const count = limit !== undefined && { limit };
  const place = offset !== undefined && { offset };
  if (search !== undefined)
    return toJson(await workspace.searchOutput(handle, { text: search, user, ...place, ...count }));
  if (!isSlice) return toJson(await workspace.readOutput(handle, { user, ...place, length: pageBytes }));
  const slice = await workspace.sliceOutput(handle, {
    user,
    ...(path !== undefined && { path }),
    ...(from !== undefined && { from }),
    ...count,
  });
  return toJson(slice);
}

/** What is read is plain data, though its type has a name. */
function toJson(value: object): JsonValue {
  return { ...value };
}
