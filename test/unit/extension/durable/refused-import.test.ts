import { describe, expect, it } from 'vitest';
import { codeOf, messageOf } from '../../../../src/base/errors.ts';
import { AgentRequestError } from '../../../../src/extension/core/connection.ts';
import { refusedImport } from '../../../../src/extension/durable/refused-import.ts';
import { controlError } from '../../../../src/extension/sessions/control/refused.ts';

function refused(details: unknown): unknown {
  return controlError(new AgentRequestError('agent.refused', 'Record 7: hash.', { details }));
}

describe('a refused import', () => {
  it('says first which file and why, and is no refusal that changes nothing to look at', () => {
    const error = refusedImport('a.json', refused({ code: 'import.bad_record', line: 9 }));
    expect(messageOf(error)).toBe(
      'a.json was not imported: it was changed after it was exported. Record 7: hash.',
    );
    expect(codeOf(error)).toBe('import.bad_record');
    expect(messageOf(refusedImport('a.json', refused({ code: 'import.exists' })))).toBe(
      'a.json was not imported. Record 7: hash.',
    );
  });

  it('leaves every other error as it is', () => {
    for (const error of [refused({ code: 'fs.outside' }), refused(null), new Error('x')])
      expect(refusedImport('a.json', error)).toBe(error);
  });
});
