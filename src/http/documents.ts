import type { BytesAnswer } from "./operation.ts";

/** The pages and documents of the API itself, by path. */
const documents: Readonly<
  Record<string, (server: string) => Promise<{ readonly type: string; readonly text: string }>>
> = {
  "/openapi.json": async (server) => {
    const { renderOpenApi } = await import("./openapi.ts");
    return { type: "application/json", text: JSON.stringify(renderOpenApi({ server, version: "1" })) };
  },
  "/": async (server) => {
    const { renderReferencePage } = await import("./reference-page.ts");
    return { type: "text/html; charset=utf-8", text: renderReferencePage(server) };
  },
};

/** Finds what is at a path that is no operation: the OpenAPI document and the reference page. */
export async function findDocument(path: string, server: string): Promise<BytesAnswer | undefined> {
  const make = Object.hasOwn(documents, path) ? documents[path] : undefined;
  if (make === undefined) return undefined;
  const { type, text } = await make(server);
  return { type, bytes: new TextEncoder().encode(text) };
}
