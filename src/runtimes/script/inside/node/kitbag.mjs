// The same as kitbag.cjs, for scripts that import.
import kitbag from "./kitbag.cjs";

export const { available, call, KitbagError, log, progress, secret, skillState, state, stream, sync } = kitbag;
// oxlint-disable-next-line import/no-default-export -- scripts write: import kitbag from "kitbag"
export default kitbag;
