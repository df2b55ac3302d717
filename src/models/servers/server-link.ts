import type { Clock } from "../../platform/clock.ts";
import type { Model } from "../model.ts";
import type { AskServer, LocalServer, ServerModel } from "./server-model.ts";

/** What is known of a model on a server of your own, and how it is found out. */
export interface ServerLink {
  readonly server: LocalServer;
  /** What the server said, not longer ago than a few seconds; `undefined` if it does not say. */
  look(): Promise<ServerModel | undefined>;
  /** What it said last. */
  last(): ServerModel | undefined;
  /** Asks it now. */
  refresh(): Promise<ServerModel | undefined>;
  /** It answered: the model is loaded, with this context if the server was told one. */
  noteLoaded(contextTokens: number | undefined): void;
  /** The answer to a prompt showed that it reads only so many tokens, whatever it says. */
  learn(tokens: number): void;
  /** How many tokens one request may have, with its answer. */
  window(): number | undefined;
}

/** What was said holds for so long: others may load and unload models meanwhile. */
const freshMs = 10_000;

/** A server that can load a model with a larger context is asked for one of up to so many tokens without being told to. */
const usualContext = 16_384;

/** Links a model to what its server says about it. */
export function createServerLink(server: LocalServer, name: string, ask: AskServer, clock: Clock): ServerLink {
  let last: ServerModel | undefined;
  let lookedAt = -Infinity;
  let learnt = Infinity;
  let looking: Promise<ServerModel | undefined> | undefined;

  async function find(): Promise<ServerModel | undefined> {
    try {
      last = await server.find(ask, name);
      lookedAt = clock.elapsed();
      return last;
    } finally {
      looking = undefined;
    }
  }

  const refresh = (): Promise<ServerModel | undefined> => (looking ??= find());
  return {
    server,
    refresh,
    last: () => last,
    look: async () => (clock.elapsed() - lookedAt < freshMs ? last : refresh()),
    noteLoaded(contextTokens) {
      if (last === undefined) return;
      last = { ...last, isLoaded: true, ...(contextTokens !== undefined && { contextInUse: contextTokens }) };
    },
    learn(tokens) {
      learnt = Math.min(learnt, tokens);
    },
    window() {
      const { contextInUse, contextMax = Infinity } = last ?? {};
      const said = server.growsContext
        ? Math.max(contextInUse ?? 0, Math.min(contextMax, usualContext))
        : (contextInUse ?? contextMax);
      const tokens = last === undefined ? learnt : Math.min(said, learnt);
      return tokens === Infinity ? undefined : tokens;
    },
  };
}

const linkOf = Symbol("server");

/** A model whose server can be asked. Wrappers pass the link on, and stand for the same model. */
export interface LinkedModel extends Pick<Model, "modelId"> {
  [linkOf]?: ServerLink;
}

/** The link of a model to its server; of a wrapper, that of the model inside. */
export function serverLinkOf(model: LinkedModel): ServerLink | undefined {
  return model[linkOf];
}

/** Gives a model a link. */
export function setServerLink(model: LinkedModel, link: ServerLink | undefined): void {
  if (link !== undefined) model[linkOf] = link;
}
