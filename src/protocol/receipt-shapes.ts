import type { ControlOutcome } from './controls.ts';

/** `after` and `before` are exclusive `seq`s; without either the newest receipts. */
export type ReceiptListParams = {
  sessionId?: string;
  after?: number;
  before?: number;
  /** 1 to 1,000; 200 if missing. */
  limit?: number;
  method?: string;
  status?: 'accepted' | 'idempotent' | 'rejected';
};

export type ReceiptList = {
  receipts: readonly {
    /** Its place in the session's control stream, and that record's hash. */
    seq: number;
    at: string;
    hash: string;
    receipt: ControlOutcome;
  }[];
  hasBefore: boolean;
  hasAfter: boolean;
};
