import type { AuthProvider } from '@modelcontextprotocol/client';
import { Deferred } from '../../../base/deferred.ts';
import { Emitter, type Event } from '../../../base/emitter.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Ids } from '../../../base/ids.ts';
import type { Sdk } from '../connection/load-sdk.ts';
import { McpError } from '../errors.ts';
import { type LoginCell, LoginFlow, RefreshFlow } from './login-flow.ts';
import type { Login } from './login-shape.ts';
import { RedirectListener } from './redirect-listener.ts';
import type { TokenStore } from './token-store.ts';

/** One request to an authorization server. */
const REQUEST_MS = 15_000;
/** How long the browser may still need once the person says that they have signed in. */
const ARRIVAL_MS = 5_000;

/** How a person is asked to sign in. True means that they say it is done. */
export type AskLogin = (login: {
  readonly url: string;
  /** Settles by itself: true when the sign-in arrived, false when it can't any more. */
  readonly arrived: Promise<boolean>;
}) => Promise<boolean>;

/** The logins of this process, one for each server address, shared by all sessions. */
export class OAuthAccounts {
  readonly #store: TokenStore;
  readonly #ids: Ids;
  readonly #accounts = new Map<string, OAuthAccount>();

  constructor(store: TokenStore, ids: Ids) {
    this.#store = store;
    this.#ids = ids;
  }

  of(url: URL): OAuthAccount {
    const key = keyOf(url);
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const account = new OAuthAccount(url, key, this.#store, this.#ids);
    this.#accounts.set(key, account);
    return account;
  }
}

type Challenge = { readonly resourceMetadataUrl?: URL; readonly scope?: string };

/** The login at one server: tokens for its transports, renewed when they run out, and the way to get the first ones. */
export class OAuthAccount {
  readonly #url: URL;
  readonly #key: string;
  readonly #store: TokenStore;
  readonly #ids: Ids;
  readonly #signedIn = new Emitter<void>();
  #login: Login | null = null;
  #challenge: Challenge = {};
  #refreshing: Promise<void> | null = null;

  constructor(url: URL, key: string, store: TokenStore, ids: Ids) {
    this.#url = url;
    this.#key = key;
    this.#store = store;
    this.#ids = ids;
  }

  /** Fires when somebody signed in, in whichever session. */
  get onDidSignIn(): Event<void> {
    return this.#signedIn.event;
  }

