import { isKitbagError, type Failure } from "../../core/errors.ts";
import { providers, type Environment, type Provider } from "../../models/providers.ts";
import { missingModel } from "../../models/retry/to-model-error.ts";
import type { Model } from "../../models/model.ts";
import { describeUnknown } from "../../models/table/describe-unknown.ts";
import { listProbes } from "../../models/table/listed-models.ts";
import { nameModel } from "../agent/agent-options.ts";
import { renderTable, showDuration } from "../render.ts";
import type { Terminal } from "../terminal.ts";
import { marks } from "./examine-machine.ts";
import { pickModel, type ServerExamination } from "./examine-servers.ts";

/** What was found out about one model. */
export interface ModelCheck {
  readonly provider: string;
  /** The model that was asked, or would be. */
  readonly model: string;
  readonly package: "installed" | "missing" | "not needed";
  readonly key: "set" | "missing" | "not needed";
  readonly status: "works" | "failed" | "skipped";
  /** How long a tiny question took. */
  readonly answerMs?: number;
  /** Whether it called a tool when it was asked to. */
  readonly callsTools?: boolean;
  /** Why it does not work or was not asked, and what to do. */
  readonly found?: string;
}

/** What {@link checkModels} takes. */
export interface CheckModelsOptions {
  readonly env: Environment;
  /** The model that is chosen here; it is asked beside one of each provider. */
  readonly chosen: Model | string;
  readonly servers: readonly ServerExamination[];
  readonly onProgress: (what: string) => void;
}

/** Asks the chosen model, the offline one, and one of each provider that can be asked. Those that cannot are said to be skipped. */
export async function checkModels(options: CheckModelsOptions): Promise<readonly ModelCheck[]> {
  const { env, chosen, servers, onProgress } = options;
  const name = nameModel(chosen);
  const checks: ModelCheck[] = [];
  const add = async (shown: string, check: () => Promise<ModelCheck>): Promise<void> => {
    onProgress(`Asking ${shown}`);
    checks.push(await check());
  };
  await add("local", () => checkModel("local", "local", env));
  if (name !== "local") await add(name, () => checkModel(providerOf(name), chosen, env));
  for (const [provider, facts] of providers) {
    // The second way to speak to OpenAI has the same key, and a server without a name has no address.
    if (provider === providerOf(name) || provider === "openai-chat" || provider === "openai-compatible") continue;
    const small = listProbes(provider).slice(0, mostProbes);
    const server = servers.find((each) => each.provider === provider);
    if (server !== undefined) await add(provider, () => checkServer(server, facts, env));
    else if (small.length > 0) await add(provider, () => checkProvider(provider, small, env));
  }
  onProgress("");
  return checks;
}

/** How many models of a provider are asked for, if it does not have the first. */
const mostProbes = 3;

/** Asks a small model of a provider; another one if the key is good and that model is not there for it. */
async function checkProvider(provider: string, names: readonly string[], env: Environment): Promise<ModelCheck> {
  const [name = "", ...others] = names;
  const check = await checkModel(provider, name, env);
  const isMissing = check.status === "failed" && check.found?.includes(missingModel) === true;
  return isMissing && others.length > 0 ? checkProvider(provider, others, env) : check;
}

function providerOf(name: string): string {
  return name.split(/[/:]/u, 1)[0] ?? name;
}

async function checkModel(provider: string, model: Model | string, env: Environment): Promise<ModelCheck> {
  const facts = providers.get(provider);
  const base = {
    provider,
    model: nameModel(model),
    package: facts?.peer === undefined ? "not needed" : "installed",
    key: facts === undefined || !facts.needsKey ? "not needed" : "set",
  } as const;
  try {
    const { resolveModel } = await import("../../models/resolve/resolve-model.ts");
    const found = typeof model === "string" ? await resolveModel(model, { env }) : model;
    return { ...base, ...(await ask(found)) };
  } catch (cause) {
    return { ...base, ...explain(cause, facts, env) };
  }
}

