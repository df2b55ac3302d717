/** Values that are sent together, in one text: a list in JSON. */
export interface Batch {
  /** Adds a value, as JSON. */
  add(json: string): void;
  /** Sends what was added since the last time, if anything was. */
  send(): void;
}

/** More at once saves little; whoever takes these can begin, and need not hold much twice. */
const manyCharacters = 512;

/** Makes an empty batch. One that has become long is sent before more is added. */
export function createBatch(send: (text: string) => void): Batch {
  let parts: string[] = [];
  let length = 0;

  const batch: Batch = {
    add(json) {
      if (length + json.length > manyCharacters) batch.send();
      parts.push(json);
      length += json.length;
    },
    send() {
      if (parts.length === 0) return;
      const text = `[${parts.join(",")}]`;
      parts = [];
      length = 0;
      send(text);
    },
  };
  return batch;
}
