import { useReducer } from 'react';
import { Button } from '../../ui/button.tsx';

/** HTML that was not whole yet when its block was changed elsewhere: it becomes a block again, or goes. */
export function Orphans(props: { readonly orphans: string[]; readonly onAdd: (html: string) => void }) {
  const [, drawAgain] = useReducer((count: number) => count + 1, 0);
  const [html] = props.orphans;
  if (html === undefined) return null;
  const take = () => {
    props.orphans.shift();
    drawAgain();
  };
  return (
    <div
      role="status"
      data-color="waiting"
      className="grid gap-2 border-b border-(--tint-edge) bg-(--tint) px-3 py-2"
    >
      <p>The block of this unfinished HTML was changed or removed elsewhere.</p>
      <code className="line-clamp-3 font-mono text-caption break-words whitespace-pre-wrap">{html}</code>
      <div className="flex flex-wrap gap-2">
        <Button
          onClick={() => {
            props.onAdd(html);
            take();
          }}
        >
          Add it as a block
        </Button>
        <Button look="quiet" onClick={take}>
          Discard HTML
        </Button>
      </div>
    </div>
  );
}
