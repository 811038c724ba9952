import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { FromChat } from '../../../../src/protocol/chat.ts';
import type { Drafts } from '../../bridge/drafts.ts';
import type { Store } from '../../state/store.ts';
import { ENGLISH, type Strings } from '../../strings.ts';

/** What every part of the page may use. */
export type Services = {
  readonly store: Store;
  readonly drafts: Drafts;
  readonly post: (message: FromChat) => void;
};

export const ServicesContext = createContext<Services | null>(null);
export const StringsContext = createContext<Strings>(ENGLISH);

/** The paths of staged files, one a line: a text of its own, so that equal lists draw nothing anew. */
export const StagedPathsContext = createContext('');

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error('A part of the chat stands outside its services.');
  return services;
}

export function useStrings(): Strings {
  return useContext(StringsContext);
}
