import type { LanguageModelV3Usage } from '@ai-sdk/provider';
import type { Usage } from '../../session/words.ts';
import type { ModelPrice } from '../config/provider-config.ts';

const MILLION = 1_000_000;

/** The counts of a reply, with its cost where the price is known. */
export function toUsage(usage: LanguageModelV3Usage, price: ModelPrice | undefined): Usage {
  const input = usage.inputTokens.total ?? 0;
  const output = usage.outputTokens.total ?? 0;
  const cached = usage.inputTokens.cacheRead;
  const thought = usage.outputTokens.reasoning;
  return {
    inputTokens: input,
    outputTokens: output,
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
    ...(thought === undefined ? {} : { thoughtTokens: thought }),
    ...(price === undefined ? {} : { costUsd: cost(input, output, cached ?? 0, price) }),
  };
}

function cost(input: number, output: number, cached: number, price: ModelPrice): number {
  const cachedPrice = price.cachedInputPerMillion ?? price.inputPerMillion;
  const fresh = Math.max(0, input - cached);
  return (
    (fresh * price.inputPerMillion + cached * cachedPrice + output * price.outputPerMillion) /
    MILLION
  );
}
