import type { ExposureName } from "../agent-options.ts";
import { announceTools } from "./announce-tools.ts";
import { chooseExposure } from "./choose-exposure.ts";
import { dispatchTools } from "./dispatch-tools.ts";
import { exposeDirectly } from "./expose-directly.ts";
import type { Exposure, ExposureParts } from "./exposure.ts";

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
