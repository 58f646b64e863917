import { type Static, Type } from '@sinclair/typebox';
import { IfUpdatedAt } from '../../../http/if-updated-at.ts';

const orNull = Type.Union([Type.String(), Type.Null()]);

/** The query of a preview. */
export const PreviewQuery = Type.Object({
  contactId: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'The contact of the preview; by default an example contact without properties.',
    }),
  ),
});
/** The type of it. */
export type PreviewQuery = Static<typeof PreviewQuery>;

/** The message that a contact would get. */
export const CampaignPreview = Type.Object(
  {
    from: Type.String(),
    subject: Type.String(),
    html: orNull,
    text: orNull,
    warnings: Type.Array(
      Type.Object(
        {
          code: Type.String({
            description: 'One of no_unsubscribe_link, encoded_placeholder, image_only, odd_links.',
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
  { title: 'CampaignPreview' },
);
/** The type of it. */
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
        description: 'The contact of the email; by default an example contact without properties.',
      }),
    ),
    ifUpdatedAt: IfUpdatedAt,
  },
  { title: 'TestSendCampaign', additionalProperties: false },
);
/** The type of it. */
export type TestSendBody = Static<typeof TestSendBody>;
