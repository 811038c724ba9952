import { describe, expect, test } from 'vitest';
import { dataFolder } from '../../../../src/core/journal/lock/data-folder.ts';

const on = (platform: NodeJS.Platform, env: Record<string, string>): string =>
  dataFolder({ platform, env, home: '/home/me' });

describe('the data folder', () => {
  test('is PILOTHOUSE_HOME on every system, with the home folder for ~', () => {
    for (const platform of ['linux', 'darwin', 'win32'] as const) {
      expect(on(platform, { PILOTHOUSE_HOME: '/data/p' })).toBe('/data/p');
      expect(on(platform, { PILOTHOUSE_HOME: '~/p' })).toBe('/home/me/p');
      expect(on(platform, { PILOTHOUSE_HOME: '~' })).toBe('/home/me');
    }
  });

  test('is never relative: PILOTHOUSE_HOME must be absolute', () => {
    for (const path of ['p', './p', '~you/p']) {
      expect(() => on('linux', { PILOTHOUSE_HOME: path })).toThrow(/absolute path/);
    }
  });

  test('else is where the system keeps application data', () => {
    expect(on('linux', {})).toBe('/home/me/.local/share/pilothouse');
    expect(on('linux', { PILOTHOUSE_HOME: '', XDG_DATA_HOME: '/x' })).toBe('/x/pilothouse');
    expect(on('linux', { XDG_DATA_HOME: 'relative' })).toBe('/home/me/.local/share/pilothouse');
    expect(on('darwin', {})).toBe('/home/me/Library/Application Support/Pilothouse');
    expect(on('win32', { LOCALAPPDATA: '/c/local' })).toBe('/c/local/Pilothouse');
    expect(on('win32', {})).toBe('/home/me/AppData/Local/Pilothouse');
  });
});
