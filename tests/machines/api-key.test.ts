import { describe, expect, test } from 'bun:test';
import type { StateValueFrom } from 'xstate';
import { getShortestPaths, getSimplePaths } from 'xstate/graph';
import {
  type ApiKeyContext,
  type ApiKeyEvent,
  type ApiKeyInput,
  apiKeyMachine,
} from '../../machines/api-key/machine.ts';
import type { ActorEvent } from '../../src/engine/machine/kind.ts';
import { LoneActor } from '../support/lone-actor.ts';

type State = StateValueFrom<typeof apiKeyMachine>;

const input: ApiKeyInput = { at: 1_000, permissions: ['emails:read'] };

const everyEvent = (at: number): readonly ActorEvent[] => {
  const replaced = (...permissions: string[]): ApiKeyEvent => ({
    type: 'permissions.replaced',
    at,
    permissions,
  });
  return [
    replaced('emails:read', 'emails:send'),
    replaced('*'),
    replaced(),
    { type: 'revoke.requested', at },
    { type: 'cancel.requested', at },
    { type: 'xstate.after.lease.apiKey.active', at },
  ];
};

const DRAWN: Readonly<Record<State, readonly string[]>> = {
  active: ['permissions.replaced', 'revoke.requested'],
  revoked: [],
};

const traversal = {
  input,
  events: ({ context }: { context: ApiKeyContext }) => everyEvent(context.at + 1) as ApiKeyEvent[],
  serializeState: (({ value, context }: { value: unknown; context: ApiKeyContext }) =>
    JSON.stringify([value, context.permissions])) as never,
};
const paths = [
  ...getShortestPaths(apiKeyMachine, traversal),
  ...getSimplePaths(apiKeyMachine, traversal),
].map(({ steps }) =>
  steps.map(({ event }) => event as ActorEvent).filter(({ type }) => type !== 'xstate.init'),
);

function along(events: readonly ActorEvent[]): LoneActor<ApiKeyContext> {
  const key = new LoneActor<ApiKeyContext>(apiKeyMachine, input, input.at);
  for (const event of events) key.tell(event);
  return key;
}

describe('the life of an API key', () => {
  test('reaches every state that is drawn', () => {
    expect(new Set(paths.map((path) => along(path).state))).toEqual(new Set(Object.keys(DRAWN)));
  });

  test('takes what is drawn and refuses everything else', () => {
    const taken = new Set<string>();
    for (const path of paths)
      for (const event of everyEvent(along(path).context.at + 1)) {
        const key = along(path);
        const { state, context } = key;
        if (key.tell(event)) {
          expect(DRAWN[state as State]).toContain(event.type);
          taken.add(`${state} ${event.type}`);
        } else expect(key.context).toBe(context);
      }
    expect(taken).toEqual(new Set(['active permissions.replaced', 'active revoke.requested']));
  });

  test('keeps its invariants on every path', () => {
    for (const path of paths) {
      const { state, context, effects, delays } = along(path);
      const last = path.at(-1);
      expect(context.at).toBe(last?.at ?? input.at);
      // Revoked exactly when there is a moment of it, which is that of the last event: nothing comes after.
      expect(context.revokedAt).toBe(state === 'revoked' ? context.at : null);
      // The permissions of the last replacement, whole: nothing is merged.
      const replaced = path.findLast(({ type }) => type === 'permissions.replaced') as
        | Partial<ApiKeyContext>
        | undefined;
      expect(context.permissions).toEqual(replaced?.permissions ?? input.permissions);
      expect(effects).toEqual([]);
      expect(delays).toEqual({});
    }
  });
});
