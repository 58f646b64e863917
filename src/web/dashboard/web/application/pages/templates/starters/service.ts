import {
  amount,
  button,
  card,
  DIVIDER,
  each,
  list,
  message,
  NAME,
  needed,
  note,
  type Starter,
  text,
  title,
  words,
} from './pieces.ts';

/** Messages that a program sends to one person. */
export const SERVICE = {
  welcome: {
    title: 'Welcome',
    about: 'The first message to a new customer',
    content: {
      format: 'mjml',
      subject: 'Welcome, {{ name }}',
      previewText: 'Three minutes to your first result.',
      mjml: message(
        false,
        card([
          title('Welcome, {{ name }}'),
          words('Your account is ready. The next step takes three minutes.'),
          button('Get started', '{{ startUrl }}'),
          words('Is anything unclear? Reply to this email, and a person answers.'),
        ]),
      ),
      variables: [NAME, needed('startUrl')],
    },
  },
  receipt: {
    title: 'Receipt',
    about: 'An order with its products',
    content: {
      format: 'mjml',
      subject: 'Your order {{ number }}',
      previewText: 'Thank you. Here is everything you ordered.',
      mjml: message(
        false,
        card([
          title('Thank you, {{ name }}'),
          words('We have received your order <strong>{{ number }}</strong>.'),
        ]),
        each('items', card([words('{{ item.title }}')], [amount('{{ item.price }}')])),
        card([DIVIDER, amount('<strong>Total {{ total }}</strong>'), button('View order', '{{ orderUrl }}')]),
      ),
      variables: [
        NAME,
        needed('number'),
        needed('total'),
        needed('orderUrl'),
        list('items', { title: 'A book', price: '€ 18.00' }, { title: 'A pen', price: '€ 4.00' }),
      ],
    },
  },
  reset: {
    title: 'Password reset',
    about: 'A link that sets a new password',
    content: {
      format: 'mjml',
      subject: 'Set a new password',
      previewText: 'The link works for {{ minutes }} minutes.',
      mjml: message(
        false,
        card([
          title('Set a new password'),
          words('A new password was asked for, for {{ email }}. The link works for {{ minutes }} minutes.'),
          button('Set password', '{{ resetUrl }}'),
          note('Was it not you? Ignore this email. Your password stays as it is.'),
        ]),
      ),
      variables: [needed('email'), needed('resetUrl'), text('minutes', '30')],
    },
  },
  invitation: {
    title: 'Invitation',
    about: 'An invitation to a team',
    content: {
      format: 'mjml',
      subject: '{{ inviter }} invites you to {{ team }}',
      previewText: 'Accept the invitation to join.',
      mjml: message(
        false,
        card([
          title('Join {{ team }}'),
          words('{{ inviter }} invites you to work together in {{ team }}.'),
          button('Accept invitation', '{{ acceptUrl }}'),
          note('The invitation ends on {{ endsOn }}. If you do not know {{ inviter }}, ignore this email.'),
        ]),
      ),
      variables: [needed('inviter'), needed('team'), needed('acceptUrl'), needed('endsOn')],
    },
  },
  trial: {
    title: 'Trial ending',
    about: 'A reminder before a trial ends',
    content: {
      format: 'mjml',
      subject: 'Your trial ends on {{ endsOn }}',
      previewText: 'Choose a plan to keep everything as it is.',
      mjml: message(
        false,
        card([
          title('Your trial ends on {{ endsOn }}'),
          words('Hello {{ name }},'),
          words('choose a plan before that day, and everything you have set up stays as it is.'),
          button('Choose a plan', '{{ planUrl }}'),
          note('Without a plan your data is kept for {{ days }} days, and then deleted.'),
        ]),
      ),
      variables: [NAME, needed('endsOn'), needed('planUrl'), text('days', '30')],
    },
  },
  invoice: {
    title: 'Invoice',
    about: 'Lines, total and the day it is due',
    content: {
      format: 'mjml',
      subject: 'Invoice {{ number }}',
      previewText: '{{ total }}, due on {{ dueOn }}.',
      mjml: message(
        false,
        card([title('Invoice {{ number }}'), words('{{ customer }}<br />Due on {{ dueOn }}'), DIVIDER]),
        each('lines', card([words('{{ item.title }}')], [amount('{{ item.amount }}')])),
        card([DIVIDER, amount('<strong>Total {{ total }}</strong>'), button('Pay invoice', '{{ payUrl }}')]),
      ),
      variables: [
        needed('number'),
        needed('customer'),
        needed('dueOn'),
        needed('total'),
        needed('payUrl'),
        list('lines', { title: 'Plan, November', amount: '€ 29.00' }, { title: 'Seats', amount: '€ 10.00' }),
      ],
    },
  },
} as const satisfies Record<string, Starter>;
