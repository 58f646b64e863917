/**
 * The weight of a problem: an error is seen by every recipient, a warning by some, and an info is for the
 * author to know.
 */
export const SEVERITIES = ['error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

interface CheckSpec {
  readonly severity: Severity;
  /** In lists of the documentation and the dashboard. */
  readonly title: string;
  /** The rule, for the documentation. */
  readonly rule: string;
}

/** The most octets of html that Gmail shows. */
export const SHOWN_BY_GMAIL = 102_400;
/** The octets of html to which links that are counted and a footer still fit. */
export const CLIPPED = 92_160;
/** The octets from which on an image is heavy. */
export const HEAVY_IMAGE = 1_000_000;
/** The most links and the most images of a message that are asked for. */
export const MOST_ASKED = 50;
/** The most contacts of an audience whose data a check counts. */
export const MOST_COUNTED = 20_000;

const spec = (severity: Severity, title: string, rule: string): CheckSpec => ({ severity, title, rule });

/** Every problem that a check of a message can find. */
export const CHECKS = {
  link_dead: spec(
    'error',
    'Dead link',
    'A link answers 404 or 410, its host does not exist or takes no connection, or its certificate is not trusted.',
  ),
  link_private: spec(
    'error',
    'Link to a private address',
    'A link leads to an address of a private network, which no recipient reaches. It is not followed.',
  ),
  link_in_doubt: spec(
    'warning',
    'Link without a good answer',
    'A link answers 5xx, not in time, or with more than five redirects, or has a user name in its address.',
  ),
  links_left_out: spec(
    'info',
    'Links not followed',
    `Only the first ${MOST_ASKED} links and ${MOST_ASKED} images are followed, for ten seconds together, with at most 20 requests to one host, on the ports 80, 443, 8080 and 8443. None is followed that leads through this service, where following it would count a click or unsubscribe.`,
  ),
  relative_address: spec(
    'error',
    'Address without a host',
    'A link or an image has an address without https:// and a host, such as /tour: a message has no site that it belongs to.',
  ),
  insecure_link: spec('warning', 'Address without TLS', 'An address begins with http.'),
  image_dead: spec(
    'error',
    'Missing image',
    'An image does not answer, as with links, or answers without an image.',
  ),
  image_heavy: spec('warning', 'Heavy image', `An image has more than ${HEAVY_IMAGE / 1_000_000} MB.`),
  image_without_alt: spec('warning', 'Image without alt text', 'An image has no alt attribute.'),
  image_only: spec(
    'info',
    'Little text beside an image',
    'Filters of receivers count few words beside a picture.',
  ),
  odd_links: spec('info', 'Unusual number of links', 'rspamd counts an odd number of addresses.'),
  clipped: spec(
    'error',
    'Too long for Gmail',
    `The html has more than ${SHOWN_BY_GMAIL.toLocaleString('en')} octets (${CLIPPED.toLocaleString('en')} before links and a footer are added): Gmail hides the rest.`,
  ),
  dropped: spec(
    'warning',
    'Left out by mail programs',
    'Outlook for Windows, Gmail or Apple Mail leaves out an element, a property or a format of images.',
  ),
  unclosed_tag: spec('warning', 'Unclosed element', 'An element is closed nowhere.'),
  no_dark_mode: spec(
    'info',
    'Nothing said on dark mode',
    'Neither a meta color-scheme nor a color-scheme in a style sheet says that the message has dark colours.',
  ),
  dark_text: spec(
    'warning',
    'Dark text without a ground',
    'A dark colour of text is fixed, and neither its element nor one around it fixes a ground.',
  ),
  empty_placeholder: spec(
    'warning',
    'Placeholder that stays empty',
    `A name has no value and no default: in a campaign for some contacts of its audience, of which at most ${MOST_COUNTED.toLocaleString('en')} are counted; in a template for each request that does not give it.`,
  ),
  encoded_placeholder: spec(
    'error',
    'Placeholder with encoded braces',
    'An editor has encoded the braces of a placeholder, so that nothing is filled in there.',
  ),
  foreign_placeholder: spec(
    'warning',
    'Placeholder of another service',
    'A word such as *|FNAME|*, %FIRSTNAME% or [[FIRSTNAME]] has the form of placeholders elsewhere. Here it is text.',
  ),
  unfilled_placeholder: spec(
    'error',
    'Placeholder in a finished message',
    'Braces of a placeholder are left in a message that has left.',
  ),
  no_unsubscribe_link: spec(
    'info',
    'No unsubscribe link of the author',
    'Not every recipient sees the link that the author has written. A campaign adds one at the end for them, a flow does not.',
  ),
  no_way_out: spec(
    'error',
    'No way out',
    'A message of a list shows its recipient no link to unsubscribe, or nothing at all renders for one.',
  ),
  no_subject: spec('info', 'No subject', 'A template has no subject: each request has to give one.'),
  untranslated: spec(
    'warning',
    'No such translation',
    'The message has no translation into the language that was asked for, nor into the one it belongs to.',
  ),
  untranslated_subject: spec(
    'warning',
    'Subject in another language',
    'A translation has no subject, so that the one of the template is sent.',
  ),
  untranslated_layer: spec(
    'warning',
    'Layout or partial in another language',
    'A layout or a partial has no translation into the language of the content that takes it.',
  ),
  mjml: spec('warning', 'Note of MJML', 'MJML has left something out or read it in another way.'),
  spam: spec('error', 'Taken for spam', 'SpamAssassin gives the message its threshold of points or more.'),
  spam_rule: spec('info', 'Points of SpamAssassin', 'A rule of SpamAssassin gives half a point or more.'),
  spam_unknown: spec(
    'info',
    'Not checked by SpamAssassin',
    'SPAMASSASSIN_URL is set, and the message is larger than 512,000 octets or SpamAssassin did not answer.',
  ),
  not_rendered: spec(
    'error',
    'Cannot be rendered',
    'What is wrong with the content, as sending would say it.',
  ),
  not_checked: spec(
    'info',
    'Not checked to its end',
    'The html is longer than 256 KiB, has more than 20,000 tags or takes too long to read. Nothing is said of the rest.',
  ),
} as const satisfies Readonly<Record<string, CheckSpec>>;

export type CheckCode = keyof typeof CHECKS;
export const CHECK_CODES = Object.keys(CHECKS) as CheckCode[];

/** Something about a message that its author should know, with what to do about it. */
export interface FoundProblem {
  readonly code: CheckCode;
  /** A sentence with the mend. */
  readonly message: string;
  /**
   * The offset of it in the source that was checked, which is the html where there is none; null where it is
   * at no place.
   */
  readonly at: number | null;
}
