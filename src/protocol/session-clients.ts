/** What becomes of a session's work when its last client goes: it goes on, or it stops (design §1). */
export type OnDetach = 'keep' | 'stop';

/** A client that is attached to a session. */
export type SessionClient = {
  /** Of its connection; no other connection of this host has it. */
  key: string;
  /** The name that it gave itself, as receipts carry it. */
  clientId: string;
  /** What a person would call it; missing where it did not say. */
  title?: string;
  role: 'host_owner' | 'observer';
  /** The owner whose editor serves the session: its open documents, its models. One at most. */
  acting: boolean;
  /** When it attached, ISO 8601. */
  since: string;
  /** True for the client that reads this. */
  you: boolean;
};

/** Who changed a role. */
export type RoleGiver = Pick<SessionClient, 'key' | 'clientId' | 'title'>;
