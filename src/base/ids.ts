declare const brand: unique symbol;

/** A string that can't be mixed up with another kind of string. */
export type Brand<Name extends string> = string & { readonly [brand]: Name };

/** Identifiers as a port, so that tests are exact. Every call returns a new one. */
export interface Ids {
  /** A globally unique id, sortable by time of creation (UUID version 7). */
  unique(): string;
  /** An unguessable token of at least 128 bits, in lower-case hexadecimal. */
  secret(): string;
}
