import { z } from 'zod';

const client = z.looseObject({ client_id: z.string(), issuer: z.string().optional() });
const tokens = z.looseObject({
  access_token: z.string(),
  token_type: z.string(),
  refresh_token: z.string().optional(),
  expires_in: z.number().optional(),
  scope: z.string().optional(),
  issuer: z.string().optional(),
});
const login = z.object({
  /** Where the registered client is sent back to. */
  redirectUrl: z.string().optional(),
  client: client.optional(),
  tokens: tokens.optional(),
});

/** What is kept of a login: the registered client and its tokens. */
export type Login = z.infer<typeof login>;

/** All logins, by the address of their server. */
export const logins = z.record(z.string(), login);
