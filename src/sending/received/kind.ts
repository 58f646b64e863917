import { RECEIVED_STATES, RECEIVED_VERSION, receivedMachine } from '../../../machines/received/machine.ts';
import { defineKind, type EffectMeanings, type FactTable } from '../../engine/machine/kind.ts';
import type { Performer } from '../../engine/runtime/performers.ts';
import type { Registration } from '../../engine/runtime/running-kind.ts';

/** The limit of one POST takes a third of the lease; for the rest of it an order may wait for a slot. */
export const LEASE_MS = 30_000;

/** The results of attempts, in a separate table so that a transition does not rewrite replies. */
const attempted: FactTable = {
  name: 'posted_received',
  columns: `attempt integer, attempted_at timestamptz, http_status smallint, response_body text, duration_ms integer,
    error text`,
  sql: (
    source,
  ) => `insert into received_attempts (received_id, attempt, attempted_at, http_status, response_body, duration_ms, error)
    select actor, attempt, attempted_at, http_status, response_body, duration_ms, error from ${source} s`,
};

const effects: EffectMeanings<typeof receivedMachine> = {
  post: { order: true },
  record: {
    fact: attempted.name,
    rows: ({ attempt, attemptedAt, httpStatus, responseBody, durationMs, error }) => [
      {
        attempt,
        attempted_at: new Date(attemptedAt).toISOString(),
        http_status: httpStatus,
        response_body: responseBody,
        duration_ms: durationMs,
        error,
      },
    ],
  },
};

/** The kind of received messages: one for each recipient. */
export const receivedKind = defineKind({
  name: 'received',
  table: 'received',
  idPrefix: 'rcv',
  machine: receivedMachine,
  states: RECEIVED_STATES,
  version: RECEIVED_VERSION,
  derived: [],
  spawn: {
    columns: `route_id text, content_id text, envelope_from text, recipient text, tag text, thread_id text, email_id text,
      contact_id text, campaign_id text, flow_run_id text, is_automatic boolean, address_keys text[], summary json, authentication json, spam json, size integer`,
    insertColumns: [
      'route_id',
      'content_id',
      'envelope_from',
      'recipient',
      'tag',
      'thread_id',
      'email_id',
      'contact_id',
      'campaign_id',
      'flow_run_id',
      'is_automatic',
      'address_keys',
      'summary',
      'authentication',
      'spam',
      'size',
    ],
    insertInto: [],
  },
  actorColumnsForFacts: [],
  facts: [attempted],
  children: [],
  journal: 'received_journal',
  effects,
});

/** The registration of the kind, with the performer that posts. */
export const receivedMessages = (performer: Performer): Registration => ({ kind: receivedKind, performer });
