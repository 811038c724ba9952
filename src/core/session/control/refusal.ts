import { CodedError } from '../../../base/errors.ts';
import type { JsonObject } from '../../../base/json.ts';

/** Why a control was refused; the same words stand in receipts as `outcome` and `reason`. */
export const REFUSALS = [
  'unknown_session',
  'no_active_prompt',
  'invalid_mode',
  'invalid_content',
  'invalid_params',
  'command_collision',
  'already_revoked',
  'already_delivered',
  'unknown_message_id',
  'unknown_reminder_id',
  'not_owner_or_not_authorized',
  'observer_may_not_control',
  'prompt_active',
  'no_checkpoint',
  'unknown_checkpoint',
  'no_redo',
  'fs_snapshot_error',
  'fs_restore_error',
  'splits_tool_batch',
  'out_of_range',
  'session_exists',
  'environment_widened',
  'environment_rejected',
  'unknown_item',
  'too_many_waiting',
  'unknown_tool_call',
  'not_staged',
  'unknown_loop',
  'unknown_gate',
  'invalid_answer',
  'nothing_to_gain',
  'cancelled',
  'session_closed',
  'failed',
] as const;

/** A reason of the closed list. */
export type Refusal = (typeof REFUSALS)[number];

/** A refused control: nothing has changed. The message says what to do; `data` is shown to the caller. */
export class ControlRefused extends CodedError<`control.${Refusal}`> {
  readonly refusal: Refusal;

  constructor(refusal: Refusal, message: string, data: JsonObject = {}, cause?: unknown) {
    super(`control.${refusal}`, message, {
      data: { reason: refusal, ...data },
      ...(cause === undefined ? {} : { cause }),
    });
    this.refusal = refusal;
  }
}
