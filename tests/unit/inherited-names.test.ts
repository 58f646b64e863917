import { expect, test } from 'bun:test';
import { sanitiseHtml } from '../../src/mail/content/sanitise.ts';
import { cleanSegment } from '../../src/mail/content/segments.ts';
import { ownOf } from '../../src/platform/text/own-member.ts';
import {
  changesOfProperties,
  rowsOf,
} from '../../src/web/dashboard/web/application/pages/contacts/property-rows.ts';
import { valuesOf } from '../../src/web/dashboard/web/application/pages/templates/draft.ts';

// People may choose names that every object inherits.

for (const name of Object.getOwnPropertyNames(Object.prototype)) {
  test(`${name}: is no member of an object that does not have it`, () => {
    expect(ownOf({ a: 1 }, name)).toBeUndefined();
    expect(ownOf({ [name]: 1 }, name)).toBe(1);
  });

  test(`${name}: an attribute of this name leaves an image and a block as they are`, () => {
    const image = '<img src="https://x.example/a.png" alt="b" />';
    expect(sanitiseHtml(`<img src="https://x.example/a.png" ${name}="1" alt="b">`)).toBe(image);
    const attrs = Object.fromEntries([[name, '1']]);
    expect(() => cleanSegment({ type: 'block', content: 'a', attrs } as never, () => false)).not.toThrow();
  });

  test(`${name}: a variable of this name has no value before one is entered`, () => {
    const variable = { id: 1, key: name, type: 'string', required: true, fallback: '' } as const;
    expect(valuesOf({ variables: [variable] } as never, {})).toEqual({});
  });

  // No property may begin with an underscore.
  if (name.startsWith('_')) continue;
  test(`${name}: a property of this name is removed and set like any other`, () => {
    const rows = rowsOf({ [name]: 'x', other: 'y' });
    expect(changesOfProperties(rows.slice(1), rows)).toEqual({ [name]: null });
    expect(changesOfProperties(rows, rows.slice(1))).toEqual({ [name]: 'x' });
    expect(changesOfProperties(rows, rows)).toEqual({});
  });
}
