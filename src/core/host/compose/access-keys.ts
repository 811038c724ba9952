import type { AccessKeys } from '../../acp/access/credential.ts';

const OWNER = 'PILOTHOUSE_API_KEY';
const OBSERVER = 'PILOTHOUSE_OBSERVER_KEY';

/** Takes the keys of this process's client out of the environment, so that no child and no log ever sees them. */
export function takeAccessKeys(environment: NodeJS.ProcessEnv): AccessKeys {
  const keys = {
    owner: keyOf(environment[OWNER]),
    observer: keyOf(environment[OBSERVER]),
  };
  delete environment[OWNER];
  delete environment[OBSERVER];
  return keys;
}

/** An empty variable is none: it must not let everybody in. */
function keyOf(value: string | undefined): string | null {
  return value === undefined || value.trim() === '' ? null : value;
}
