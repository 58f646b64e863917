import { setup } from 'xstate';
import { storedStates } from '../names.ts';
import type { ContactImportContext, ContactImportEvent, ContactImportInput, RowsRead } from './context.ts';

/**
 * Stored with every row; raise it with a migration of stored snapshots when a stored shape changes. Version 2
 * has plans that say more of consent (src/audience/contacts/imports/plan/stored-plan.ts); snapshots are those
 * of version 1.
 */
export const CONTACT_IMPORT_VERSION = 2;

const isOfThisTurn = (context: ContactImportContext, event: ContactImportEvent): boolean =>
  'attempt' in event && event.attempt === context.attempt;

/** Rows are taken by the turn under way, and only at the place of the pass: none is counted twice. */
const areNext = (context: ContactImportContext, event: ContactImportEvent): event is RowsRead =>
  event.type === 'rows.read' && isOfThisTurn(context, event) && event.from === context.place.offset;

const areTheLast = (context: ContactImportContext, event: ContactImportEvent): event is RowsRead =>
  areNext(context, event) && event.isLast;

const importSetup = setup({
  types: {
    context: {} as ContactImportContext,
    events: {} as ContactImportEvent,
    input: {} as ContactImportInput,
  },
  guards: {
    checksFirst: ({ context, event }) =>
      isOfThisTurn(context, event) && (context.checksFirst || context.dryRun),
    turnIsTheLatest: ({ context, event }) => isOfThisTurn(context, event),
    rowsAreNext: ({ context, event }) => areNext(context, event),
    rowsAreTheLast: ({ context, event }) => areTheLast(context, event),
    someWereRefused: ({ context, event }) =>
      areTheLast(context, event) && context.checksFirst && context.refused + event.refused > 0,
    dryRunIsOver: ({ context, event }) => areTheLast(context, event) && context.dryRun,
  },
  actions: {
    /** Order: process the file from its place, for a while. */
    work: (_, _params: { readonly attempt: number }) => {},
    /** Fact: so many rows were worked through, and these are refused. */
    countRows: (_, _params: { readonly rows: unknown; readonly from: number }) => {},
    /** Facts: the contacts of these rows are made and changed; or only what would become of them is noted. */
    writeRows: (_, _params: { readonly rows: unknown }) => {},
    previewRows: (_, _params: { readonly rows: unknown }) => {},
    /** Fact: what was counted while checking does not count. */
    countAnew: () => {},
    /** Fact: its file is removed. */
    dropFile: () => {},
  },
  delays: {
    /** The time after which a silent turn counts as lost. */
    lease: ({ context }) => context.leaseMs,
  },
});

const noteTurn = importSetup.assign(({ context, event }) => ({
  at: event.at ?? context.at,
  attempt: context.attempt + 1,
}));
const order = {
  type: 'work' as const,
  params: ({ context }: { readonly context: ContactImportContext }) => ({ attempt: context.attempt }),
};
const noteBegin = importSetup.assign(({ context, event }) => ({
  at: event.at,
  startedAt: context.startedAt ?? event.at,
}));
const notePlace = importSetup.assign(({ context, event }) => {
  const { at, to, refused } = event as RowsRead;
  return { at, place: to, refused: context.refused + refused };
});
const goBack = importSetup.assign(({ context }) => ({ place: context.first }));
const noteEnd = importSetup.assign(({ event }) => ({ at: event.at, endedAt: event.at }));
const noteRefusal = importSetup.assign({ failure: 'rows_refused' as const });
const noteLoss = importSetup.assign({ failure: 'file_lost' as const });

const rowsOf = ({ event }: { readonly event: ContactImportEvent }) => {
  const { rows, from } = event as RowsRead;
  return { rows, from };
};
const count = { type: 'countRows' as const, params: rowsOf };
const check = [count, { type: 'previewRows' as const, params: rowsOf }];
const write = [count, { type: 'writeRows' as const, params: rowsOf }];

