import { useContext, useLayoutEffect, useRef, useState } from 'react';
import type { Domain } from '../../../../../client/operations.ts';
import { useChange } from '../../api/queries.ts';
import { useMember } from '../../api/viewer.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Form, Labelled, Problems } from '../../ui/forms/form.tsx';
import { icons } from '../../ui/icons.tsx';
import { toast } from '../../ui/overlays/toast.tsx';
import { Card } from '../../ui/page.tsx';
import { PROVIDERS } from './states.ts';

type Way = Domain['provider'];
/** A transport in the order; it keeps its key when it moves. */
interface Place {
  readonly key: number;
  readonly way: Way;
}

/** When each place of the order has its turn. */
const TURNS = ['Transport', 'First fallback', 'Second fallback', 'Third fallback'] as const;
const UNTOLD: ReadonlyMap<string, string> = new Map();

const isOrder = (one: readonly Way[], other: readonly Way[]): boolean => one.join() === other.join();

/** The order of transports that live email leaves by; the service says which of them it has. */
export function Leaving({ domain }: { readonly domain: Domain }) {
  const update = useChange('PATCH /domains/{id}');
  const stored = [domain.provider, ...domain.fallbacks];
  const [edited, setEdited] = useState<readonly Place[] | null>(null);
  // A refusal belongs to the order that was sent, so a change hides it.
  const [isTold, setTold] = useState(true);
  const places = edited ?? stored.map((way, key) => ({ key, way }));

  async function save() {
    const [first = domain.provider, ...fallbacks] = places.map(({ way }) => way);
    const to = (provider: Way, others: readonly Way[]) => ({
      path: { id: domain.id },
      body: { ...(first !== domain.provider && { provider }), fallbacks: [...others] },
    });
    const order = to(first, fallbacks);
    await update.mutateAsync({ ...order, body: { ...order.body, ifUpdatedAt: domain.updatedAt } });
    setEdited(null);
    const words = [first, ...fallbacks].map((way) => `“${PROVIDERS[way]}”`).join(', then ');
    toast(
      `Transport of live email: ${words}`,
      isOrder(stored, [first, ...fallbacks])
        ? null
        : () => update.mutateAsync(to(domain.provider, domain.fallbacks)),
    );
  }

  return (
    <Card
      title="Transports"
      about="The enabled transports of this domain (TRANSPORT), in order. A fallback takes over email that was certainly not accepted."
    >
      <Form action="Save order" look="plain" onSend={save} onRefused={() => setTold(true)}>
        <Order
          places={places}
          isTold={isTold}
          onChange={(next) => {
            setEdited(next);
            setTold(false);
          }}
        />
      </Form>
    </Card>
  );
}

interface OrderShape {
  readonly places: readonly Place[];
  readonly isTold: boolean;
  readonly onChange: (places: readonly Place[]) => void;
}

function Order({ places, isTold, onChange }: OrderShape) {
  const problems = useContext(Problems);
  const list = useRef<HTMLOListElement>(null);
  const [said, setSaid] = useState('');
  const focusNext = useRef<string | null>(null);
  // A browser takes the focus from an element that is moved or removed.
  useLayoutEffect(() => {
    if (focusNext.current === null) return;
    list.current?.querySelector<HTMLElement>(`[data-at="${focusNext.current}"]`)?.focus();
    focusNext.current = null;
  });

  function change(next: readonly Place[], focus: string, words: string) {
    focusNext.current = focus;
    setSaid(words);
    onChange(next);
  }
  function move(from: number, to: number, focus: string) {
    const moved = places[from];
    if (moved && places[to])
      change(
        places.toSpliced(from, 1).toSpliced(to, 0, moved),
        focus,
        `${TURNS[to]}: ${PROVIDERS[moved.way]}.`,
      );
  }
  function remove(index: number, { way }: Place) {
    change(places.toSpliced(index, 1), `${places[index - 1]?.key} way`, `${PROVIDERS[way]} removed`);
  }
  function add(way: Way) {
    const key = Math.max(...places.map((each) => each.key)) + 1;
    change([...places, { key, way }], `${key} way`, '');
  }

  const { transports } = useMember().session;
  const chosen = places.map(({ way }) => way);
  // A stored transport that is no longer enabled stays visible, because its email is held.
  const offered = [...new Set([...transports, ...chosen])];
  const left = transports.find((way) => way !== 'capture' && !chosen.includes(way));
  return (
    <>
      <Problems value={isTold ? problems : UNTOLD}>
        <ol ref={list} className="grid max-w-md gap-3">
          {places.map((place, index) => (
            <li key={place.key} className="grid grid-cols-[minmax(0,1fr)_auto] gap-1">
              <Labelled label={TURNS[index] ?? ''} name={index === 0 ? 'provider' : `fallbacks/${index - 1}`}>
                {(attributes) => (
                  <select
                    {...attributes}
                    data-at={`${place.key} way`}
                    value={place.way}
                    onChange={({ target }) =>
                      onChange(places.with(index, { ...place, way: target.value as Way }))
                    }
                  >
                    {offered.map((way) => (
                      <option key={way} value={way}>
                        {PROVIDERS[way]}
                      </option>
                    ))}
                  </select>
                )}
              </Labelled>
              {places.length > 1 && (
                <div className="mt-7.5 flex">
                  {(['up', 'down'] as const).map((where) => {
                    const to = where === 'up' ? index - 1 : index + 1;
                    const focus = `${place.key} ${where}`;
                    return (
                      <IconButton
                        key={where}
                        label={`Move ${PROVIDERS[place.way]} ${where}`}
                        data-at={focus}
                        // At the end of the order the button keeps the focus, which would otherwise return to
                        // the start of the page.
                        aria-disabled={places[to] === undefined}
                        className="aria-disabled:opacity-40"
                        onClick={() => move(index, to, focus)}
                      >
                        {where === 'up' ? icons.Up : icons.Down}
                      </IconButton>
                    );
                  })}
                  <IconButton
                    label={`Remove ${PROVIDERS[place.way]}`}
                    aria-disabled={index === 0}
                    className="aria-disabled:opacity-40"
                    onClick={() => index > 0 && remove(index, place)}
                  >
                    {icons.Minus}
                  </IconButton>
                </div>
              )}
            </li>
          ))}
        </ol>
      </Problems>
      <output className="sr-only">{said}</output>
      {left !== undefined && places.length < TURNS.length && (
        <Button look="quiet" className="justify-self-start" onClick={() => add(left)}>
          {icons.Plus} Add fallback
        </Button>
      )}
    </>
  );
}
