import type { Catalogue, LifecycleName } from '../../../../../../../machines/catalogue.ts';
import type { StateNameOf } from '../../../../../../../machines/names.ts';
import type { Machine } from '../../../../../live/model.ts';

/**
 * The class of a state that its color tells: on its way, waiting for the clock, ended well or badly, or at
 * rest.
 */
export type StateColor = 'moving' | 'waiting' | 'good' | 'bad' | 'quiet';

type Colors = {
  readonly [Name in LifecycleName]: Readonly<Record<StateNameOf<Catalogue[Name]['machine']>, StateColor>>;
};

/**
 * The color of every state. The timer of `sending` and `posting` only guards an attempt that is under way.
 */
const COLORS: Colors = {
  email: {
    accepted: 'moving',
    scheduled: 'waiting',
    queued: 'waiting',
    sending: 'moving',
    deferred: 'waiting',
    gaveUp: 'moving',
    sent: 'moving',
    delivered: 'good',
    failed: 'bad',
    cancelled: 'quiet',
  },
  apiKey: { active: 'good', revoked: 'quiet' },
  domain: {
    added: 'moving',
    pending: 'waiting',
    verified: 'good',
    temporaryFailure: 'bad',
    failed: 'bad',
    removed: 'quiet',
  },
  webhookEndpoint: { active: 'good', disabled: 'bad', deleted: 'quiet' },
  webhookDelivery: {
    made: 'moving',
    queued: 'waiting',
    posting: 'moving',
    scheduled: 'waiting',
    success: 'good',
    failed: 'bad',
  },
  received: {
    arrived: 'moving',
    stored: 'waiting',
    posting: 'moving',
    retrying: 'waiting',
    posted: 'good',
    forwarded: 'good',
    kept: 'good',
    failed: 'bad',
  },
  contactImport: {
    stored: 'moving',
    queued: 'waiting',
    checking: 'moving',
    processing: 'moving',
    completed: 'good',
    failed: 'bad',
    cancelled: 'quiet',
  },
  campaign: {
    draft: 'quiet',
    scheduled: 'waiting',
    preparing: 'moving',
    sending: 'moving',
    paused: 'waiting',
    sent: 'good',
    cancelled: 'quiet',
    failed: 'bad',
    deleted: 'quiet',
  },
  flowRun: {
    begun: 'moving',
    postponed: 'waiting',
    held: 'quiet',
    completed: 'good',
    exited: 'quiet',
    failed: 'bad',
    cancelled: 'quiet',
  },
};

const BY_KIND: Readonly<Record<string, Readonly<Record<string, StateColor>>>> = COLORS;

/**
 * The colour of a state. States of flow definitions have their authors' names: one that acts on entry moves
 * on, and one with a timer waits. A page older than the service may meet unknown states.
 */
export const colorOf = ({ kind, drawing, timed }: Machine, state: string): StateColor => {
  const known = BY_KIND[kind]?.[state];
  if (known !== undefined) return known;
  const isActing = drawing.states.some(({ name, effects }) => name === state && effects.length > 0);
  return isActing ? 'moving' : timed.includes(state) ? 'waiting' : 'quiet';
};
