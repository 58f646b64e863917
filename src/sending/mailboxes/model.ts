import { type Static, Type } from '@sinclair/typebox';
import { IfUpdatedAt } from '../../http/if-updated-at.ts';
import { pageQuery } from '../../http/lists/pagination.ts';
import { literals } from '../../http/request/schema.ts';

/** The most mailboxes of one environment of a workspace. */
export const MOST_MAILBOXES = 10;

const Host = Type.String({
  minLength: 1,
  maxLength: 253,
  description: 'The name of the IMAP server, at a public address. Its certificate has to name it.',
  examples: ['imap.example.com'],
});
const Port = Type.Integer({
  minimum: 1,
  maximum: 65_535,
  description: 'By default 993 for `tls`, and 143 for `starttls`.',
});
const Security = literals(['tls', 'starttls'], {
  description:
    '`tls`, the default: encrypted from the first octet on. `starttls`: encrypted before the login. There is no other, so that the password is never sent in the clear.',
});
const Username = Type.String({ minLength: 1, maxLength: 320, examples: ['support@example.com'] });
const Password = Type.String({
  minLength: 1,
  maxLength: 1_000,
  description:
    'The password of the account; Gmail and others ask for one of an application. It is stored sealed, and never shown.',
});
const Folder = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'The folder that is read, by default `INBOX`. After a change only later messages are read.',
});
const Paused = Type.Boolean({ description: 'True while it is not read.' });

/** The body of POST /v1/mailboxes. */
export const CreateMailbox = Type.Object(
  {
    host: Host,
    port: Type.Optional(Port),
    security: Type.Optional(Security),
    username: Username,
    password: Password,
    folder: Type.Optional(Folder),
    paused: Type.Optional(Paused),
  },
  { title: 'CreateMailbox' },
);

/** The body of PATCH /v1/mailboxes/{id}. */
export const PatchMailbox = Type.Object(
  {
    host: Type.Optional(Host),
    port: Type.Optional(Port),
    security: Type.Optional(Security),
    username: Type.Optional(Username),
    password: Type.Optional(Password),
    folder: Type.Optional(Folder),
    paused: Type.Optional(Paused),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'UpdateMailbox', minProperties: 1 },
);

/** A mailbox that is read by IMAP. */
export const Mailbox = Type.Object(
  {
    id: Type.String({ examples: ['mbx_01m7xj1rwzprnwr10308attx'] }),
    livemode: Type.Boolean(),
    host: Host,
    port: Port,
    security: Security,
    username: Username,
    folder: Folder,
    status: literals(['waiting', 'connected', 'failing', 'paused'], {
      description:
        '`waiting`: no instance has opened it yet. `connected`: it is read. `failing`: it cannot be read, see `reason`, and is tried again at `nextAttemptAt`.',
    }),
    reason: Type.Union([Type.String(), Type.Null()], {
      description: 'Why it cannot be read, and what to do, in words; null where it can.',
    }),
    since: Type.String({ format: 'date-time', description: 'When the status began.' }),
    nextAttemptAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    taken: Type.Integer({
      description: 'The messages that routes have taken, bounces and complaints included.',
    }),
    skipped: Type.Integer({
      description:
        'The messages that no route takes, that are too large, that are spam at a route that refuses it, or that the server does not give out.',
    }),
    lastTakenAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { title: 'Mailbox' },
);

export const MailboxQuery = Type.Object(pageQuery);

export type MailboxView = Static<typeof Mailbox>;
export type NewMailbox = Static<typeof CreateMailbox>;
export type MailboxPatch = Static<typeof PatchMailbox>;
export type MailboxQuery = Static<typeof MailboxQuery>;
