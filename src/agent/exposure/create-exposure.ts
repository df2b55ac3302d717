import type { Model } from "../../models/model.ts";
import type { Session } from "../../workspace/sessions/session.ts";
import type { ExposureName } from "../agent.ts";
import { announceTools } from "./announce-tools.ts";
import { chooseExposure } from "./choose-exposure.ts";
import { dispatchTools } from "./dispatch-tools.ts";
import { exposeDirectly } from "./expose-directly.ts";
import type { Exposure } from "./exposure.ts";

/** What an exposure is made of. */
export interface ExposureParts {
  readonly session: Session;
  readonly model: Model;
  readonly instructions: string | undefined;
}

/** Makes the way in which the model of one run sees tools. */
export function createExposure(parts: ExposureParts & { readonly name: ExposureName | undefined }): Exposure {
  const { name = "auto" } = parts;
  switch (name === "auto" ? chooseExposure(parts) : name) {
    case "announce":
      return announceTools(parts);
    case "dispatch":
      return dispatchTools(parts);
    case "direct":
      return exposeDirectly(parts);
  }
}
