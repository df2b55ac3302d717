import { isMcpProgram, type McpCode, type McpSource } from "../core/mcp-source.ts";
import { scopesOf, type Permissions } from "../core/permissions.ts";
import type { JsonSchema } from "../core/schema/json-schema.ts";
import type { Tool } from "../core/tool.ts";
import { countOpened } from "../sandbox/grants.ts";
import { describeRate, describeTime } from "../workspace/rates/rate-limit.ts";
import type { RegisteredTool } from "../workspace/registry/registered-tool.ts";
import { describeFlags, renderCall } from "./flags/describe-flags.ts";
import { toPrintable, toPrintableLine } from "./printable.ts";
import { renderFacts, type Fact, renderTable } from "./render.ts";
import type { Terminal } from "./terminal.ts";

/** Tells whether the operating system holds a tool to its permissions. Code of this process can do what the process can. */
export function isEnforced(tool: Tool): boolean {
  if (tool.code.kind === "mcp") return whyNotHeld((tool.code as McpCode).source) === undefined;
  return tool.code.kind !== "function" && tool.code.kind !== "pipeline";
}

/** Why nothing here holds the tools of a server to their permissions. */
function whyNotHeld(source: McpSource): string | undefined {
  if (!isMcpProgram(source)) return "it runs on another machine";
  return source.sandbox === "off" ? "NO SANDBOX: its server can read and change all that you can" : undefined;
}

/** Writes everything about a tool, for a person; `facts` are those that the tool itself does not know. */
export function renderTool(found: RegisteredTool, facts: readonly Fact[], terminal: Terminal): string {
  const { tool, address } = found;
  const title = (text: string): string => terminal.style("bold", text);
  const flags = describeFlags(tool.inputSchema);
  const rows = flags.map(({ flag, value, required, description }) => [flag, value, required ? "yes" : "", description]);
  const sections = [
    `${title(address)}\n${toPrintable(tool.description)}`,
    renderFacts([...describeTool(found), ...facts]),
    flags.length === 0
      ? "It takes no parameters."
      : renderTable(["FLAG", "VALUE", "REQUIRED", "DESCRIPTION"], rows, terminal),
    `${title("Call it")}\n${renderCalls(found).join("\n")}`,
    `${title("Input schema")}\n${renderSchema(tool.inputSchema)}`,
    ...(tool.outputSchema === undefined ? [] : [`${title("Output schema")}\n${renderSchema(tool.outputSchema)}`]),
  ];
  return sections.join("\n\n");
}

function describeTool({ tool, wireName, source, owner }: RegisteredTool): Fact[] {
  return [
    ["title", tool.title ?? ""],
    ["version", tool.version ?? ""],
    ["source", source === "global" ? "global" : `${source} ${owner}`],
    ["wire name", wireName],
    ["runtime", tool.code.kind],
    ["annotations", describeAnnotations(tool)],
    ["permissions", describePermissions(tool)],
    ["files", describeFiles(tool)],
    ["approval", tool.needsApproval ? "a person must approve each call" : ""],
    ["injected", tool.inject.join(", ")],
    ["limits", describeLimits(tool)],
    ["cache", describeCache(tool)],
  ];
}

/** The parameters whose values are names of files. */
function describeFiles({ files = {} }: Tool): string {
  const named = Object.entries(files).map(([name, use]) => `${name} (${use === "read" ? "read" : "written"})`);
  return named.length === 0 ? "" : `named by ${named.join(", ")}`;
}

function describeLimits({ limits: { rate, ...numbers } }: Tool): string {
  const said = Object.entries(numbers).filter(([, value]) => value !== undefined);
  const burst = rate?.burst === undefined ? "" : ` (${rate.burst} at once)`;
  return [
    ...said.map(([name, value]) => `${name} ${value}`),
    ...(rate === undefined ? [] : [`rate ${describeRate({ ...rate, per: "workspace" })}${burst}`]),
  ].join(", ");
}

function describeCache({ cache }: Tool): string {
  if (cache === undefined) return "";
  const { ttlMs, tags = [], scope = "user" } = cache;
  const whose = scope === "user" ? "for who asked" : "for everybody";
  return `outputs are used again for ${describeTime(ttlMs)}, ${whose}${tags.length > 0 ? `; tags ${tags.join(", ")}` : ""}`;
}

function describeAnnotations({ annotations }: Tool): string {
  const said = Object.entries(annotations).filter(([, value]) => value !== undefined);
  return said.map(([name, value]) => (value === true ? name : `not ${name}`)).join(", ");
}

function describePermissions(tool: Tool): string {
  const kinds = listPermissions(tool.permissions);
  const reason = (tool.code.kind === "mcp" && whyNotHeld((tool.code as McpCode).source)) || "it runs in this process";
  if (kinds === "") return isEnforced(tool) ? "none" : `none declared, and none enforced: ${reason}`;
  return isEnforced(tool) ? kinds : `${kinds} (declared, not enforced: ${reason})`;
}

/** Permissions in a line: `network example.com; env HOME`. Empty without permissions. */
export function listPermissions(permissions: Permissions): string {
  const kinds = Object.keys(permissions) as (keyof Permissions)[];
  return kinds.map((kind) => `${kind} ${scopesOf(permissions, kind).join(" ")}`).join("; ");
}

/** Lines in red for permissions that open what is shielded, by its exact path, or every public host; none if no permission does. */
export function renderOpened(
  { read = [], write = [], network = [] }: Permissions,
  terminal: Pick<Terminal, "style">,
  cwd: string = process.cwd(),
): string[] {
  const places = { directory: cwd };
  const opened = {
    read: read.filter((scope) => countOpened("read", scope, places) > 0),
    write: write.filter((scope) => countOpened("write", scope, places) > 0),
  };
  const wide = network.filter((rule) => /^\*(?::\d+)?$/u.test(rule));
  const reaches =
    wide.length === 0 ? [] : [terminal.style("red", `Reaches every public host: network ${wide.join(" ")}`)];
  const said = Object.entries(opened).flatMap(([kind, list]) => (list.length === 0 ? [] : `${kind} ${list.join(" ")}`));
  if (said.length === 0) return reaches;
  return [...reaches, terminal.style("red", toPrintableLine(`Opens what is shielded: ${said.join("; ")}`))];
}

function renderCalls({ tool, address }: RegisteredTool): string[] {
  if (tool.examples.length === 0) {
    const required = describeFlags(tool.inputSchema).filter((flag) => flag.required && !flag.flag.includes("."));
    return [`  $ kitbag call ${address}${required.map(({ flag }) => ` ${flag} …`).join("")}`];
  }
  return tool.examples.map(({ description, input, output }) => {
    const comment = description === undefined ? "" : `  # ${toPrintableLine(description)}\n`;
    const result = output === undefined ? "" : `\n  ${toPrintableLine(JSON.stringify(output))}`;
    return `${comment}  $ ${toPrintableLine(renderCall(address, tool.inputSchema, input))}${result}`;
  });
}

function renderSchema(schema: JsonSchema): string {
  return toPrintable(JSON.stringify(schema, null, 2));
}
