import * as l10n from '@vscode/l10n';
import type { ReceiptStringKey } from '../../protocol/receipts-view.ts';

/** Every text of the receipts page that does not come with an entry. */
export function receiptStrings(): Readonly<Record<ReceiptStringKey, string>> {
  return {
    filterControl: l10n.t('Control'),
    filterStatus: l10n.t('Status'),
    filterAll: l10n.t('All controls'),
    statusAccepted: l10n.t('Accepted'),
    statusIdempotent: l10n.t('Repeated'),
    statusRejected: l10n.t('Refused'),
    statusAny: l10n.t('Any status'),
    streamLabel: l10n.t('Receipts of'),
    streamSession: l10n.t('This session'),
    streamHost: l10n.t('Controls that named no session here'),
    verify: l10n.t('Verify'),
    verifying: l10n.t('Verifying…'),
    verifiedAt: l10n.t('Verified at {0}'),
    export: l10n.t('Export…'),
    refresh: l10n.t('Refresh'),
    listLabel: l10n.t('Receipts, newest first'),
    emptyTitle: l10n.t('No receipts yet'),
    emptyBody: l10n.t(
      'Every control leaves a receipt here, accepted or not: Stop, a steer, a rollback, a change of mode.',
    ),
    emptyFiltered: l10n.t('No receipt matches the filter'),
    clearFilter: l10n.t('Clear Filter'),
    loading: l10n.t('Loading…'),
    retry: l10n.t('Retry'),
    by: l10n.t('by {0} ({1})'),
    byItself: l10n.t('by {0}'),
    door: l10n.t('Came by'),
    wireName: l10n.t('Method'),
    wireOutcome: l10n.t('Outcome'),
    wireReason: l10n.t('Reason'),
    controlId: l10n.t('Receipt'),
    place: l10n.t('Place in the chain'),
    hash: l10n.t('Hash'),
    time: l10n.t('Time'),
    copy: l10n.t('Copy as JSON'),
    copied: l10n.t('Copied'),
  };
}
