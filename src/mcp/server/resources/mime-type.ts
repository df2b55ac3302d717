const types: ReadonlyMap<string, string> = new Map([
  ["bash", "application/x-sh"],
  ["css", "text/css"],
  ["csv", "text/csv"],
  ["gif", "image/gif"],
  ["htm", "text/html"],
  ["html", "text/html"],
  ["jpeg", "image/jpeg"],
  ["jpg", "image/jpeg"],
  ["js", "text/javascript"],
  ["json", "application/json"],
  ["markdown", "text/markdown"],
  ["md", "text/markdown"],
  ["mjs", "text/javascript"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["py", "text/x-python"],
  ["sh", "application/x-sh"],
  ["svg", "image/svg+xml"],
  ["toml", "application/toml"],
  ["ts", "text/typescript"],
  ["txt", "text/plain"],
  ["wasm", "application/wasm"],
  ["webp", "image/webp"],
  ["xml", "application/xml"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
]);

/** The media type of a file, by the ending of its name; `application/octet-stream` if that says nothing. */
export function toMimeType(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  const ending = dot > 0 ? name.slice(dot + 1).toLowerCase() : "";
  return types.get(ending) ?? "application/octet-stream";
}
