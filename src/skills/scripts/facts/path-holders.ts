/** What a pattern has found in a script. */
export type Groups = Readonly<Record<string, string | undefined>> | undefined;

/** A variable (`alias`) that is given a path, and what the path is made of: `path = args.file`, `for path in folder.glob("*")`. */
export interface Alias {
  readonly groups: Groups;
  /** It is something in the folder that it is made of. */
  readonly isInside: boolean;
}

/** What a variable of a script stands for. */
export interface Holder {
  /** A parameter, by its name or its place. */
  readonly key: string;
  /** It is something in the folder that the parameter names. */
  readonly isInside: boolean;
}

/** How many steps it may take from a variable to the argument. */
const mostSteps = 4;

/** Finds what each variable stands for, by its name. */
export function findHolders(aliases: readonly Alias[]): ReadonlyMap<string, Holder> {
  const holders = new Map<string, Holder>();
  // A variable that comes from nowhere may be the parameter of a function, which often has the name of the argument.
  for (const mayBeNamed of [false, true]) {
    for (let step = 0; step < mostSteps; step += 1) {
      for (const alias of aliases) {
        const name = fold(alias.groups?.["alias"] ?? "");
        const holder = holders.has(name) ? undefined : holderOf(alias, holders, mayBeNamed);
        if (holder !== undefined && holder.key !== name) holders.set(name, holder);
      }
    }
  }
  return holders;
}

function holderOf(
  { groups, isInside }: Alias,
  holders: ReadonlyMap<string, Holder>,
  mayBeNamed: boolean,
): Holder | undefined {
  const key = keyOf(groups);
  if (key === undefined) return undefined;
  const isBeside = groups?.["beside"] !== undefined;
  const isArgument = isOfArguments(groups) || key.startsWith("#");
  const from = isArgument ? undefined : holders.get(key);
  // What is made beside a file is another file; what is made beside something in a folder is in the folder.
  if (from !== undefined)
    return isBeside && !from.isInside ? undefined : { ...from, isInside: isInside || from.isInside };
  return (isArgument || mayBeNamed) && !isBeside ? { key, isInside } : undefined;
}

/** Whether it is said to be a value of the arguments: `args.file`, `sys.argv[1]`. */
export function isOfArguments(groups: Groups): boolean {
  return (groups?.["store"] ?? groups?.["list"]) !== undefined;
}

/** How many entries of the list come before the first argument. */
const skipped: Readonly<Record<string, number>> = { "sys.argv": 1, "process.argv": 2, $argv: 1, argv: 1, arg: 1 };

/** The name of a value, or the place of an argument: `#0`. */
export function keyOf(groups: Groups): string | undefined {
  const { list, number = "0", name } = groups ?? {};
  if (list === "@ARGV") return "#0";
  if (list !== undefined) return `#${Number(number) - (skipped[list] ?? 0)}`;
  return name === undefined ? undefined : /^\d$/u.test(name) ? `#${Number(name) - 1}` : fold(name);
}

/** A name without what differs between ways of writing it: `out_dir`, `outDir`. */
export function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/gu, "");
}
