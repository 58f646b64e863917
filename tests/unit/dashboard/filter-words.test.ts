import { expect, test } from 'bun:test';
import { filterText } from '../../../src/web/dashboard/web/application/pages/audiences/filter-words.ts';

const plan = { field: 'properties.plan', operator: 'eq', value: 'pro' };
const status = { field: 'status', operator: 'eq', value: 'subscribed' };
const period = { amount: 2, unit: 'days' };

test.each<[string, unknown]>([
  ['plan is pro', plan],
  ['plan is pro and Status is subscribed', { and: [plan, status] }],
  ['plan is pro or (plan is pro and Status is subscribed)', { or: [plan, { and: [plan, status] }] }],
  ['not plan is pro', { not: plan }],
  ['not (plan is pro or Status is subscribed)', { not: { or: [plan, status] } }],
  ['Opened an email in the last 2 days', { field: 'activity.opened', operator: 'withinLast', value: period }],
  ['Added more than 2 days ago', { field: 'createdAt', operator: 'olderThan', value: period }],
  ['order.placed ever', { field: 'activity.event:order.placed', operator: 'exists', value: true }],
  ['seats is more than 5', { field: 'properties.seats', operator: 'gt', value: 5 }],
  ['vip is true', { field: 'properties.vip', operator: 'eq', value: true }],
  ['country is one of AT, DE', { field: 'properties.country', operator: 'in', value: ['AT', 'DE'] }],
  ['Audience is in News', { field: 'audiences', operator: 'eq', value: 'aud_1' }],
  ['', { and: [] }],
  ['', 'no filter'],
])('a filter in words: %s', (text, filter) => {
  expect(filterText(filter, { aud_1: 'News' })).toBe(text);
});