/** The events that an import takes in every state but the last ones. */
const always = {
  'cancel.requested': { target: 'cancelled', actions: [noteEnd, 'dropFile'] },
  'file.lost': {
    guard: 'turnIsTheLatest',
    target: 'failed',
    actions: [noteLoss, noteEnd, 'dropFile'],
  },
} as const;

/**
 * The lifecycle of an import of contacts. The API's `status` is the state, and `checking` is reported as
 * `processing`.
 */
export const contactImportMachine = importSetup.createMachine({
  id: 'contactImport',
  context: ({ input }) => ({
    ...input,
    place: input.first,
    attempt: 0,
    refused: 0,
    startedAt: null,
    endedAt: null,
    failure: null,
  }),
  initial: 'stored',
  states: {
    stored: {
      description: 'Passed through at once; no import is ever stored in it.',
      always: { target: 'queued', actions: [noteTurn, order] },
    },
    queued: {
      description: 'The file is stored. The import waits for its turn.',
      on: {
        ...always,
        'turn.begun': [
          { guard: 'checksFirst', target: 'checking', actions: noteBegin },
          { guard: 'turnIsTheLatest', target: 'processing', actions: noteBegin },
        ],
      },
      after: { lease: { target: 'queued', reenter: true, actions: [noteTurn, order] } },
    },
    checking: {
      description: 'Every row is checked, before the first one is written: `onError=abort`, or a dry run.',
      on: {
        ...always,
        'turn.begun': { guard: 'turnIsTheLatest', target: 'checking', reenter: true, actions: noteBegin },
        'turn.ended': {
          guard: 'turnIsTheLatest',
          target: 'checking',
          reenter: true,
          actions: [noteTurn, order],
        },
        'rows.read': [
          {
            guard: 'someWereRefused',
            target: 'failed',
            actions: [...check, notePlace, noteRefusal, noteEnd, 'dropFile'],
          },
          {
            guard: 'dryRunIsOver',
            target: 'completed',
            actions: [...check, notePlace, noteEnd, 'dropFile'],
          },
          // Nothing was refused, so there is nothing to tell; what the first pass has counted is counted
          // again.
          { guard: 'rowsAreTheLast', target: 'processing', actions: [notePlace, goBack, 'countAnew'] },
          { guard: 'rowsAreNext', target: 'checking', reenter: true, actions: [...check, notePlace] },
        ],
      },
      // A lost turn has committed whole chunks: the next one goes on behind the last of them.
      after: { lease: { target: 'checking', reenter: true, actions: [noteTurn, order] } },
    },
    processing: {
      description: 'Its rows are written, chunk by chunk, each with the place in the file and the counts.',
      on: {
        ...always,
        'turn.begun': { guard: 'turnIsTheLatest', target: 'processing', reenter: true, actions: noteBegin },
        'turn.ended': {
          guard: 'turnIsTheLatest',
          target: 'processing',
          reenter: true,
          actions: [noteTurn, order],
        },
        'rows.read': [
          {
            guard: 'rowsAreTheLast',
            target: 'completed',
            actions: [...write, notePlace, noteEnd, 'dropFile'],
          },
          { guard: 'rowsAreNext', target: 'processing', reenter: true, actions: [...write, notePlace] },
        ],
      },
      after: { lease: { target: 'processing', reenter: true, actions: [noteTurn, order] } },
    },
    completed: {
      type: 'final',
      description: 'Every row is written, or told as refused. A dry run has written nothing.',
    },
    failed: {
      type: 'final',
      description: 'Rows were wrong and `onError=abort` was asked for, so none was written.',
    },
    cancelled: { type: 'final', description: 'A client has ended it. What was written before stays.' },
  },
});

/** The states that an import is stored in. */
export const CONTACT_IMPORT_STATES = storedStates(contactImportMachine, ['stored']);
export type ContactImportState = (typeof CONTACT_IMPORT_STATES)[number];
