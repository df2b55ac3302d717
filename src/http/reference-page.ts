import { operations } from "./operations.ts";
import type { Operation } from "./operation.ts";
import { paths, type OperationName } from "./paths.ts";

const style = `
:root{color-scheme:light dark;--line:#8884;--soft:#8882}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid var(--line)}
h3{font-size:1rem;margin:1.4rem 0 .3rem}code,pre{font:14px/1.45 ui-monospace,monospace}
pre{background:var(--soft);padding:.6rem .8rem;border-radius:.4rem;overflow:auto}
nav a{margin-right:.8rem}.method{font-weight:700;margin-right:.5rem}table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.2rem .6rem .2rem 0;vertical-align:top;border-bottom:1px solid var(--soft)}
`;

/** Writes the reference page of the API, from the table of its operations. It loads nothing. */
export function renderReferencePage(server: string): string {
  const byGroup = Map.groupBy(Object.keys(paths) as OperationName[], (name) => name.split(".")[0] ?? "");
  const groups = [...byGroup].map(
    ([group, names]) => `<h2 id="${group}">${group}</h2>${names.map((name) => renderOperation(name, server)).join("")}`,
  );
  const links = [...byGroup.keys()].map((group) => `<a href="#${group}">${group}</a>`).join("");
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Kitbag API</title><style>${style}</style></head><body><h1>Kitbag API</h1>
<p>All operations below <code>${escape(server)}</code>. Send the token as <code>Authorization: Bearer …</code>; bodies are JSON.
Errors are problem documents (RFC 9457): <code>code</code> says which, <code>detail</code> what to do.
<a href="openapi.json">openapi.json</a> has the same as OpenAPI 3.1.</p><nav>${links}</nav>${groups.join("")}</body></html>`;
}

function renderOperation(name: OperationName, server: string): string {
  const { summary, scope, input, stream }: Operation = operations[name];
  const [method = "", path = ""] = paths[name].split(" ");
  const plain = path.replaceAll("+}", "}");
  const properties = (input?.["properties"] ?? {}) as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const required = (input?.["required"] ?? []) as readonly string[];
  const rows = Object.entries(properties).map(
    ([key, value]) =>
      `<tr><td><code>${escape(key)}</code>${required.includes(key) ? " *" : ""}</td><td>${escape(typeOf(value))}</td><td>${escape((value["description"] as string | undefined) ?? "")}</td></tr>`,
  );
  const body =
    method === "POST" ? ` \\\n  -H 'content-type: application/json' -d '${exampleOf(properties, required)}'` : "";
  const live = stream === undefined ? "" : " Add <code>-H 'accept: text/event-stream' -N</code> to follow it.";
  return `<h3 id="${name}"><span class="method">${method}</span><code>${escape(plain)}</code></h3>
<p>${escape(summary)}${scope === undefined ? "" : ` Needs the scope <code>${escape(scope)}</code>.`}${live}</p>
${rows.length === 0 ? "" : `<table><tbody>${rows.join("")}</tbody></table>`}
<pre>curl${method === "GET" ? "" : ` -X ${method}`} -H "authorization: Bearer $TOKEN" ${escape(`${server}${plain}`)}${escape(body)}</pre>`;
}

function typeOf(schema: Readonly<Record<string, unknown>>): string {
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  return typeof type === "string" ? type : "any JSON";
}

function exampleOf(
  properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  required: readonly string[],
): string {
  const names = required.length > 0 ? required : Object.keys(properties).slice(0, 1);
  const example = names.map((name) => [name, valueOf(properties[name] ?? {})] as const);
  return JSON.stringify(Object.fromEntries(example));
}

function valueOf({ type, enum: values, default: initial }: Readonly<Record<string, unknown>>): unknown {
  if (initial !== undefined) return initial;
  if (Array.isArray(values)) return values[0] as unknown;
  return type === "integer" ? 1 : type === "array" ? [] : type === "boolean" ? true : "…";
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
