import manifest from '../../package.json' with { type: 'json' };

/** The product's version, as its manifest states it. */
export const VERSION: string = manifest.version;
