import type { LiveTails } from "../combine-stores.ts";
import { destroy, openRedis, type OpenRedis, type RedisLink, type RedisLinkOptions } from "./redis-link.ts";

/** What {@link redisTails} needs. */
export interface RedisTailsOptions extends RedisLinkOptions {
  /** For what is published. */
  readonly link: RedisLink;
  readonly channel: string;
}

/** How often the connection on which is listened is looked after. */
const lookEveryMs = 1000;

/** Makes live tails over publish and subscribe. They connect with the first who subscribes. */
export function redisTails(options: RedisTailsOptions): LiveTails & { close(): Promise<void> } {
  const { link, channel } = options;
  const listeners = new Set<(stream?: string) => void>();
  let open: OpenRedis | undefined;
  let timer: NodeJS.Timeout | undefined;
  let busy: Promise<void> | undefined;

  function lose(): void {
    const lost = open;
    open = undefined;
    if (lost) destroy(lost.client);
  }

  function tell(stream?: string): void {
    for (const listener of listeners) listener(stream);
  }

  async function tick(): Promise<void> {
    try {
      if (open) return void (await open.watch.expect(open.client.ping()));
      const fresh = await openRedis(options, lose);
      open = fresh;
      await fresh.watch.expect(fresh.client.subscribe(channel, tell));
      // What was published before was not heard.
      tell();
    } catch {
      lose();
    }
  }

  function look(): void {
    busy ??= tick().finally(() => (busy = undefined));
  }

  return {
    publish(stream) {
      // Whoever follows looks by himself now and then, so nothing is lost with it.
      link.send(["PUBLISH", channel, stream], false).catch(() => undefined);
    },
    subscribe(listener) {
      listeners.add(listener);
      if (!timer) {
        timer = setInterval(look, lookEveryMs);
        look();
      }
      return () => void listeners.delete(listener);
    },
    async close() {
      clearInterval(timer);
      await busy;
      lose();
    },
  };
}
