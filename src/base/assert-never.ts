/** Makes a switch over a closed union exhaustive at compile time; throws if an unknown value arrives at run time. */
export function assertNever(value: never): never {
  throw new TypeError(`Unexpected value: ${JSON.stringify(value)}`);
}
