import type { Model, ModelAnswer, ModelCall, ModelStream } from "../model.ts";
import { serverLinkOf, setServerLink } from "../servers/server-link.ts";
import { fromPartAnswer, toPartAnswer, type PartAnswer } from "./part-source.ts";
import { keepsTime, timingOf } from "./timing.ts";

/** What a wrapper does instead of the model inside. */
export interface ModelMethods {
  doGenerate(call: ModelCall): PromiseLike<ModelAnswer>;
  doStream(call: ModelCall): PromiseLike<ModelStream>;
}

/** The same, for a wrapper that looks at the parts of an answer. */
export interface PartMethods {
  doGenerate(call: ModelCall): PromiseLike<ModelAnswer>;
  ask(call: ModelCall): Promise<PartAnswer>;
}

/** What a model is, without what it does. */
type Described = Pick<Model, "modelId" | "provider" | "supportedUrls">;

/** A model with the identity of `model` that answers with `methods`. */
export function wrapModel(model: Described, methods: ModelMethods): Model {
  const wrapped: Model = {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    // A getter, because the model may need a request to find this out.
    get supportedUrls() {
      return model.supportedUrls;
    },
    ...methods,
  };
  setServerLink(wrapped, serverLinkOf(model));
  const timing = timingOf(model);
  return timing === undefined ? wrapped : keepsTime(wrapped, timing);
}

const own = Symbol("parts");

/** A model that was made here. If other code copies it, `of` is not the copy, and the copy may behave differently. */
interface OwnModel extends Model {
  [own]?: { readonly of: Model; readonly ask: PartMethods["ask"] };
}

/** The same for a wrapper that looks at the parts of an answer. */
export function wrapParts(model: Described, { doGenerate, ask }: PartMethods): Model {
  const wrapped: OwnModel = wrapModel(model, {
    doGenerate,
    doStream: async (call) => fromPartAnswer(await ask(call)),
  });
  wrapped[own] = { of: wrapped, ask };
  return wrapped;
}

/**
 * Asks a model for the parts of its answer. Wrappers stand around each other, and the loop around them: each asks the one inside
 * in this way, so that no part goes through a stream however many there are.
 */
export function askForParts(model: Model, call: ModelCall): Promise<PartAnswer> {
  const made = (model as OwnModel)[own];
  return made?.of === model ? made.ask(call) : askStranger(model, call);
}

async function askStranger(model: Model, call: ModelCall): Promise<PartAnswer> {
  return toPartAnswer(await model.doStream(call));
}
