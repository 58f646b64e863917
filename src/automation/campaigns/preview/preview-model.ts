import { type Static, Type } from '@sinclair/typebox';
import { IfUpdatedAt } from '../../../http/if-updated-at.ts';
import { LONGEST_TAG } from '../../../platform/text/language.ts';

const orNull = Type.Union([Type.String(), Type.Null()]);

export const PreviewQuery = Type.Object({
  contactId: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'The contact of the preview, which needs `contacts:read`; by default an example contact without properties.',
    }),
  ),
});
export type PreviewQuery = Static<typeof PreviewQuery>;

export const CheckQuery = Type.Object({
  language: Type.Optional(
    Type.String({
      minLength: 2,
      maxLength: LONGEST_TAG,
      description:
        'The language of the contacts whose message is checked (BCP 47). Default: the own one of the template. A campaign with a language is checked in that one.',
      examples: ['de'],
    }),
  ),
});
export type CheckQuery = Static<typeof CheckQuery>;

/** The message that a contact would get. */
export const CampaignPreview = Type.Object(
  {
    from: Type.String(),
    language: Type.Union([
      Type.String({
        description:
          'The language that was chosen for the contact; null where the content is in its own, and that is not named.',
      }),
      Type.Null(),
    ]),
    subject: Type.String(),
    html: orNull,
    text: orNull,
    warnings: Type.Array(
      Type.Object(
        {
          code: Type.String({
            description:
              'One of no_unsubscribe_link, encoded_placeholder, foreign_placeholder, image_only, odd_links.',
          }),
          message: Type.String({ description: 'A sentence with the fix.' }),
        },
        { title: 'CampaignWarning' },
      ),
      {
        description: 'Suggestions for the author. None of them prevents sending.',
      },
    ),
  },
  { title: 'PreviewOfCampaign' },
);
export type PreviewView = Static<typeof CampaignPreview>;

/** The body of `POST /v1/campaigns/{id}/test-send`. */
export const TestSendBody = Type.Object(
  {
    to: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 5,
      description: 'Members of the workspace, or addresses at one of its verified domains.',
    }),
    contactId: Type.Optional(
      Type.String({
        maxLength: 100,
        description:
          'The contact of the email, which needs `contacts:read`; by default an example contact without properties.',
      }),
    ),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'TestSendCampaign', additionalProperties: false },
);
export type TestSendBody = Static<typeof TestSendBody>;
