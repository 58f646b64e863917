import { useRef, useState } from 'react';
import { toast, toastProblem } from '../overlays/toast.tsx';
import { Tick } from './form.tsx';

/** Settings that are on or off: each changes at once, with a toast and an undo. */
export function Switches<Name extends string>(props: {
  readonly values: Readonly<Record<NoInfer<Name>, boolean>>;
  /** The label and the hint of each switch. */
  readonly texts: Readonly<Record<Name, readonly [label: string, hint: string]>>;
  readonly isReadOnly: boolean;
  readonly told: (label: string, value: boolean) => string;
  readonly onChange: (name: Name, value: boolean) => Promise<unknown>;
}) {
  const { values, texts, onChange } = props;
  /** The switches that were turned, as they are shown until the service has them so. */
  const [wanted, setWanted] = useState<ReadonlyMap<Name, boolean>>(new Map());
  const last = useRef<Promise<unknown>>(Promise.resolve());
  const turn = (name: Name, value: boolean): void => {
    setWanted((before) => new Map(before).set(name, value));
    // One after the other: two requests on their way may arrive in another order.
    const turned = last.current.then(() => onChange(name, value));
    const latest = turned.then(
      () => toast(props.told(texts[name][0], value), () => onChange(name, !value)),
      toastProblem,
    );
    last.current = latest;
    void latest.finally(() => last.current === latest && setWanted(new Map()));
  };
  return (Object.keys(texts) as Name[]).map((name) => (
    <Tick
      key={name}
      label={texts[name][0]}
      hint={texts[name][1]}
      checked={wanted.get(name) ?? values[name]}
      disabled={props.isReadOnly}
      onChange={({ target }) => turn(name, target.checked)}
    />
  ));
}
