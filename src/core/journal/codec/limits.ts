/** The largest event that is stored, in bytes of canonical JSON. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;
