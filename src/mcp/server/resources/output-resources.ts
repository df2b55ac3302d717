import { isKitbagError } from "../../../core/errors.ts";
import { mayCallTool } from "../../../core/scopes.ts";
import { toKitbagUri } from "./kitbag-uri.ts";
import type { ResourcePart } from "./resource-part.ts";

const mimeType = "text/plain";

/** What was read stays as it is: a handle is made of the bytes. */
const dayMs = 24 * 60 * 60 * 1000;

const wholeNumber = /^\d{1,15}$/u;

/** What a caller needs the scope of: a resource gives what this tool gives. */
const readOutput = { tool: { name: "read_output", annotations: { readOnly: true } }, owner: "global" };

/**
 * Outputs that were too large to hand over, page by page. The user whose call made one reads it with its handle, if they may call
 * `read_output`. There is no way to find a handle, so none is listed.
 */
export const outputResources: ResourcePart = {
  kind: "outputs",
  isFor: ({ caller }) => mayCallTool(caller.scopes, readOutput),
  templates: [
    {
      name: "output",
      title: "Large output",
      uriTemplate: "kitbag://outputs/{handle}{?offset}",
      description:
        "An output that was too large to hand over, from a byte on; _meta has the URI of the next page as kitbag/next",
      mimeType,
    },
  ],
  list: () => [],
  async read({ name: handle, query }, { session, caller: { id: user } }) {
    const given = query.get("offset") ?? "0";
    if (!wholeNumber.test(given)) return undefined;
    const page = await session.readOutput(handle, { offset: Number(given), user }).catch((cause: unknown) => {
      if (isKitbagError(cause, "output-missing")) return undefined;
      throw cause;
    });
    if (page === undefined) return undefined;
    const { text, offset, nextOffset, bytes } = page;
    const uri = toKitbagUri("outputs", handle, given === "0" ? {} : { offset: given });
    const next =
      nextOffset === undefined ? {} : { "kitbag/next": toKitbagUri("outputs", handle, { offset: String(nextOffset) }) };
    const _meta = { "kitbag/offset": offset, "kitbag/bytes": bytes, ...next };
    return { contents: [{ uri, mimeType, text, _meta }], ttlMs: dayMs };
  },
};
