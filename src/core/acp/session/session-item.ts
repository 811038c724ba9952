import type { JsonObject } from '../../../base/json.ts';
import type { SessionConfigOption, SessionModeState } from '../../../protocol/acp.ts';
import type { SessionItem } from '../../../protocol/harn.ts';
import type { SearchFindings } from '../../../protocol/pilothouse.ts';
import type { ListedSession, LiveSession } from '../../host/api.ts';
import { isBlank } from '../../host/views/blank.ts';
import { isoTime } from '../projection/turn-updates.ts';

/** A session as lists and results show it: ACP's `SessionInfo` with Harn's fields, those again under `_meta.harn`. */
export type ShownSession = SessionItem & {
  readonly additionalDirectories?: readonly string[];
  readonly _meta: JsonObject;
};

/** A session as a search shows it, with what was found in it. */
export function foundSession(session: ListedSession): ShownSession & SearchFindings {
  const { hits = [], hitCount = 0, isCountExact = true } = session.found ?? {};
  return {
    ...sessionItem(session),
    hits: hits.map((hit) => ({ ...hit, ranges: hit.ranges.map(([start, end]) => [start, end]) })),
    hitCount,
    isHitCountExact: isCountExact,
  };
}

/** Shows a session. */
export function sessionItem(session: ListedSession): ShownSession {
  const { liveState, activePrompt, currentModeId, lastEventId, title } = session;
  const { additionalDirectories, openGates } = session;
  const harn = {
    liveState,
    activePrompt,
    currentModeId,
    attachableRoles: ['host_owner', 'observer'],
    createdAt: isoTime(session.createdAt),
    // A session in which nothing has happened has no cursor yet. Source: Harn session control, Status.
    ...(isBlank(session) ? {} : { lastEventId }),
  } as const;
  return {
    sessionId: session.sessionId,
    cwd: session.cwd,
    ...(additionalDirectories.length > 0 ? { additionalDirectories } : {}),
    ...(title === null ? {} : { title }),
    updatedAt: isoTime(session.lastMessageAt),
    ...harn,
    _meta: { harn, pilothouse: { openGates } },
  };
}

/** What new, load and resume have in common. */
export type OpenedResult = {
  readonly sessionId: string;
  readonly session: ShownSession;
  readonly modes?: SessionModeState;
  readonly configOptions: readonly SessionConfigOption[];
};

/** The state of a session that was just created, loaded or resumed. */
export async function openedResult(live: LiveSession): Promise<OpenedResult> {
  const configOptions = await live.configOptions();
  const described = live.describe();
  const modes = modeState(configOptions, described.currentModeId);
  return {
    sessionId: live.sessionId,
    session: sessionItem(described),
    ...(modes ? { modes } : {}),
    configOptions,
  };
}

/** Modes are the choices of the option in the category `mode`, so that the two never differ. */
function modeState(
  options: readonly SessionConfigOption[],
  currentModeId: string,
): SessionModeState | undefined {
  const option = options.find(({ category }) => category === 'mode');
  if (option?.type !== 'select') return undefined;
  const choices = option.options.flatMap((choice) =>
    'options' in choice ? choice.options : [choice],
  );
  return {
    currentModeId,
    availableModes: choices.map(({ value, name, description }) => ({
      id: value,
      name,
      ...(description ? { description } : {}),
    })),
  };
}
