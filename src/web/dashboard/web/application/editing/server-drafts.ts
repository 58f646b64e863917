import { request } from '../api/requests.ts';
import type { Draft } from './draft.ts';

// Unsaved changes of templates, campaigns and flows are kept on the service, too: for other browsers of the
// person, and so that other members see who is writing. Settings and people's data stay in the browser.

/** The unsaved changes of another member. */
export interface OthersDraft {
  readonly name: string;
  /** When it was kept (epoch milliseconds). */
  readonly at: number;
  readonly fields: readonly string[];
}

type OwnDraft = Pick<Draft, 'key' | 'at' | 'updatedAt' | 'values' | 'sums'>;

/** The environment and the resource of a place, where the service keeps its drafts. */
function addressOf(place: string): string | null {
  const [, environment, resource = ''] = place.split(' ');
  return /^(?:templates|campaigns|flows)\//.test(resource) ? `${environment}/${resource}` : null;
}

/** The part of a draft's key that the service knows. */
const keyOf = (key: string): string => key.split(' ')[0] ?? '';
const placeOf = (key: string): string => key.split(' ').slice(1).join(' ');

async function listed<Item>(path: string, place: string): Promise<readonly Item[]> {
  const address = addressOf(place);
  if (address === null) return [];
  return (await request<readonly Item[]>('GET', `${path}?${new URLSearchParams({ place: address })}`)).data;
}

export const serverDrafts = {
  isFor: (place: string): boolean => addressOf(place) !== null,

  /** The drafts of a place that the person has. @throws RequestError */
  async at(place: string, account: string): Promise<readonly Draft[]> {
    const own = await listed<OwnDraft>('drafts', place);
    return own.map((each) => ({ ...each, key: `${each.key} ${place}`, account, place }));
  },

  /** The drafts that others have of it. @throws RequestError */
  others: (place: string): Promise<readonly OthersDraft[]> => listed<OthersDraft>('drafts/others', place),

  /** Keeps one; the time at which it was kept. @throws RequestError */
  async keep({ key, place, updatedAt, values, sums }: Draft): Promise<number> {
    const body = { key: keyOf(key), place: addressOf(place), updatedAt, values, sums };
    return (await request<{ readonly at: number }>('PUT', 'drafts', { body })).data.at;
  },

  /** Removes one. @throws RequestError */
  async remove(key: string): Promise<void> {
    if (addressOf(placeOf(key)) === null) return;
    const path = `drafts?${new URLSearchParams({ key: keyOf(key) })}`;
    await request('DELETE', path, { body: {} });
  },
};