  /** What a transport needs. It throws `mcp.login_needed` where only a person can help. */
  authProvider(sdk: Sdk): AuthProvider {
    return {
      token: async () => (await this.#load()).tokens?.access_token,
      onUnauthorized: async ({ response }) => {
        const { resourceMetadataUrl, scope } = sdk.extractWWWAuthenticateParams(response);
        this.#challenge = {
          ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
          ...(scope === undefined ? {} : { scope }),
        };
        this.#refreshing ??= this.#refresh(sdk).finally(() => {
          this.#refreshing = null;
        });
        await this.#refreshing;
      },
    };
  }

  /** Lets the next sign-in ask for this scope on top of what is allowed already; no text is no wish. */
  require(scope: unknown): void {
    if (typeof scope !== 'string') return;
    const all = [this.#login?.tokens?.scope, this.#challenge.scope, scope].join(' ');
    const names = new Set(all.split(' ').filter((name) => name !== ''));
    this.#challenge = { ...this.#challenge, scope: [...names].join(' ') };
  }

  /** Signs in with the help of a person. Throws `mcp.login_failed`, or the signal's reason. */
  async signIn(sdk: Sdk, ask: AskLogin, signal: AbortSignal): Promise<void> {
    const login = await this.#load();
    const state = this.#ids.secret();
    const listener = await RedirectListener.open(state, portOf(login.redirectUrl));
    try {
      // A client may only be sent where it was registered for.
      if (login.redirectUrl !== listener.url) await this.#save(withoutClient(login));
      await this.#signInAt(sdk, listener, state, ask, signal);
    } catch (failure) {
      signal.throwIfAborted();
      if (failure instanceof McpError) throw failure;
      throw new McpError('mcp.login_failed', `Signing in failed: ${messageOf(failure)}.`, {
        cause: failure,
      });
    } finally {
      listener.close();
    }
    this.#signedIn.fire();
  }

  async #signInAt(
    sdk: Sdk,
    listener: RedirectListener,
    state: string,
    ask: AskLogin,
    signal: AbortSignal,
  ): Promise<void> {
    const flow = new LoginFlow(this.#cell(), listener.url, state);
    const options = { serverUrl: this.#url, fetchFn: limitedFetch(signal), ...this.#challenge };
    if ((await sdk.auth(flow, { ...options, forceReauthorization: true })) === 'AUTHORIZED') return;
    const page = flow.authorizationUrl;
    if (page === null) throw new McpError('mcp.login_failed', 'The server named no login page.');
    const exchanged = listener.arrived.then(async (params) => {
      const code = params.get('code') ?? '';
      const iss = params.get('iss');
      await sdk.auth(flow, {
        ...options,
        authorizationCode: code,
        ...(iss === null ? {} : { iss }),
      });
    });
    const arrived = exchanged.then(
      () => true,
      () => false,
    );
    const elsewhere = new Deferred<boolean>();
    const subscription = this.#signedIn.event(() => elsewhere.resolve(true));
    try {
      const either = Promise.race([arrived, elsewhere.promise]);
      const isDone = await ask({ url: page.href, arrived: either });
      signal.throwIfAborted();
      const known = await settledWithin(
        Promise.race([exchanged, elsewhere.promise]),
        isDone ? ARRIVAL_MS : 0,
      );
      if (known) return;
      const why = isDone ? 'The login page has not come back.' : 'You did not sign in.';
      throw new McpError('mcp.login_failed', why);
    } finally {
      subscription.dispose();
    }
  }

  async #refresh(sdk: Sdk): Promise<void> {
    const { tokens, client, redirectUrl } = await this.#load();
    const needed = new McpError('mcp.login_needed', 'It wants you to sign in.');
    if (tokens?.refresh_token === undefined || client === undefined) throw needed;
    const flow = new RefreshFlow(this.#cell(), redirectUrl ?? 'http://127.0.0.1/callback');
    const options = { serverUrl: this.#url, fetchFn: limitedFetch(), ...this.#challenge };
    try {
      if ((await sdk.auth(flow, options)) === 'AUTHORIZED') return;
    } catch (cause) {
      throw new McpError('mcp.login_needed', needed.message, { cause });
    }
    throw needed;
  }

  #cell(): LoginCell {
    return { login: () => this.#login ?? {}, save: (login) => this.#save(login) };
  }

  async #load(): Promise<Login> {
    this.#login ??= await this.#store.load(this.#key);
    return this.#login;
  }

  async #save(login: Login): Promise<void> {
    this.#login = login;
    await this.#store.save(this.#key, login);
  }
}

function keyOf(url: URL): string {
  const key = new URL(url);
  key.hash = '';
  return key.href;
}

function portOf(redirectUrl: string | undefined): number | null {
  const port = redirectUrl === undefined ? '' : (URL.parse(redirectUrl)?.port ?? '');
  return port === '' ? null : Number(port);
}

function withoutClient({ tokens }: Login): Login {
  return tokens === undefined ? {} : { tokens };
}

/** Headers configured for the MCP server are not for its authorization server, and no request may hang. */
function limitedFetch(
  signal?: AbortSignal,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return (url, init) => {
    const signals = [AbortSignal.timeout(REQUEST_MS), signal, init?.signal];
    const all = signals.filter((one) => one !== undefined && one !== null);
    return fetch(url, { ...init, signal: AbortSignal.any(all) });
  };
}

/** True if the promise resolved in time; rejects if it rejected. */
async function settledWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
