import { type FormEvent, useState } from 'react';
import type { Machine } from '../../../../../live/model.ts';
import { icons } from '../../ui/icons.tsx';
import { useOpenView } from './address.ts';

/** A whole id opens its actor; a prefix lists the matching actors. */
export function Find({ machines }: { readonly machines: readonly Machine[] }) {
  const openView = useOpenView();
  const [problem, setProblem] = useState<string | null>(null);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('id') ?? '')
      .trim()
      .toLowerCase();
    const machine = machines.find(({ idPrefix }) => text.startsWith(`${idPrefix}_`));
    if (!machine) {
      const prefixes = machines.map(({ idPrefix }) => `${idPrefix}_`).join(', ');
      return setProblem(`An ID begins with ${prefixes}.`);
    }
    setProblem(null);
    (document.activeElement as HTMLElement | null)?.blur();
    openView({
      kind: machine.kind,
      ...(text.length === machine.idPrefix.length + 25 ? { id: text } : { state: `id:${text}` }),
    });
  }
  return (
    <search className="relative ml-1 max-w-72 min-w-0 flex-1">
      <form onSubmit={submit}>
        <span className="pointer-events-none absolute top-2 left-2.5 text-faint">{icons.Search}</span>
        <input
          id="find"
          data-search
          name="id"
          aria-label="Find an actor by its ID"
          autoComplete="off"
          spellCheck={false}
          placeholder="Find by ID"
          onChange={() => setProblem(null)}
          className="h-8 w-full rounded-lg border border-edge bg-page pr-8 pl-8 font-mono text-[12px] placeholder:font-sans placeholder:text-faint"
        />
        <kbd className="pointer-events-none absolute top-1.5 right-2 hidden rounded border border-edge px-1.5 text-[11px] text-faint md:block">
          /
        </kbd>
        {problem !== null && (
          <p
            role="alert"
            className="rise absolute top-10 left-0 z-20 rounded-lg border border-edge bg-raised px-3 py-2 text-[12px] shadow-pop"
          >
            {problem}
          </p>
        )}
      </form>
    </search>
  );
}
