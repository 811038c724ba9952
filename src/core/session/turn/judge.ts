import type { NewDirective } from '../control/directives.ts';
import type { HistoryEvent } from '../events.ts';
import { JUDGE_SYSTEM, judgeKey, judgeTexts } from '../side/judge-prompt.ts';
import { askAside, type SideAnswer } from '../side/side-request.ts';
import { readVerdict, type Verdict } from '../side/verdict.ts';
import type { Usage } from '../words.ts';
import { addUsage, NO_USAGE } from './budget.ts';
import { type Ending, unverifiedEnding } from './terminal.ts';
import type { TurnContext } from './turn-context.ts';

/** After so many vetoes a turn ends unverified. */
const MAX_VETOES = 3;
/** After so many looks that came to nothing a turn ends unverified. */
const MAX_FAILURES = 2;
const LOOK_MS = 60_000;
/** The value of `SessionConfig.judge` that stands for the session's own model. */
const OWN_MODEL = 'same';

type Look =
  | { readonly kind: 'done' | 'dropped' }
  | { readonly kind: 'vetoed'; readonly directive: NewDirective }
  | { readonly kind: 'unverified'; readonly why: string };

/** What became of an ending: null means that the turn goes on. */
export type Judged = { readonly ending: Ending | null; readonly usage: Usage };

/**
 * Verifies that a turn did what was asked, before it ends (design §4.7). A veto is a corrective directive, so it can't
 * undo a steer, which is a contract; the judge is told of steers apart from the objective.
 */
export class CompletionJudge {
  readonly #turn: TurnContext;
  #vetoes = 0;
  #failures = 0;
  #usage: Usage = NO_USAGE;

  constructor(turn: TurnContext) {
    this.#turn = turn;
  }

  /**
   * Passes the end of the last iteration: a natural ending is looked at first, where a judge is on. The ending stands
   * unless a message was delivered or the judge vetoed it.
   */
  async end(iteration: number, ending: Ending): Promise<Judged> {
    const { config, signal } = this.#turn;
    const isOn = config.judge !== undefined && ending.terminal.kind === 'natural';
    this.#usage = NO_USAGE;
    for (;;) {
      const look: Look = isOn ? await this.#look(iteration) : { kind: 'done' };
      if (signal.aborted) return { ending, usage: this.#usage };
      // Told and passed at once, so that a directive never outlives its turn.
      if (look.kind === 'vetoed') this.#turn.tellDirective(look.directive);
      const { delivered } = await this.#turn.passSeam('iteration_end', iteration);
      if (delivered > 0) {
        this.#vetoes = 0;
        this.#failures = 0;
        return { ending: null, usage: this.#usage };
      }
      if (look.kind === 'vetoed') return { ending: null, usage: this.#usage };
      if (look.kind === 'unverified')
        return {
          ending: unverifiedEnding(`Nobody confirmed that this is done: ${look.why}`),
          usage: this.#usage,
        };
      // The interrupt that dropped the look was taken back: look again.
      if (look.kind === 'done') return { ending, usage: this.#usage };
    }
  }

  /** Asks until there is a verdict or a cap is reached. */
  async #look(iteration: number): Promise<Look> {
    for (;;) {
      const answer = await this.#ask();
      const verdict = answer.kind === 'answered' ? readVerdict(answer.text) : null;
      const usage = answer.kind === 'answered' ? answer.usage : NO_USAGE;
      this.#usage = addUsage(this.#usage, usage);
      await this.#turn.recorder.history(this.#decision(iteration, answer, verdict, usage));
      if (answer.kind === 'dropped') return { kind: 'dropped' };
      if (answer.kind === 'late')
        return { kind: 'unverified', why: `the judge took longer than ${LOOK_MS / 1000} seconds` };
      if (verdict !== null) return this.#weigh(verdict);
      this.#failures += 1;
      if (this.#failures >= MAX_FAILURES)
        return { kind: 'unverified', why: `the judge failed: ${failureText(answer)}` };
    }
  }

  #weigh(verdict: Verdict): Look {
    if (verdict.kind === 'done') return { kind: 'done' };
    this.#vetoes += 1;
    if (this.#vetoes >= MAX_VETOES)
      return {
        kind: 'unverified',
        why: `the judge did not agree after ${MAX_VETOES} looks: ${verdict.reason}`,
      };
    const text = [
      `The completion check found that this is not done yet (look ${this.#vetoes}). ${verdict.reason}`.trim(),
      verdict.correction,
    ];
    return {
      kind: 'vetoed',
      directive: {
        key: judgeKey(this.#turn.turnId),
        authority: 'corrective',
        source: 'judge',
        text: text.join('\n'),
      },
    };
  }

  #ask(): Promise<SideAnswer> {
    const { config, conversation, deps, resolveModel, sessionId } = this.#turn;
    const { judge = OWN_MODEL } = config;
    const { objective, steers } = conversation.brief;
    const answer = conversation.messages.findLast((message) => message.role === 'assistant');
    return askAside(this.#turn, {
      model: judge === OWN_MODEL ? resolveModel : () => deps.models.resolve(judge, { sessionId }),
      system: JUDGE_SYSTEM,
      texts: judgeTexts({
        objective,
        // Without directives a steer has no authority, so nothing may tell the judge that it has.
        steers: deps.directives === false ? [] : steers,
        answer: answer?.role === 'assistant' ? answer.text : '',
      }),
      deadlineMs: LOOK_MS,
    });
  }

  #decision(
    iteration: number,
    answer: SideAnswer,
    verdict: Verdict | null,
    usage: Usage,
  ): HistoryEvent {
    const { config, turnId } = this.#turn;
    const judge =
      config.judge === undefined || config.judge === OWN_MODEL ? config.model : config.judge;
    const base = { type: 'judge_decision', turnId, iteration, judge, usage } as const;
    if (verdict === null)
      return { ...base, verdict: 'failed', reason: failureText(answer), correction: null };
    return verdict.kind === 'done'
      ? { ...base, verdict: 'done', reason: verdict.reason, correction: null }
      : { ...base, verdict: 'vetoed', reason: verdict.reason, correction: verdict.correction };
  }
}

function failureText(answer: SideAnswer): string {
  switch (answer.kind) {
    case 'answered':
      return 'The answer was no verdict';
    case 'failed':
      return answer.reason;
    case 'late':
      return `No answer within ${LOOK_MS / 1000} seconds`;
    case 'dropped':
      return 'Dropped: a person stopped or interrupted the turn';
  }
}
