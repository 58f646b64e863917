import { type Static, Type } from '@sinclair/typebox';
import { LanguageTag, OwnLanguage } from '../languages/translation-model.ts';
import { Kind } from '../layers/layer-model.ts';
import { content, dictionary, Format, nullable, TemplateId } from '../model.ts';

const Values = dictionary({
  description: 'Values for the variables, at most 256 KiB as JSON.',
  examples: [{ name: 'Ada' }],
});
const AnyTemplate = Type.String({
  description: 'A template, by its id or alias.',
  examples: ['order-confirmation'],
});

/** The body of `POST /v1/templates/render-preview`. */
export const PreviewBody = Type.Object(
  {
    templateId: Type.Optional(AnyTemplate),
    version: Type.Optional(
      Type.Integer({ minimum: 1, description: 'A version of the template. Default: the published one.' }),
    ),
    kind: Type.Optional(Kind),
    format: Type.Optional(Format),
    layoutId: content.layoutId,
    subject: content.subject,
    previewText: content.previewText,
    html: content.html,
    markdown: content.markdown,
    mjml: content.mjml,
    text: content.text,
    from: content.from,
    replyTo: content.replyTo,
    ownLanguage: Type.Optional(OwnLanguage),
    translations: content.translations,
    language: Type.Optional(
      LanguageTag(
        'The language to show. Without a translation into it, or into the language it belongs to, the content is shown in its own.',
      ),
    ),
    declared: Type.Optional(content.variables),
    variables: Type.Optional(Values),
  },
  { title: 'PreviewTemplate' },
);

const Warning = Type.Object(
  {
    code: Type.String({
      description:
        'One of raw_filter, unused_variables, no_subject, no_unsubscribe_link, encoded_placeholder, foreign_placeholder, image_only, odd_links, no_preferences_page, clipped, image_without_alt, insecure_link, unclosed_tag, mjml, untranslated, untranslated_subject, untranslated_layer.',
    }),
    message: Type.String({ description: 'A sentence about a likely mistake.' }),
    line: nullable(
      Type.Integer({
        description:
          'The line of the rendered html, or with the code mjml, and unclosed_tag in that format, of the mjml, from 1; null when the warning is about no line.',
      }),
    ),
    column: nullable(
      Type.Integer({ description: 'The column in that line, from 1; null where it is not known.' }),
    ),
  },
  { title: 'TemplateWarning' },
);

/** Something in a template that may not be meant. */
export type PreviewWarning = Static<typeof Warning>;

/** The answer of a preview. */
export const Preview = Type.Object(
  {
    templateId: nullable(TemplateId),
    version: nullable(Type.Integer()),
    language: nullable(
      Type.String({
        description: 'The language that was chosen; null where it is the own one and that is not named.',
      }),
    ),
    subject: nullable(Type.String({ description: 'Null when the template has none.' })),
    previewText: nullable(Type.String()),
    html: nullable(Type.String({ description: 'The html part as it would be stored and sent.' })),
    text: nullable(Type.String({ description: 'The text part as it would be sent.' })),
    from: nullable(Type.String()),
    replyTo: Type.Array(Type.String()),
    missingVariables: Type.Array(Type.String(), {
      description:
        'Names that the template uses without a value, such as `order.total`, and required variables without one, of its layouts as well.',
    }),
    warnings: Type.Array(Warning),
    sizeBytes: Type.Integer({
      description: 'Bytes of the html part in UTF-8, or of the text part of a template without html.',
    }),
  },
  { title: 'PreviewOfTemplate' },
);

/** The body of `POST /v1/templates/{id}/test-send`. */
export const TestSendBody = Type.Object(
  {
    to: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 5,
      description: 'Members of the workspace, or addresses at its verified domains. 1 to 5.',
      examples: [['ada@acme.example']],
    }),
    variables: Type.Optional(Values),
    language: Type.Optional(LanguageTag('The language to send.')),
    version: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'A version, such as a draft. Default: the published one.',
      }),
    ),
  },
  { title: 'TestSendTemplate' },
);

export type PreviewBody = Static<typeof PreviewBody>;
export type PreviewView = Static<typeof Preview>;
export type TestSendBody = Static<typeof TestSendBody>;
