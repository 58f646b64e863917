import type { MergeFieldGroup } from '../message-fields.ts';
import type { Design } from './source/blocks.ts';
import { choicesOf } from './source/edit.ts';

const LIST = /^(\w+)\s+in\s+([\w.]+)/;

/** The fields of the items of each loop around the chosen block. */
export function loopFields(
  design: Design,
  chosen: number | null,
  lists: Readonly<Record<string, readonly string[]>>,
): readonly MergeFieldGroup[] {
  const open: string[] = [];
  for (const { id, block } of choicesOf(design)) {
    if (id === chosen) break;
    if (block?.kind !== 'marker') continue;
    if (block.marker.tag === 'for') open.push(block.marker.words);
    else if (block.marker.tag === 'endfor') open.pop();
  }
  return open.flatMap((words) => {
    const [, item, list = ''] = LIST.exec(words) ?? [];
    if (item === undefined) return [];
    const names = Object.hasOwn(lists, list) ? (lists[list] ?? []) : [];
    return [
      { title: `Each of ${list}`, fields: names.map((name) => ({ label: name, path: `${item}.${name}` })) },
    ];
  });
}
