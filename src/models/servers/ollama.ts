import {
  type AskServer,
  known,
  type LocalServer,
  type ServerModel,
  toCount,
  toFacts,
  toParameters,
  toRows,
  toWord,
} from "./server-model.ts";

type Row = Readonly<Record<string, unknown>>;

/** Models whose abilities the list does not say are asked about one by one, but not more than these. */
const mostAsked = 40;

/** Ollama: `/api/tags` has what is on disk, `/api/ps` what is loaded, `/api/show` what a model can do. */
export const ollama: LocalServer = {
  title: "Ollama",
  holdsRequests: true,
  growsContext: true,
  async list(ask) {
    const [tags, loaded] = await Promise.all([ask("/api/tags"), readLoaded(ask)]);
    const rows = toRows(toFacts(tags?.body)["models"]);
    if (rows === undefined) return undefined;
    const models = await Promise.all(
      rows.map(async (row, index) => {
        const name = toWord(row["model"]) ?? toWord(row["name"]);
        if (name === undefined) return undefined;
        const isTold = Array.isArray(row["capabilities"]) || index >= mostAsked;
        return toModel(name, { ...row, ...(isTold ? {} : await show(ask, name)) }, loaded);
      }),
    );
    return models.filter((model) => model !== undefined);
  },
  async find(ask, name) {
    const [shown, loaded] = await Promise.all([show(ask, name), readLoaded(ask)]);
    return shown === undefined ? undefined : (toModel(name, shown, loaded) ?? { name });
  },
};

async function show(ask: AskServer, name: string): Promise<Row | undefined> {
  const reply = await ask("/api/show", { model: name });
  return reply?.status === 200 ? toFacts(reply.body) : undefined;
}

async function readLoaded(ask: AskServer): Promise<readonly Row[] | undefined> {
  return toRows(toFacts((await ask("/api/ps"))?.body)["models"]);
}

/** `undefined` for a model that does not chat: one that makes embeddings, say. */
function toModel(name: string, row: Row, loaded: readonly Row[] | undefined): ServerModel | undefined {
  const abilities = Array.isArray(row["capabilities"]) ? (row["capabilities"] as unknown[]) : undefined;
  if (abilities?.includes("completion") === false) return undefined;
  const details = toFacts(row["details"]);
  const running = loaded?.find((other) => isSame(toWord(other["model"]) ?? toWord(other["name"]) ?? "", name));
  return known<ServerModel>({
    name,
    sizeBytes: toCount(row["size"]),
    parameters: toParameters(details["parameter_size"]),
    quantization: toWord(details["quantization_level"]),
    contextMax: findContextMax(toFacts(row["model_info"])) ?? toCount(details["context_length"]),
    tools: abilities?.includes("tools"),
    vision: abilities?.includes("vision"),
    thinking: abilities?.includes("thinking"),
    isLoaded: loaded === undefined ? undefined : running !== undefined,
    ...(running && readRunning(running)),
  });
}

function readRunning(running: Row): Pick<ServerModel, "contextInUse" | "unloadsAt" | "vramShare"> {
  const size = toCount(running["size"]);
  const inVram = running["size_vram"] === 0 ? 0 : toCount(running["size_vram"]);
  const unloadsAt = Date.parse(toWord(running["expires_at"]) ?? "");
  return known<Pick<ServerModel, "contextInUse" | "unloadsAt" | "vramShare">>({
    contextInUse: toCount(running["context_length"]),
    vramShare: size === undefined || inVram === undefined ? undefined : Math.min(1, inVram / size),
    unloadsAt: Number.isNaN(unloadsAt) ? undefined : unloadsAt,
  });
}

/** The key begins with the architecture: `qwen3.context_length`. */
function findContextMax(info: Row): number | undefined {
  const key = Object.keys(info).find((each) => each.endsWith(".context_length"));
  return key === undefined ? undefined : toCount(info[key]);
}

/** A name without a tag means `latest`. */
function isSame(left: string, right: string): boolean {
  const full = (name: string): string =>
    name.slice(name.lastIndexOf("/") + 1).includes(":") ? name : `${name}:latest`;
  return full(left) === full(right);
}
