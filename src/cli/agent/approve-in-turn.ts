import type { Approve } from "../../workspace/call/approval.ts";

/** Has several calls that need an approval at the same time ask one after the other: there is one person, and one keyboard. */
export function approveInTurn(approve: Approve): Approve {
  let last: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answer = last.then(() => approve(request));
    last = answer.catch(() => undefined);
    return answer;
  };
}
