import type { EmailEventType } from '../../../../machines/email/recipient.ts';
import { JSON_TYPE } from '../../../http/body/media-type.ts';
import { EMAIL_EVENTS, EVENT_PHRASES } from '../../../sending/emails/queries.ts';
import type { OpenApiDocument, Parameter } from './document.ts';
import { type NamedSchemas, toJsonSchema } from './json-schema.ts';

const header = (name: string, description: string, pattern: string): Parameter => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', pattern },
});

const HEADERS = [
  header('X-Svc-Webhook-Id', 'The receiving endpoint.', '^wh_[0-9a-hjkmnp-tv-z]{24}$'),
  header(
    'X-Svc-Signature',
    "`t`: the time of the signature, in Unix seconds. `v1`: the HMAC-SHA256 of `<t>.<raw body>` with the endpoint's secret.",
    '^t=\\d+,v1=[0-9a-f]{64}$',
  ),
];

const RESPONSES = {
  '2XX': {
    description:
      'Accepted. Any other answer, including a redirect, or none within 10 seconds, leads to a retry.',
  },
};

/** The requests to webhook endpoints as the `webhooks` of OpenAPI 3.1, one for each type of event. */
export function webhooksOf(named: NamedSchemas): OpenApiDocument['webhooks'] {
  const entries = Object.entries(EMAIL_EVENTS).map(([type, schema]) => {
    const media = { schema: toJsonSchema(schema, named) };
    return [
      type,
      {
        post: {
          operationId: `on${type.charAt(0).toUpperCase()}${type.slice(1)}`,
          tags: ['Webhooks'],
          summary: `An email was ${EVENT_PHRASES[type as EmailEventType]}`,
          description: `${schema.description} It reaches each endpoint whose \`events\` name \`${type}\`, at least once, and always with the same \`id\`.`,
          security: [],
          parameters: HEADERS,
          requestBody: { required: true, content: { [JSON_TYPE]: media } },
          responses: RESPONSES,
        },
      },
    ] as const;
  });
  return Object.fromEntries(entries);
}