/** A model that is neither installed nor paid for is not broken. */
function explain(
  cause: unknown,
  facts: Provider | undefined,
  env: Environment,
): Partial<ModelCheck> & Pick<ModelCheck, "status"> {
  if (!isKitbagError(cause)) throw cause;
  const { message } = cause;
  const hasKey = facts?.keys.some((name) => (env[name] ?? "").trim() !== "") === true;
  const key = facts?.needsKey === true ? ({ key: hasKey ? "set" : "missing" } as const) : {};
  if (isKitbagError(cause, "model-key-missing"))
    return { ...key, status: "skipped", found: `no key: set ${cause.details.variables.join(" or ")}` };
  if (!isKitbagError(cause, "provider-missing")) return { ...key, status: "failed", found: message };
  const [variable] = facts?.needsKey === true && !hasKey ? facts.keys : [];
  const found = `npm install ${cause.details.peer}${variable === undefined ? "" : `, and set ${variable}`}`;
  return { ...key, package: "missing", status: hasKey ? "failed" : "skipped", found };
}

async function ask(model: Model): Promise<Partial<ModelCheck> & Pick<ModelCheck, "status">> {
  const { answerMs, callsTools, error } = await askTinyQuestions(model);
  if (error !== undefined) return { status: "failed", found: error.message };
  const unknown = await describeUnknown(model);
  const found = [
    ...(callsTools ? [] : ["it answers, but does not call tools"]),
    ...(unknown === undefined ? [] : [unknown]),
  ];
  return { status: "works", answerMs, callsTools, ...(found.length > 0 && { found: found.join("; ") }) };
}

/** Asks a model of a server of one's own, if the server is there and has one. */
async function checkServer(server: ServerExamination, facts: Provider, env: Environment): Promise<ModelCheck> {
  const { provider, url, models } = server;
  const model = pickModel(server);
  if (model !== undefined) return checkModel(provider, `${provider}/${model}`, env);
  return {
    provider,
    model: "",
    package: facts.peer === undefined ? "not needed" : facts.isInstalled() ? "installed" : "missing",
    key: "not needed",
    status: "skipped",
    found: models === undefined ? `no server at ${url}` : "it has no model; download one first",
  };
}

/** The result of two small requests to a model. */
interface TinyAnswers {
  readonly answerMs: number;
  readonly callsTools: boolean;
  /** Why it did not answer. */
  readonly error?: Failure;
}

const runPatienceMs = 30_000;

/** Asks a model something that takes no thought, and then something that needs a tool. It costs less than a cent. */
async function askTinyQuestions(model: Model): Promise<TinyAnswers> {
  const { createAgent } = await import("../../agent/create-agent.ts");
  const { createWorkspace } = await import("../../workspace/create-workspace.ts");
  const { defineTool } = await import("../../core/define-tool.ts");
  let callsTools = false;
  const add = defineTool({
    name: "add",
    description: "Adds two numbers",
    input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    run: ({ a, b }) => {
      callsTools = true;
      return Number(a) + Number(b);
    },
  });
  const limits = { maxSteps: 3, maxMs: runPatienceMs };
  const asked = { model, retries: { maxRetries: 0 }, limits } as const;
  const startedAt = performance.now();
  const first = await createAgent({ ...asked, workspace: createWorkspace() }).run("Answer with one word: ready").result;
  const answerMs = performance.now() - startedAt;
  if (first.error !== undefined) return { answerMs, callsTools, error: first.error };
  const workspace = createWorkspace({ tools: [add] });
  const second = await createAgent({ ...asked, workspace }).run("Use the tool add with a: 19 and b: 23").result;
  return { answerMs, callsTools, ...(second.error !== undefined && { error: second.error }) };
}

/** Shows which models can be asked here, in a table. */
export function renderModels(checks: readonly ModelCheck[], terminal: Terminal): string {
  const rows = checks.map((check) => [
    { works: marks.ok, failed: marks.wrong, skipped: marks.note }[check.status],
    check.provider,
    check.model.startsWith(`${check.provider}/`) ? check.model.slice(check.provider.length + 1) : check.model,
    check.package,
    check.key,
    check.answerMs === undefined ? "" : showDuration(check.answerMs),
    check.callsTools === undefined ? "" : check.callsTools ? "yes" : "no",
    [check.status, check.found ?? ""].filter((part) => part !== "").join(": "),
  ]);
  return renderTable(["", "PROVIDER", "MODEL", "PACKAGE", "KEY", "ANSWERS IN", "CALLS TOOLS", "FOUND"], rows, terminal);
}
