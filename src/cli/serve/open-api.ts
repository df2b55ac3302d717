import { isKitbagError } from "../../core/errors.ts";
import type { Scopes } from "../../core/scopes.ts";
import { createScopesOf, localCaller } from "../../gate/access/token-check.ts";
import type { UserSessions } from "../../gate/sessions/user-sessions.ts";
import type { ApiRoute } from "../../http/gate-route.ts";
import type { HttpParts } from "../../http/http-options.ts";
import { chooseModel } from "../agent/agent-options.ts";
import type { Invocation } from "../cli-command.ts";
import type { Workshop } from "../forge/open-workshop.ts";
import { toPrintableLine } from "../printable.ts";
import type { LiveTokens } from "./tokens.ts";

/** What the HTTP API of a project needs beside it. */
interface ApiParts {
  readonly workshop: Workshop;
  readonly users: UserSessions | undefined;
  readonly tokens: LiveTokens | undefined;
  readonly listeners: ApiListeners;
}

/** What hears of the API. */
export interface ApiListeners {
  readonly onError: (error: unknown) => void;
  readonly onRunEvent: NonNullable<HttpParts["onRunEvent"]>;
}

/**
 * The API with one agent, `default`: the model that the person names, or the configuration, else the offline one. A model that cannot be
 * asked leaves the service without the agent, and a line says why.
 */
export async function openApi(
  invocation: Invocation,
  { workshop: { workspace, options, model, prices }, users, tokens, listeners: { onError, onRunEvent } }: ApiParts,
): Promise<ApiRoute> {
  const [{ createApiRoute }, { createProjectAgent }] = await Promise.all([
    import("../../http/gate-route.ts"),
    import("../agent/open-agent.ts"),
  ]);
  const scopesOf = (user: string): Scopes | undefined =>
    user === localCaller.id ? "all" : createScopesOf(tokens?.current ?? [])(user);
  const made = await createProjectAgent(invocation, {
    model: chooseModel(invocation, model),
    workspace,
    options,
    scopesOf,
    ...(prices !== undefined && { prices }),
  }).catch((cause: unknown) => {
    if (!isKitbagError(cause)) throw cause;
    invocation.terminal.note(`${toPrintableLine(`No agent over HTTP: ${cause.message}`)}\n`);
  });
  const { store } = options;
  return createApiRoute(
    {
      workspace,
      ...(made !== undefined && { agents: { default: made.agent } }),
      scopesOf,
      ...(store !== undefined && { store }),
      ...(users !== undefined && { users }),
      onRunEvent,
      ...(made?.audit !== undefined && { audit: made.audit }),
    },
    { onError },
  );
}
