/** The meter warns from this share of its limit on. */
const NEAR = 0.8;

/** The used share of a limit. */
export const Meter = (props: {
  readonly label: string;
  readonly value: number;
  readonly most: number;
  readonly words: string;
}) => {
  const part = props.most === 0 ? 1 : Math.min(1, props.value / props.most);
  return (
    <div data-color={part >= 1 ? 'bad' : part >= NEAR ? 'waiting' : 'good'} className="grid gap-1.5">
      <svg
        role="img"
        aria-label={`${props.label}: ${props.words}`}
        viewBox="0 0 100 2"
        preserveAspectRatio="none"
        className="h-1.5 w-full overflow-hidden rounded-full bg-hover"
      >
        <rect width={part * 100} height="2" className="fill-(--state)" />
      </svg>
      <p className="num text-caption text-dim">{props.words}</p>
    </div>
  );
};
