/** The ACP version spoken. */
export const ACP_VERSION = 1;
/** The version of the `_pilothouse/` extension methods; raised when a shape changes incompatibly. */
export const PILOTHOUSE_VERSION = 1;
