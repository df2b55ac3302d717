/** Places for calls that run at once: so many in total, so many for each tool. Who finds none waits in line. */
export interface Slots {
  /** Takes a place if one is free. */
  take(request: SlotRequest): boolean;
  /** Waits for a place; give the answer to {@link Slots.leave} to stop waiting. */
  wait(request: SlotRequest): { readonly promise: Promise<void>; leave(): boolean };
  /** Gives the place back. */
  free(request: SlotRequest): void;
}

/** What a place is wanted for. */
export interface SlotRequest {
  /** Tools are counted by this. */
  readonly key: string;
  readonly maxForKey: number;
  /** Whether it counts in the total. */
  readonly counted: boolean;
}

/** Makes the places of a workspace. */
export function createSlots(maxConcurrent: number): Slots {
  const running = new Map<string, number>();
  const waiting: Waiter[] = [];
  let total = 0;

  const isFree = ({ key, maxForKey, counted }: SlotRequest): boolean =>
    (!counted || total < maxConcurrent) && (running.get(key) ?? 0) < maxForKey;

  function occupy({ key, maxForKey, counted }: SlotRequest): void {
    if (counted) total += 1;
    if (maxForKey !== Number.POSITIVE_INFINITY) running.set(key, (running.get(key) ?? 0) + 1);
  }

  /** Lets in whoever can go now; one tool that is full does not hold up the others behind it. */
  function letIn(): void {
    for (let index = 0; index < waiting.length;) {
      const waiter = waiting[index];
      if (waiter === undefined || !isFree(waiter.request)) {
        index += 1;
        continue;
      }
      waiting.splice(index, 1);
      occupy(waiter.request);
      waiter.enter();
    }
  }

  return {
    take(request) {
      // Who comes later does not overtake those that wait for the same thing.
      if (!isFree(request) || waiting.some((waiter) => waiter.request.key === request.key)) return false;
      occupy(request);
      return true;
    },
    wait(request) {
      let waiter: Waiter | undefined;
      const promise = new Promise<void>((enter) => {
        waiter = { request, enter };
        waiting.push(waiter);
      });
      const leave = (): boolean => {
        const index = waiter === undefined ? -1 : waiting.indexOf(waiter);
        if (index >= 0) waiting.splice(index, 1);
        return index >= 0;
      };
      return { promise, leave };
    },
    free({ key, maxForKey, counted }) {
      if (counted) total -= 1;
      if (maxForKey !== Number.POSITIVE_INFINITY) {
        const left = (running.get(key) ?? 1) - 1;
        if (left > 0) running.set(key, left);
        else running.delete(key);
      }
      if (waiting.length > 0) letIn();
    },
  };
}

interface Waiter {
  readonly request: SlotRequest;
  readonly enter: () => void;
}
