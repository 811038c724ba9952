import { describe, expect, it } from 'vitest';
import {
  confirmationOf,
  doneWords,
  previewName,
} from '../../../../src/extension/rewind/plan-words.ts';
import type { RestorePreview } from '../../../../src/protocol/checkpoint-shapes.ts';

const nameOf = (path: string): string => path.slice(1);

type PlannedFile = RestorePreview['files'][number];

function planned(path: string, part: Partial<PlannedFile> = {}): PlannedFile {
  return { path, change: 'modified', changedSince: false, binary: false, ...part };
}

function preview(files: PlannedFile[], part: Partial<RestorePreview> = {}): RestorePreview {
  return { files, coverage: 'full', ...part };
}

describe('the question before going back', () => {
  it('says what happens to conversation and files', () => {
    const files = [
      planned('/a.txt'),
      planned('/new.txt', { change: 'deleted' }),
      planned('/gone.png', { change: 'added', binary: true }),
    ];
    const { question, detail } = confirmationOf('rollback', 'do it', preview(files), nameOf);
    expect(question).toBe('Roll back to before “do it”?');
    expect(detail).toContain('Conversation: this message and all that followed leave it.');
    expect(detail).toContain('• a.txt (put back)');
    expect(detail).toContain('• new.txt (deleted)');
    expect(detail).toContain('• gone.png (created again, binary)');
    expect(detail).not.toContain('changed since');
    expect(detail).not.toContain('Not everything');
  });

  it('names what was changed since, and says that not all is known', () => {
    const files = [planned('/mine.txt', { changedSince: true }), planned('/other.txt')];
    const partial = { coverage: 'partial', reason: 'the folder is too large' } as const;
    const { detail } = confirmationOf('files', '', preview(files, partial), nameOf);
    const foreign = detail.slice(detail.indexOf('This file was changed since'));
    expect(foreign).toContain('• mine.txt');
    expect(foreign).not.toContain('other.txt');
    expect(detail).toContain('Conversation: stays as it is.');
    expect(detail).toContain('(the folder is too large)');
  });

  it('says so where no file is changed', () => {
    const { detail } = confirmationOf('files', '', preview([]), nameOf);
    expect(detail).toContain('Files: no file is changed.');
  });

  it('names in the title of the preview what a diff can not show', () => {
    const files = [planned('/a.txt'), planned('/logo.png', { binary: true })];
    expect(previewName('Preview', files, nameOf)).toBe(
      'Preview, and without a preview (binary): logo.png',
    );
    expect(previewName('Preview', [planned('/a.txt')], nameOf)).toBe('Preview');
  });

  it('stays short for many files and long prompts', () => {
    const files = Array.from({ length: 100 }, (_, at) => planned(`/f${at}`));
    const { question, detail } = confirmationOf(
      'rollback',
      'x'.repeat(500),
      preview(files),
      nameOf,
    );
    expect(question.length).toBeLessThan(100);
    expect(detail.split('\n').length).toBeLessThan(20);
    expect(detail).toContain('and 92 more');
  });

  it('tells afterwards what was left alone and why', () => {
    const skipped = [{ path: '/mine.txt', reason: 'changed_since' }];
    expect(doneWords('rollback', ['/a'], skipped, nameOf)).toBe(
      'Rolled back. One file was put back. Left as it is: mine.txt (changed since).',
    );
    expect(doneWords('redo', [], [], nameOf)).toBe('Redone. No file was changed.');
  });
});
