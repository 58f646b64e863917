import type { ReactNode } from 'react';
import { Mark } from '../ui/icons.tsx';

/** The frame of the pages before sign-in. */
export function Entrance(props: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <main className="mx-auto grid min-h-full w-full max-w-md content-center gap-5 px-4 py-10">
      <title>{`${props.title} · Posthorn`}</title>
      <header className="flex items-center gap-3">
        <Mark className="size-9" />
        <h1 className="text-[20px] font-semibold tracking-tight">{props.title}</h1>
      </header>
      {props.about !== undefined && <div className="text-dim">{props.about}</div>}
      {props.children !== undefined && (
        <div className="card grid grid-cols-1 gap-4 p-5">{props.children}</div>
      )}
    </main>
  );
}

/** Something that is typed as it is. */
export const Code = ({ children }: { readonly children: ReactNode }) => (
  <code dir="ltr" className="rounded bg-sunk px-1 py-px font-mono text-[12.5px] break-words">
    {children}
  </code>
);
