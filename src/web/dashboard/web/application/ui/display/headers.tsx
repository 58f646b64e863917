import { Card } from '../page.tsx';

interface Header {
  readonly name: string;
  readonly value: string;
}

/** The header fields of a message, as they are written in it. */
export const Headers = ({ headers }: { readonly headers: readonly Header[] }) => (
  <Card title="Headers">
    <dl className="grid gap-1.5 font-mono text-caption">
      {headers.map(({ name, value }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a header may come twice, and none ever moves
        <div key={index} className="break-all">
          <dt className="inline font-semibold">{name}: </dt>
          <dd className="inline text-dim">{value}</dd>
        </div>
      ))}
    </dl>
  </Card>
);
