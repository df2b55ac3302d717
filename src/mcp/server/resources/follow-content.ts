import type { RegisteredTool } from "../../../workspace/registry/registered-tool.ts";
import { isNeeded, listPromptNames } from "../prompts/workflow-prompts.ts";
import type { ServedClient } from "../client.ts";
import { toServedName, toSkillUri } from "../skills/skill-uri.ts";
import { toKitbagUri } from "./kitbag-uri.ts";

/** Who hears of changes of what a client can read. */
export interface ContentListener {
  /** The list of resources is another one. */
  onResources(): void;
  /** A resource that was there before may read differently. */
  onUpdated(uri: string): void;
  /** The list of prompts is another one. */
  onPrompts(): void;
}

/**
 * Tells of changes of what a client can read, until the function that it answers with is called. What changes at once is told at
 * once, each thing one time. Runs are followed elsewhere, because only a store knows of them.
 */
export function followContent(client: ServedClient, listener: ContentListener): () => void {
  const { session, workspace } = client;
  const updated = new Set<string>();
  let isWaiting = false;
  let mayTouchPrompts = false;
  let prompts = listPromptNames(client).join();

  function tell(): void {
    isWaiting = false;
    const uris = [...updated];
    updated.clear();
    listener.onResources();
    for (const uri of uris) listener.onUpdated(uri);
    if (mayTouchPrompts) tellPrompts();
  }

  function tellPrompts(): void {
    mayTouchPrompts = false;
    const now = listPromptNames(client).join();
    if (now === prompts) return;
    prompts = now;
    listener.onPrompts();
  }

  function note(uris: Iterable<string>, touchesPrompts: boolean): void {
    mayTouchPrompts ||= touchesPrompts;
    updated.add(toKitbagUri("guide"));
    for (const uri of uris) updated.add(uri);
    if (isWaiting) return;
    isWaiting = true;
    queueMicrotask(tell);
  }

  const ends = [
    session.onChange((change) => {
      const tools = [...change.added, ...change.removed, ...change.replaced];
      note(
        tools.flatMap(toToolUris),
        tools.some(({ wireName }) => isNeeded(wireName)),
      );
    }),
    workspace.onSkillsChange((names) =>
      note(
        names.flatMap((name) => toSkillUris(name, client)),
        true,
      ),
    ),
  ];
  return () => {
    for (const end of ends) end();
  };
}

function toToolUris({ address, source, owner }: RegisteredTool): string[] {
  return [toKitbagUri("tools", address), ...(source === "skill" ? [toKitbagUri("skills", owner)] : [])];
}

function toSkillUris(name: string, { session }: ServedClient): string[] {
  const paths = new Set(["SKILL.md", ...(session.getSkill(name)?.folder?.files ?? []).map((file) => file.path)]);
  return [toKitbagUri("skills", name), ...[...paths].map((path) => toSkillUri(toServedName(name), path))];
}
