import { describe, expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import Ajv from 'ajv/dist/2020';
import fc from 'fast-check';
import { compileChecker } from '../../../src/http/request/schema.ts';
import { FilterComponent, filterMember } from '../../../src/platform/filters/schema.ts';
import { tree } from '../../support/filter-arbitrary.ts';

/** A document in which the schema lies as in the OpenAPI document. */
const takes = new Ajv({ strict: false }).compile({
  $ref: '#/components/schemas/Filter',
  components: { schemas: { Filter: FilterComponent } },
});

describe('the schema of filters', () => {
  test('takes every filter that is read', () => {
    fc.assert(
      fc.property(tree, (made) => {
        expect(takes(made)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    [{}],
    [{ and: [] }],
    [{ not: [] }],
    [{ field: 'name', operator: 'like', value: 'a' }],
    [{ field: 'name', operator: 'eq' }],
    [{ field: 'name', operator: 'eq', value: null }],
    [{ field: 'at', operator: 'withinLast', value: { amount: 0, unit: 'days' } }],
    [{ or: [{ not: { field: 'name', operator: 'eq', value: 'a', more: 1 } }] }],
  ])('refuses %j', (wrong) => {
    expect(takes(wrong)).toBe(false);
  });

  test('is referred to by a body, which leaves the reading to those who know the fields', () => {
    const body = Type.Object({ filter: filterMember({ description: 'Who is in it.' }) });
    expect(body.properties.filter).toMatchObject({
      $ref: '#/components/schemas/Filter',
      description: 'Who is in it.',
    });
    const check = compileChecker(body);
    expect(check({ filter: { anything: 1 } }, '/body')).toBeNull();
    expect(check({}, '/body')).toHaveLength(1);
  });
});
