import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { AttachedClients } from '../../../../../src/core/host/clients/attached-clients.ts';
import { attachedFiles } from '../../../../../src/core/host/clients/attached-files.ts';
import type { SessionId } from '../../../../../src/core/session/words.ts';
import { MemoryClient, vanished } from '../../../../support/clients/memory-client.ts';

const HERE = fileURLToPath(import.meta.url);
const { signal } = new AbortController();

function rig(...clients: MemoryClient[]) {
  const attached = new AttachedClients('s' as SessionId, () => 0);
  for (const client of clients) attached.attach(client);
  return { attached, files: attachedFiles('s' as SessionId, attached) };
}

describe('the documents of a session with several clients', () => {
  it('are those of the acting owner', async () => {
    const [a, b] = [new MemoryClient('a'), new MemoryClient('b')];
    a.text = 'of a';
    b.text = 'of b';
    const { attached, files } = rig(a, b);
    expect(await files.readText(HERE, signal)).toBe('of a');
    attached.acted(b);
    expect(await files.readText(HERE, signal)).toBe('of b');
    expect(await files.writeText(HERE, 'x', signal)).toBe(true);
    expect([a.asked, b.asked]).toEqual([[`read ${HERE}`], [`read ${HERE}`, `write ${HERE}: x`]]);
  });

  it('are asked of the next owner when one vanishes while it is asked, and then of the disk', async () => {
    const [a, b] = [new MemoryClient('a'), new MemoryClient('b')];
    const { attached, files } = rig(a, b);
    b.text = 'of b';
    // It is still attached for a moment, as a connection whose end is being dealt with.
    a.text = () => Promise.reject(vanished());
    expect(await files.readText(HERE, signal)).toBe('of b');
    expect(await files.writeText(HERE, 'x', signal)).toBe(true);
    attached.detach(b);
    expect(await files.readText(HERE, signal)).toBeNull();
    expect(await files.writeText(HERE, 'x', signal)).toBe(false);
  });

  it('are asked of an owner that comes while the one before it vanishes', async () => {
    const [a, b] = [new MemoryClient('a'), new MemoryClient('b')];
    const { attached, files } = rig(a);
    b.text = 'of b';
    a.text = async () => {
      attached.attach(b);
      attached.detach(a);
      throw vanished();
    };
    expect(await files.readText(HERE, signal)).toBe('of b');
  });

  it('are not asked of observers, of clients without any, and where there is no such file', async () => {
    const [reader, plain, able] = [
      new MemoryClient('reader', { ceiling: 'observer' }),
      new MemoryClient('plain'),
      new MemoryClient('able'),
    ];
    reader.text = 'of the reader';
    plain.canReadFiles = false;
    able.text = 'of the able one';
    const { attached, files } = rig(reader, plain, able);
    expect(await files.readText(HERE, signal)).toBe('of the able one');
    expect(await files.readText(`${HERE}.none`, signal)).toBeNull();
    attached.detach(able);
    expect(await files.readText(HERE, signal)).toBeNull();
    expect([reader.asked, plain.asked, able.asked]).toEqual([[], [], [`read ${HERE}`]]);
  });

  it('fail where the owner fails in another way: the next one is not asked behind its back', async () => {
    const [a, b] = [new MemoryClient('a'), new MemoryClient('b')];
    const { files } = rig(a, b);
    a.text = () => Promise.reject(new Error('The editor did not answer in time'));
    await expect(files.readText(HERE, signal)).rejects.toThrow('in time');
    expect(b.asked).toEqual([]);
  });
});
