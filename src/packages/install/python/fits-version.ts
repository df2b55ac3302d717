/** Tells whether a version of Python, such as `3.11.2`, fits a list such as `>=3.9,<4`. A part that cannot be read fits. */
export function fitsVersion(version: string, specifier: string): boolean {
  return specifier.split(",").every((clause) => {
    const [, operator = "", wanted = "", star] =
      /^\s*(~=|===?|!=|<=|>=|<|>)\s*(\d+(?:\.\d+)*)(\.\*)?\s*$/u.exec(clause) ?? [];
    return wanted === "" || fits(toNumbers(version), toNumbers(wanted), star === undefined ? operator : `${operator}*`);
  });
}

function toNumbers(version: string): readonly number[] {
  return version.split(".").map(Number);
}

function fits(version: readonly number[], wanted: readonly number[], operator: string): boolean {
  const order = compare(version, wanted);
  switch (operator) {
    case ">=":
      return order >= 0;
    case ">":
      return order > 0;
    case "<=":
      return order <= 0;
    case "<":
      return order < 0;
    case "!=":
      return order !== 0;
    case "~=":
      return order >= 0 && hasPrefix(version, wanted.slice(0, -1));
    case "==*":
      return hasPrefix(version, wanted);
    case "!=*":
      return !hasPrefix(version, wanted);
    default:
      return order === 0;
  }
}

function compare(left: readonly number[], right: readonly number[]): number {
  const length = Math.max(left.length, right.length);
  for (let place = 0; place < length; place++) {
    const difference = (left[place] ?? 0) - (right[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function hasPrefix(version: readonly number[], prefix: readonly number[]): boolean {
  return prefix.every((part, place) => version[place] === part);
}
