import type { JsonValue } from "../../../core/json.ts";
import type { CodeNode } from "../code/node.ts";

/** A value in Python source, as far as it can be known. */
export interface PythonValue {
  /** Set when it is known; null is a value too. */
  readonly value?: JsonValue;
  /** The name of a function, a class or a type. */
  readonly name?: string;
  /** What the function makes of a text. */
  readonly returns?: "int" | "float" | "bool";
  readonly minimum?: number;
  readonly maximum?: number;
  /** The values of an enumeration. */
  readonly enum?: readonly JsonValue[];
  /** The arguments of a type of click: `Choice(["a", "b"])`. */
  readonly values?: readonly PythonValue[];
  readonly keywords?: Readonly<Record<string, PythonValue>>;
  readonly unknown?: true;
  readonly ellipsis?: true;
}

/** A call of `add_argument`. */
export interface PythonArgument {
  /** Null when they are put together at run time. */
  readonly flags: readonly string[] | null;
  readonly keywords: Readonly<Record<string, PythonValue>>;
  readonly exclusive: { readonly group: number; readonly required: boolean } | null;
}

/** A parser of argparse, or of optparse. */
export interface PythonParser {
  /** It is of optparse. */
  readonly old: boolean;
  readonly description: string | null;
  readonly epilog: string | null;
  readonly help: string | null;
  readonly used: string | null;
  /** The variable that gets what `parse_known_args` does not know. */
  readonly extra: string | null;
  /** Functions that get the parser and could not be followed: what they add to it is missing. */
  readonly strangers: readonly string[];
  readonly arguments: readonly PythonArgument[];
  readonly commands?: {
    readonly required: boolean;
    readonly parsers: readonly {
      readonly name: string;
      readonly aliases: readonly string[];
      readonly parser: PythonParser;
    }[];
  };
}

/** A command of click. */
export interface ClickCommand {
  readonly function: string;
  readonly kind: "command" | "group";
  readonly name: string | null;
  readonly parent: string | null;
  readonly help: string | null;
  readonly options: readonly {
    readonly kind: "option" | "argument";
    readonly names: readonly string[] | null;
    readonly keywords: Readonly<Record<string, PythonValue>>;
  }[];
}

/** A parameter of a function. */
export interface PythonParameter {
  readonly name: string;
  /** `places` is `*args`, `keyword` can only be given by name. */
  readonly kind: "place" | "places" | "keyword";
  readonly required: boolean;
  readonly type?: "int" | "float" | "bool" | "str" | "path" | "dict";
  readonly many?: boolean;
  readonly optional?: boolean;
  readonly choices?: readonly JsonValue[];
  readonly default?: PythonValue;
  readonly help?: string;
  /** `typer.Option(…)` or `typer.Argument(…)`. */
  readonly declared?: {
    readonly kind: "Option" | "Argument" | "Parameter";
    readonly values: readonly PythonValue[];
    readonly keywords: Readonly<Record<string, PythonValue>>;
  };
}

/** A function. */
export interface PythonFunction {
  readonly name: string;
  readonly doc: string | null;
  readonly parameters: readonly PythonParameter[];
  /** It takes any keywords. */
  readonly keywords: boolean;
  readonly asynchronous: boolean;
}

/** What typer is told. */
export interface TyperFacts {
  readonly apps: Readonly<
    Record<string, { readonly parent: string | null; readonly name: string | null; readonly help: string | null }>
  >;
  readonly commands: readonly {
    readonly app: string | null;
    readonly callback?: boolean;
    readonly name: string | null;
    readonly help: string | null;
    readonly function: PythonFunction;
  }[];
}

/** What the helper finds in a Python file. */
export interface PythonFacts {
  readonly doc: string | null;
  /** It has a block for when it is run by itself. */
  readonly guard: boolean;
  /** That block only shows how the module is used. */
  readonly demo: boolean;
  /** It does something when it is loaded. */
  readonly acts: boolean;
  readonly tests: number;
  readonly imports: readonly string[];
  readonly main: PythonFunction | null;
  readonly mainCalled: boolean;
  readonly parser?: PythonParser | null;
  readonly click?: readonly ClickCommand[];
  readonly typer?: TyperFacts;
  readonly fire?: readonly { readonly name: string | null; readonly function: PythonFunction }[];
  /** The whole file, where nothing declares its arguments; null if it is too large. */
  readonly code?: readonly CodeNode[] | null;
  /** The file was too intricate to be followed to its end. */
  readonly cut?: true;
}

/** The modules of the same skill that a script imports: their text by the name in the import. */
export type PythonModules = Readonly<Record<string, string>>;

/** What reading a Python file came to. */
export type PythonReading =
  | { readonly ok: true; readonly facts: PythonFacts }
  | {
      readonly ok: false;
      /** `missing`: there is no Python to read with. */
      readonly reason: "missing" | "syntax" | "deep" | "failed" | "stopped" | "too-large";
      readonly message: string;
      readonly line?: number;
    };
