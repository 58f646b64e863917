import { Type } from '@sinclair/typebox';
import { type Route, route } from '../../http/request/route.ts';
import { createMailbox, deleteMailbox, type MailboxCommands, patchMailbox } from './commands.ts';
import { CreateMailbox, Mailbox, MailboxQuery, MOST_MAILBOXES, PatchMailbox } from './model.ts';
import { listMailboxes, mailboxDetail } from './queries.ts';

const MAILBOX_ID = { prefix: 'mbx', resource: 'mailbox' } as const;

const EXAMPLE = {
  id: 'mbx_01m7xj1rwzprnwr10308attx',
  livemode: true,
  host: 'imap.example.com',
  port: 993,
  security: 'tls' as const,
  username: 'support@example.com',
  folder: 'INBOX',
  status: 'connected' as const,
  reason: null,
  since: '2026-11-20T21:33:04.000Z',
  nextAttemptAt: null,
  taken: 12,
  skipped: 3,
  lastTakenAt: '2026-11-20T22:43:19.000Z',
  createdAt: '2026-11-20T21:33:00.000Z',
  updatedAt: '2026-11-20T21:33:00.000Z',
};
const NEW = {
  ...EXAMPLE,
  status: 'waiting' as const,
  since: EXAMPLE.createdAt,
  taken: 0,
  skipped: 0,
  lastTakenAt: null,
};

export const mailboxRoutes = (deps: MailboxCommands): readonly Route[] => [
  route('POST /v1/mailboxes', {
    name: 'createMailbox',
    audit: { action: 'mailbox.created' },
    permission: 'domains:write',
    summary: 'Create a mailbox',
    description: `Messages that come to it from then on go through the inbound routes of the environment, as those by SMTP; bounces and complaints among them count. Nothing in the mailbox is changed. A few seconds later \`status\` says whether it can be read. At most ${MOST_MAILBOXES} an environment.`,
    body: CreateMailbox,
    response: Mailbox,
    status: 201,
    failures: ['QUOTA_EXCEEDED'],
    example: {
      body: { host: EXAMPLE.host, username: EXAMPLE.username, password: 'a password of your own' },
      response: NEW,
    },
    handle: (call) => createMailbox(deps, call),
  }),
  route('GET /v1/mailboxes', {
    name: 'listMailboxes',
    permission: 'domains:read',
    summary: 'List mailboxes',
    description: "Newest first; those of the key's environment.",
    query: MailboxQuery,
    response: Type.Array(Mailbox),
    example: { response: [EXAMPLE] },
    handle: (call) => listMailboxes(deps, call),
  }),
  route('GET /v1/mailboxes/:id', {
    name: 'getMailbox',
    permission: 'domains:read',
    summary: 'Get a mailbox',
    description: 'Its settings without the password, and whether it can be read.',
    params: { id: MAILBOX_ID },
    response: Mailbox,
    example: { response: EXAMPLE },
    handle: (call) => mailboxDetail(deps, call),
  }),
  route('PATCH /v1/mailboxes/:id', {
    name: 'updateMailbox',
    audit: { action: 'mailbox.changed' },
    permission: 'domains:write',
    summary: 'Change a mailbox',
    description:
      'Members that are left out stay as they are, and it is tried again at once. Another host or username needs the password with it. With another host, username or folder it is read from the next message on.',
    params: { id: MAILBOX_ID },
    body: PatchMailbox,
    response: Mailbox,
    failures: ['CONFLICT'],
    example: { body: { paused: true }, response: { ...EXAMPLE, status: 'paused' } },
    handle: (call) => patchMailbox(deps, call),
  }),
  route('DELETE /v1/mailboxes/:id', {
    name: 'deleteMailbox',
    audit: { action: 'mailbox.deleted' },
    permission: 'domains:write',
    summary: 'Delete a mailbox',
    description: 'It is read no more. Messages that were read of it stay, here and there.',
    params: { id: MAILBOX_ID },
    handle: (call) => deleteMailbox(deps, call),
  }),
];
