import type { ArgvFacts, CommandFact, PositionFact } from "../arguments/argv-facts.ts";
import { withoutUndefined } from "../without-undefined.ts";
import { joinFlags, type FoundFlag } from "./shell-flags.ts";
import type { Mention } from "./parse-shell.ts";
import { literalOf } from "./shell-words.ts";

/**
 * What was seen of the arguments so far. Places count from the first argument of the script, whatever was shifted away before;
 * `$1` is a mention, and which place it means depends on where it stands.
 */
export class ShellNotes {
  readonly positions = new Map<number, PositionFact>();
  /** The places that variables hold. */
  readonly places = new Map<string, number>();
  readonly flags: FoundFlag[] = [];
  readonly commands: CommandFact[] = [];
  rest: ArgvFacts["rest"];
  minimum: number | undefined;
  readsArgv = false;
  separator = false;
  flagsLast = false;
  /** How many arguments were shifted away. */
  offset: number;
  readonly #required = new Set<string>();
  /** Places that hold the value of a flag. */
  readonly #taken = new Set<number>();
  /** How many of the next `shift`s step over a flag, and not over a place. */
  #skippedShifts = 0;

  constructor(offset: number) {
    this.offset = offset;
  }

  toFacts(): ArgvFacts {
    const flags = joinFlags(this.flags).map(({ fact, variable }) => {
      const isNeeded =
        variable !== undefined && this.#required.has(variable) && fact.takesValue && fact.default === undefined;
      return isNeeded ? { ...fact, required: true as const } : fact;
    });
    return withoutUndefined<ArgvFacts>({
      readsArgv: this.readsArgv,
      positions: this.positions,
      rest: this.rest,
      minimum: this.minimum,
      flags,
      commands: this.commands,
      flagsLast: this.flagsLast ? true : undefined,
      separator: this.separator ? true : undefined,
    });
  }

  /** The place that a mention means where it stands. */
  placeOf({ place }: Mention): number {
    return this.offset + place - 1;
  }

  shift(count: string): void {
    this.readsArgv = true;
    if (this.#skippedShifts > 0) {
      this.#skippedShifts -= 1;
      return;
    }
    // `shift $((OPTIND-1))` drops the flags; the places of what is left count from the start again.
    if (count.includes("OPTIND")) this.offset = 0;
    else this.offset += /^\d+$/u.test(count) ? Number(count) : 1;
  }

  note(mention: Mention, name?: string): void {
    this.readsArgv = true;
    const { operator, text } = mention;
    const index = this.placeOf(mention);
    if (this.#taken.has(index)) return;
    const before = this.positions.get(index) ?? {};
    const fallback = operator === "-" ? literalOf(text ?? "") : undefined;
    const required = operator === "?" ? true : operator === undefined && before.required !== false;
    this.positions.set(
      index,
      withoutUndefined<PositionFact>({
        ...before,
        name: before.name ?? name?.toLowerCase(),
        default: before.default ?? fallback,
        required: before.required === true && operator !== "?" ? true : required,
      }),
    );
  }

  noteRest(from: number, name?: string): void {
    this.readsArgv = true;
    this.rest ??= withoutUndefined<NonNullable<ArgvFacts["rest"]>>({
      from: this.offset + from,
      name: name?.toLowerCase(),
    });
  }

  /** A variable must not be empty. */
  demand(name: string): void {
    this.#required.add(name);
    const place = this.places.get(name);
    const before = place === undefined ? undefined : this.positions.get(place);
    if (place !== undefined && before?.default === undefined) this.positions.set(place, { ...before, required: true });
  }

  /** The argument after a mention is the value of a flag, and no place of its own. */
  takeValueAfter(mention: Mention): void {
    this.#taken.add(this.placeOf(mention) + 1);
  }

  skipShifts(count: number): void {
    this.#skippedShifts += count;
  }

  addCommand(names: readonly string[], facts: ArgvFacts): void {
    if (this.commands.some((command) => command.names[0] === names[0])) return;
    this.commands.push({ names, facts });
  }

  /** Adds what was seen in a function that got all arguments. */
  take(notes: ShellNotes): void {
    for (const [place, fact] of notes.positions) this.positions.set(place, { ...fact, ...this.positions.get(place) });
    for (const [name, place] of notes.places) this.places.set(name, place);
    for (const name of notes.#required) this.#required.add(name);
    this.flags.push(...notes.flags);
    this.commands.push(...notes.commands);
    this.rest ??= notes.rest;
    this.minimum ??= notes.minimum;
    this.readsArgv ||= notes.readsArgv;
    this.separator ||= notes.separator;
    this.flagsLast ||= notes.flagsLast;
  }
}
