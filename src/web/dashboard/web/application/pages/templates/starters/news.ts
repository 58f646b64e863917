import {
  button,
  card,
  DIVIDER,
  each,
  heading,
  LINK,
  list,
  message,
  needed,
  note,
  READER,
  type Starter,
  text,
  title,
  words,
} from './pieces.ts';

/** Messages of campaigns and flows, each with a link to unsubscribe. */
export const NEWS = {
  newsletter: {
    title: 'Newsletter',
    about: 'A few stories, each with a link',
    content: {
      format: 'mjml',
      subject: 'News of {{ month }}',
      previewText: 'What happened, and what comes next.',
      mjml: message(
        true,
        card([
          title('News of {{ month }}'),
          words(`Hello ${READER}, here is what happened, and what comes next.`),
        ]),
        card([
          heading('The first story'),
          words('Two or three sentences about it.'),
          button('Read the story', '{{ storyUrl }}'),
        ]),
        card(
          [heading('Also new'), words('Something short.')],
          [heading('Coming soon'), words('Something to look forward to.')],
        ),
      ),
      variables: [text('month', 'November'), text('storyUrl', 'https://example.com')],
    },
  },
  digest: {
    title: 'Digest',
    about: 'A list that your program fills in',
    content: {
      format: 'mjml',
      subject: 'Your week: {{ stories.size }} new stories',
      previewText: 'The most read of the last seven days.',
      mjml: message(
        true,
        card([title('Your week'), words(`Hello ${READER}, these were read most.`)]),
        each(
          'stories',
          card([
            DIVIDER,
            heading('{{ item.title }}'),
            words('{{ item.text }}'),
            words(`<a href="{{ item.url }}" style="${LINK}">Read more</a>`),
          ]),
        ),
      ),
      variables: [
        list(
          'stories',
          { title: 'The first story', text: 'A sentence about it.', url: 'https://example.com' },
          { title: 'The second story', text: 'A sentence about it.', url: 'https://example.com' },
        ),
      ],
    },
  },
  announcement: {
    title: 'Announcement',
    about: 'One piece of news, with its reasons',
    content: {
      format: 'mjml',
      subject: '{{ product }} is here',
      previewText: 'What it does, and how to try it.',
      mjml: message(
        true,
        card([
          title('{{ product }} is here'),
          words('Say in two sentences what it does, and for whom.'),
          words(
            '<ul><li>The first thing it makes easier</li><li>The second one</li><li>The third one</li></ul>',
          ),
          button('Try it', '{{ tryUrl }}'),
        ]),
      ),
      variables: [text('product', 'The new editor'), text('tryUrl', 'https://example.com')],
    },
  },
  event: {
    title: 'Event',
    about: 'An invitation with time and place',
    content: {
      format: 'mjml',
      subject: 'You are invited: {{ title }}',
      previewText: '{{ when }}, {{ where }}.',
      mjml: message(
        true,
        card([title('{{ title }}'), words(`Hello ${READER}, we would like to see you there.`)]),
        card([heading('When'), words('{{ when }}')], [heading('Where'), words('{{ where }}')]),
        card([button('Save my place', '{{ signUpUrl }}')]),
      ),
      variables: [
        text('title', 'Open day'),
        text('when', 'Thursday, 4 June, 18:00'),
        text('where', 'Main Street 1, Vienna'),
        text('signUpUrl', 'https://example.com'),
      ],
    },
  },
  feedback: {
    title: 'Feedback',
    about: 'A question with three answers',
    content: {
      format: 'mjml',
      subject: 'How was it, {{ contact.firstName | default: "friend" }}?',
      previewText: 'One click is enough.',
      mjml: message(
        true,
        card([title('How was it?'), words(`Hello ${READER}, how satisfied are you with {{ product }}?`)]),
        card(
          [button('Good', '{{ surveyUrl }}?answer=good')],
          [button('Fair', '{{ surveyUrl }}?answer=fair')],
          [button('Poor', '{{ surveyUrl }}?answer=poor')],
        ),
        card([note('Your answer helps us to decide what to improve next.')]),
      ),
      variables: [text('product', 'our service'), text('surveyUrl', 'https://example.com/survey')],
    },
  },
  winback: {
    title: 'Win back',
    about: 'For customers who have not come back',
    content: {
      format: 'mjml',
      subject: 'We have not seen you for a while',
      previewText: 'Here is what is new since then.',
      mjml: message(
        true,
        card([
          title('It has been a while'),
          words(`Hello ${READER}, much is new since your last visit:`),
          words('<ul><li>Something that is faster now</li><li>Something that many asked for</li></ul>'),
          button('See what is new', '{{ returnUrl }}'),
          note('Use the code <strong>{{ code }}</strong> before {{ endsOn }}.'),
        ]),
      ),
      variables: [text('returnUrl', 'https://example.com'), text('code', 'WELCOME-BACK'), needed('endsOn')],
    },
  },
} as const satisfies Record<string, Starter>;
