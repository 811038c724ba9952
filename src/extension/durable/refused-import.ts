import * as l10n from '@vscode/l10n';
import { CodedError, isCoded, messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import { isAgentRequestError } from '../core/connection.ts';

/**
 * The error of an import as the person should see it: which file and why come first, as a notification cuts its end,
 * and what the agent said after. An error that is no refusal stays as it is.
 */
export function refusedImport(file: string, error: unknown): unknown {
  const code = importCode(error);
  if (code === null) return error;
  const message = `${wordsOf(code, file)} ${messageOf(error)}`;
  return new CodedError(code, message, { cause: error });
}

/** The agent's code for why it took nothing in; null for every other error. */
function importCode(error: unknown): string | null {
  const refused = isCoded(error) && error.code === 'control.refused' ? error.cause : error;
  if (!isAgentRequestError(refused) || !isObject(refused.details)) return null;
  const { code } = refused.details;
  return typeof code === 'string' && code.startsWith('import.') ? code : null;
}

function wordsOf(code: string, file: string): string {
  switch (code) {
    case 'import.bad_record':
      return l10n.t('{0} was not imported: it was changed after it was exported.', file);
    case 'import.not_an_export':
      return l10n.t('{0} was not imported: it is not as an export is written.', file);
    default:
      return l10n.t('{0} was not imported.', file);
  }
}
