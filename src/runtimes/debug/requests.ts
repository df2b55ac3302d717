/** Requests that wait for their answers. */
export interface Requests<Answer> {
  /** Sends one, with a number of its own; rejects if it is refused, or there can be no answer any more. */
  ask(send: (id: number) => void): Promise<Answer>;
  answer(id: number | undefined, answer: Answer): void;
  refuse(id: number | undefined, cause: Error): void;
  /** There will be no more answers. */
  end(): void;
}

/** Keeps requests until they are answered. `toCause` says why one cannot be answered any more. */
export function createRequests<Answer>(toCause: () => Error): Requests<Answer> {
  const waiting = new Map<number, PromiseWithResolvers<Answer>>();
  let last = 0;
  let hasEnded = false;

  function take(id: number | undefined): PromiseWithResolvers<Answer> | undefined {
    const found = id === undefined ? undefined : waiting.get(id);
    if (id !== undefined) waiting.delete(id);
    return found;
  }

  return {
    ask(send) {
      if (hasEnded) return Promise.reject(toCause());
      const id = ++last;
      const request = Promise.withResolvers<Answer>();
      waiting.set(id, request);
      send(id);
      return request.promise;
    },
    answer: (id, answer) => take(id)?.resolve(answer),
    refuse: (id, cause) => take(id)?.reject(cause),
    end() {
      hasEnded = true;
      for (const { reject } of waiting.values()) reject(toCause());
      waiting.clear();
    },
  };
}
