import { expect, test } from 'bun:test';
import { apiKeyKind } from '../../../src/accounts/api-keys/kind.ts';
import { contactImportKind } from '../../../src/audience/contacts/imports/kind.ts';
import { Definitions } from '../../../src/engine/machine/definitions.ts';
import { Actors } from '../../../src/engine/runtime/known-actors.ts';

// While instances are replaced, an older one meets rows of a newer one: it leaves them to those that know
// what they mean.

for (const kind of [contactImportKind, apiKeyKind])
  test(`${kind.name}: a row of a newer version is not decided here, one of an earlier version is`, () => {
    const restore = (machine_version: number) =>
      new Actors(kind).restore(
        {
          id: 'x_1',
          workspace_id: 'ws_1',
          livemode: true,
          context: {},
          timers: null,
          revision: 1,
          state: kind.states[0] as string,
          machine_version,
        },
        new Definitions(kind, undefined).load([]) as never,
      );
    expect(restore(kind.version).revision).toBe(1);
    expect(restore(1).revision).toBe(1);
    expect(() => restore(kind.version + 1)).toThrow('Update this instance.');
  });
