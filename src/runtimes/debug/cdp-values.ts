import { getList, getPart, getString, type Message } from "./debug-messages.ts";

/** The longest value that is shown. */
const longest = 2000;

/** A value of V8 as text. */
export function renderRemote(remote: Message): string {
  const { type, value } = remote;
  const description = getString(remote, "description");
  if (type === "string") return cut(JSON.stringify(value));
  if (type === "undefined") return "undefined";
  if (getString(remote, "subtype") === "null") return "null";
  if (type === "object" && getString(remote, "subtype") !== "error") {
    const preview = getPart(remote, "preview");
    if (Object.keys(preview).length > 0) return cut(renderPreview(preview, description ?? ""));
  }
  if (type === "function") return cut((description ?? "function").split("\n")[0] ?? "");
  return cut(description ?? getString(remote, "unserializableValue") ?? JSON.stringify(value) ?? String(type));
}

function renderPreview(preview: Message, description: string): string {
  const isList = getString(preview, "subtype") === "array";
  const properties = getList(preview, "properties").map((property) => {
    const value = renderShort(property as Message);
    return isList ? value : `${getString(property, "name") ?? ""}: ${value}`;
  });
  const entries = getList(preview, "entries").map((entry) => {
    const value = renderShort(getPart(entry, "value"));
    const key = getPart(entry, "key");
    return Object.keys(key).length === 0 ? value : `${renderShort(key)} => ${value}`;
  });
  const all = [...entries, ...(entries.length > 0 ? [] : properties), ...(preview["overflow"] === true ? ["…"] : [])];
  const name = description === "Object" || isList ? "" : `${description} `;
  if (all.length === 0) return name === "" ? (isList ? "[]" : "{}") : name.trim();
  return isList ? `[${all.join(", ")}]` : `${name}{${all.join(", ")}}`;
}

function renderShort(part: Message): string {
  const text = getString(part, "value") ?? getString(part, "description") ?? getString(part, "type") ?? "";
  return getString(part, "type") === "string" ? JSON.stringify(text) : text;
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}
