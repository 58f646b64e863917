import { expect, test } from 'bun:test';
import type { FlowStep } from '../../machines/flow-run/definition.ts';
import { unfilledTexts } from '../../src/automation/flows/definition/unfilled.ts';

const placesIn = (step: object): readonly string[] =>
  unfilledTexts({ key: 'a', ...step } as FlowStep, '/steps/0/config').map(({ path }) => path);

test('Liquid in the settings of a step is a problem, since only templates fill it in', () => {
  const config = {
    templateId: 'welcome',
    subject: 'Hello {{ contact.firstName }}',
    from: '{{ event.shop }} <shop@sender.example>',
    variables: {
      greeting: 'Hi {% if contact.firstName %}you{% endif %}',
      list: [{ 'a/b': '{{event.name}}', off: '{{ unsubscribeUrl }}' }, 'plain'],
      n: 1,
    },
  };
  expect(placesIn({ type: 'sendEmail', config })).toEqual([
    '/steps/0/config/subject',
    '/steps/0/config/from',
    '/steps/0/config/variables/greeting',
    '/steps/0/config/variables/list/0/a~1b',
    '/steps/0/config/variables/list/0/off',
  ]);
  const change = {
    firstName: '{{ event.name }}',
    properties: { plan: '{{ event.plan }}', seats: 3, none: null },
  };
  expect(placesIn({ type: 'updateContact', config: change })).toEqual([
    '/steps/0/config/firstName',
    '/steps/0/config/properties/plan',
  ]);
});

test('texts without Liquid are none, nor is that of other steps', () => {
  const config = { templateId: 't', subject: 'Save {20 %} { today } }}', variables: { a: '{ b }' } };
  expect(placesIn({ type: 'sendEmail', config })).toEqual([]);
  // A variable is data: a course on Liquid has braces in it.
  const data = { templateId: 't', variables: { title: '{{ name }} {% if x %}', eventful: '{{ contacts }}' } };
  expect(placesIn({ type: 'sendEmail', config: data })).toEqual([]);
  expect(placesIn({ type: 'waitForEvent', config: { name: 'a', filter: { value: '{{' } } })).toEqual([]);
});
