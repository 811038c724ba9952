import { describe, expect, it } from 'vitest';
import {
  AddressRefused,
  checkLiteralHost,
  guardedLookup,
  isPublicAddress,
} from '../../../../../src/core/tools/web/address-guard.ts';
import { FetchError, parseHttpUrl } from '../../../../../src/core/tools/web/http-get.ts';

describe('an address', () => {
  it.each(['8.8.8.8', '93.184.215.14', '2606:4700::1111', '::ffff:8.8.8.8'])(
    '%s is public',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it.each([
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '240.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    'nonsense',
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each([
    'http://127.1/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://[::1]/',
    'http://[::ffff:7f00:1]/',
  ])('is refused however it is written: %s', (url) => {
    expect(() => checkLiteralHost(new URL(url))).toThrow(AddressRefused);
  });
});

describe('a guarded look-up', () => {
  const lookUp = (addresses: readonly string[], all: boolean): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const lookup = guardedLookup((_host, callback) =>
        callback(
          null,
          addresses.map((address) => ({ address, family: 4 })),
        ),
      );
      lookup('host.test', { all }, (error, found) =>
        error === null ? resolve(found) : reject(error),
      );
    });

  it('refuses a name as soon as one of its addresses is not public', async () => {
    await expect(lookUp(['8.8.8.8', '10.0.0.1'], true)).rejects.toThrow(/10\.0\.0\.1/);
    await expect(lookUp(['8.8.8.8', '10.0.0.1'], false)).rejects.toThrow(AddressRefused);
  });

  it('gives the addresses that it checked', async () => {
    expect(await lookUp(['8.8.8.8'], false)).toBe('8.8.8.8');
    expect(await lookUp(['8.8.8.8', '1.1.1.1'], true)).toHaveLength(2);
    await expect(lookUp([], false)).rejects.toThrow(/no address/);
  });
});

describe('a URL to fetch', () => {
  it.each([
    'ftp://a/',
    'file:///etc/passwd',
    'data:,x',
    'javascript:1',
    'nonsense',
    'http://u:p@a/',
  ])('%s is refused', (url) => {
    expect(() => parseHttpUrl(url)).toThrow(FetchError);
  });

  it('loses its fragment', () => {
    expect(parseHttpUrl('https://a.test/x#y').href).toBe('https://a.test/x');
  });
});
