import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { SendBody } from '../emails/queries.ts';
import { Addresses, Fields, inLetters, mapOf, orNone, ownFields, Variables } from './frameworks.ts';

// The names of the fields are those of Resend's HTTP interface, as its package sends them.

const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

/** A file in base64; octetsInBase64 has put it in place of a list. */
const FileContent = Type.Union([
  Type.String(),
  Type.Object({ type: Type.Literal('Buffer'), data: Type.String() }, { additionalProperties: false }),
]);

const Attachment = Type.Object(
  {
    filename: optional(Type.String()),
    content: optional(FileContent),
    content_type: optional(Type.String()),
    content_id: optional(Type.String()),
    // The name of `content_id` in 4.8 and 5.0 of the package.
    inline_content_id: optional(Type.String()),
  },
  { additionalProperties: false },
);

const Template = Type.Object(
  { id: Type.String(), variables: optional(Variables) },
  { additionalProperties: false },
);

/**
 * An email as the package sends it. A field that is missing here would be lost silently, so it is refused.
 */
export const ResendEmail = Type.Object(
  {
    from: optional(Type.String()),
    to: Addresses,
    cc: optional(Addresses),
    bcc: optional(Addresses),
    reply_to: optional(Addresses),
    subject: optional(Type.String()),
    html: optional(Type.String()),
    text: optional(Type.String()),
    headers: optional(Fields),
    attachments: optional(Type.Array(Attachment)),
    tags: optional(Type.Array(Type.Object({ name: Type.String(), value: Type.String() }))),
    scheduled_at: optional(Type.String()),
    template: optional(Template),
  },
  { additionalProperties: false },
);

export type ResendEmail = Static<typeof ResendEmail>;

/** Keeps only members with a value, so that the rules of the service see a field that is left out as such. */
const given = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));

/** The same email in the form of this service, whose schema and rules check it. */
export function sendBodyOf(email: ResendEmail): SendBody {
  const { headers, messageId } = ownFields(email.headers);
  return given({
    from: email.from,
    to: inLetters(email.to),
    cc: orNone(email.cc),
    bcc: orNone(email.bcc),
    replyTo: orNone(email.reply_to),
    subject: email.subject,
    html: email.html,
    text: email.text,
    headers,
    messageId,
    tags: email.tags,
    scheduledAt: email.scheduled_at,
    attachments: email.attachments?.map(
      ({ filename, content, content_type, content_id, inline_content_id }) =>
        given({
          filename,
          content: typeof content === 'object' ? content?.data : content,
          contentType: content_type,
          contentId: content_id ?? inline_content_id,
        }),
    ),
    templateId: email.template?.id,
    variables: mapOf(email.template?.variables),
  }) as SendBody;
}

/** A map, since the client chooses names too: a header may be called `constructor`. */
const FOREIGN = new Map([
  ['replyTo', 'reply_to'],
  ['scheduledAt', 'scheduled_at'],
  ['messageId', 'headers/Message-ID'],
  ['templateId', 'template/id'],
  ['variables', 'template/variables'],
]);
const FOREIGN_OF_FILE = new Map([
  ['contentType', 'content_type'],
  ['contentId', 'content_id'],
]);

/** A field of an email of this service: the email's own place, and the names from there on. */
const FIELD = /^(\/body(?:\/emails\/\d+)?)\/([^/]+)(.*)$/;
const FILE_FIELD = /^(\/\d+\/)([^/]+)$/;

/**
 * The pointer of a problem that this service has found, with the names of the package: `/body/replyTo`
 * becomes `/body/reply_to`.
 */
export const foreignPath = (path: string): string =>
  path.replace(FIELD, (_, email: string, name: string, rest: string) => {
    const within =
      name === 'attachments'
        ? rest.replace(FILE_FIELD, (_all, file: string, of: string) => file + (FOREIGN_OF_FILE.get(of) ?? of))
        : rest;
    return `${email}/${FOREIGN.get(name) ?? name}${within}`;
  });

/**
 * The place of a problem as the package writes it: `/body/emails/1/reply_to` is `1.reply_to`, and the whole
 * body is empty.
 */
export const placeOf = (path: string): string =>
  path.replace(/^\/(?:body(?:\/emails(?=\/\d|$))?\/?)?/, '').replaceAll('/', '.');
