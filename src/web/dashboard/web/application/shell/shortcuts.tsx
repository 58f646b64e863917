import { useState } from 'react';
import { useLocation } from 'wouter';
import { useViewer } from '../api/viewer.tsx';
import { Dialog } from '../ui/overlays/dialog.tsx';
import { singleKeys } from './keys.ts';
import { pageNameOf, useOpenPages } from './navigation.tsx';

const OF_ALL = {
  Esc: 'Close',
  t: 'Theme: system, light, dark',
  '?': 'Show this list',
} as const;
const OF_MEMBERS = {
  'Ctrl K, ⌘ K': 'Search pages, emails, contacts and campaigns',
  '/': 'Filter the list',
  c: 'Create',
  'j  k': 'Next and previous row',
  Enter: 'Open the row',
} as const;

/** The keys that do something. */
export function Shortcuts({ onClose }: { readonly onClose: () => void }) {
  const [areOn, setOn] = useState(singleKeys.areOn);
  const { session } = useViewer();
  const [path] = useLocation();
  const open = useOpenPages();
  const pages = open.flatMap(({ key, title }) => (key ? [[`g ${key}`, title] as const] : []));
  const here = open.find(({ name }) => name === pageNameOf(path));
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} width="max-w-2xl">
      <div className="grid gap-x-10 gap-y-6 sm:grid-cols-2">
        {here?.keys && <Keys title={here.title} keys={Object.entries(here.keys)} />}
        <Keys title="Everywhere" keys={Object.entries({ ...(session && OF_MEMBERS), ...OF_ALL })} />
        {session && <Keys title="Go to" keys={pages} />}
      </div>
      <label className="flex items-center gap-2.5 border-t border-edge pt-4">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={areOn}
          onChange={({ target }) => {
            singleKeys.turn(target.checked);
            setOn(target.checked);
          }}
        />
        Single-key shortcuts
      </label>
    </Dialog>
  );
}

const Keys = (props: { readonly title: string; readonly keys: readonly (readonly [string, string])[] }) => (
  <section aria-label={props.title} className="grid content-start gap-2">
    <h3 className="text-caption font-medium text-dim">{props.title}</h3>
    <dl className="grid gap-1.5">
      {props.keys.map(([keys, what]) => (
        <div key={keys} className="flex items-baseline justify-between gap-4">
          <dd>{what}</dd>
          <dt className="order-2 shrink-0">
            <kbd className="kbd">{keys}</kbd>
          </dt>
        </div>
      ))}
    </dl>
  </section>
);
