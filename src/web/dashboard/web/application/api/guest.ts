import type { Session } from '../../../../live/model.ts';
import { RequestError, request } from './requests.ts';

/** The session of a guest, who has no account: of an API key or a printed link, in one environment. */
export type GuestSession = Session;

/** The addresses of guests, which answer with the data of the live view alone. */
export const GUEST_API = '/inspector/api';
const SESSION = `${GUEST_API}/session`;

/** The requests by which guests come and go. */
export const guestEntry = {
  /** The session of this browser; null for none. `isMember` is true of a member's. */
  session: async (): Promise<GuestSession | null> => {
    try {
      return (await request<GuestSession>('GET', SESSION)).data;
    } catch (error) {
      if (error instanceof RequestError && (error.status === 401 || error.status === 403)) return null;
      throw error;
    }
  },
  /** Exchanges an API key, or the ticket of a printed link, for a session. @throws RequestError */
  open: (proof: { readonly key: string } | { readonly ticket: string }) =>
    request<object>('POST', SESSION, { body: proof }),
  close: () => request<object>('DELETE', SESSION, { body: {} }),
};
