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
  const turn = async (name: Name, value: boolean) => {
    await onChange(name, value);
    toast(props.told(texts[name][0], value), () => onChange(name, !value));
  };
  return (Object.keys(texts) as Name[]).map((name) => (
    <Tick
      key={name}
      label={texts[name][0]}
      hint={texts[name][1]}
      checked={values[name]}
      disabled={props.isReadOnly}
      onChange={({ target }) => void turn(name, target.checked).catch(toastProblem)}
    />
  ));
}
