/** The id of `@pilothouse` in the manifest. */
export const PARTICIPANT = 'pilothouse.participant';
