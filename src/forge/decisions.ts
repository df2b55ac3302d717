import { bringAgreed, toOwned, type AuthorOptions } from "./edits.ts";
import type { ForgeParts } from "./forge-parts.ts";
import type { Forge, ForgeAnswer, SkillAnswer } from "./forge-interface.ts";
import type { SkillMaker } from "./skills/create-skill.ts";
import { isSkillDraft } from "./tool-draft.ts";
import type { WaitingDraft } from "./waiting-drafts.ts";

type DecisionMethods = Pick<Forge, "listWaiting" | "approve" | "deny">;

/** Makes what a person decides with about drafts that want more than the policy grants. */
export function createDecisions(parts: ForgeParts, skills: SkillMaker): DecisionMethods {
  const { waiting } = parts;

  async function bring(
    { draft, waiting: facts }: WaitingDraft,
    options: AuthorOptions,
  ): Promise<ForgeAnswer | SkillAnswer> {
    return isSkillDraft(draft)
      ? skills.make(draft, {
          ...options,
          agreed: facts,
          ...(facts.from !== undefined && { replace: true, expectedVersion: facts.from }),
        })
      : bringAgreed(parts, { draft, facts }, options);
  }

  return {
    listWaiting: waiting.list,
    async approve(id, options = {}) {
      const found = waiting.get(id);
      const { author = options.author, authorScopes = "all", owner } = found.waiting;
      const named = { ...(author !== undefined && { author }), ...toOwned(owner) };
      const answer = await bring(found, { ...options, authorScopes, ...named });
      // What could not be made live may be approved again, once its cause is gone; or it is denied.
      if (answer.status === "live") waiting.remove(id);
      return answer;
    },
    async deny(id) {
      const { waiting: facts } = waiting.get(id);
      waiting.remove(id);
      return facts;
    },
  };
}
