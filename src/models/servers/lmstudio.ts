import {
  known,
  type LocalServer,
  type ServerModel,
  toCount,
  toFacts,
  toParameters,
  toRows,
  toWord,
  type AskServer,
} from "./server-model.ts";

type Row = Readonly<Record<string, unknown>>;

/** LM Studio: `/api/v1/models` (from 0.4 on), or `/api/v0/models` of earlier ones. */
export const lmstudio: LocalServer = {
  title: "LM Studio",
  holdsRequests: true,
  growsContext: false,
  async list(ask) {
    const rows = await readRows(ask);
    return rows?.filter(isChat).map((row) => toModel(row));
  },
  async find(ask, name) {
    const row = (await readRows(ask))?.find((each) => namesOf(each).includes(name));
    return row === undefined ? undefined : { ...toModel(row, name), name };
  },
};

async function readRows(ask: AskServer): Promise<readonly Row[] | undefined> {
  const rows = toRows(toFacts((await ask("/api/v1/models"))?.body)["models"]);
  return rows ?? toRows(toFacts((await ask("/api/v0/models"))?.body)["data"]);
}

function isChat({ type }: Row): boolean {
  return type === "llm" || type === "vlm";
}

/** A model answers to its key, to its variants and to what its loaded copies are called. */
function namesOf(row: Row): readonly (string | undefined)[] {
  const variants = Array.isArray(row["variants"]) ? row["variants"].map(toWord) : [];
  return [toWord(row["key"]), toWord(row["id"]), ...variants, ...copiesOf(row).map(({ id }) => toWord(id))];
}

function copiesOf(row: Row): readonly Row[] {
  return toRows(row["loaded_instances"]) ?? [];
}

function toModel(row: Row, asked?: string): ServerModel {
  const abilities = toFacts(row["capabilities"]);
  const copies = copiesOf(row);
  const copy = copies.find(({ id }) => id === asked) ?? copies[0];
  const isLoaded = row["state"] === undefined ? copies.length > 0 : row["state"] === "loaded";
  return known<ServerModel>({
    name: toWord(row["key"]) ?? toWord(row["id"]) ?? "",
    sizeBytes: toCount(row["size_bytes"]),
    parameters: toParameters(row["params_string"]),
    quantization: toWord(row["quantization"]) ?? toWord(toFacts(row["quantization"])["name"]),
    contextInUse: toCount(toFacts(copy?.["config"])["context_length"]) ?? toCount(row["loaded_context_length"]),
    contextMax: toCount(row["max_context_length"]),
    tools: toAnswer(abilities["trained_for_tool_use"]) ?? hasTools(row["capabilities"]),
    vision: toAnswer(abilities["vision"]) ?? (row["type"] === "vlm" ? true : undefined),
    thinking: abilities["reasoning"] === undefined ? undefined : abilities["reasoning"] !== false,
    isLoaded,
  });
}

function toAnswer(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** Earlier versions list what a model can do. */
function hasTools(value: unknown): boolean | undefined {
  return Array.isArray(value) ? value.includes("tool_use") : undefined;
}
