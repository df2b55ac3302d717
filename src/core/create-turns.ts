/** Does work when everything before it is over. */
export type TakeTurn = <Result>(work: () => Result | Promise<Result>) => Promise<Result>;

/** Makes what has several do something one after the other that only one can do at a time; one that fails does not hold up the next. */
export function createTurns(): TakeTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
