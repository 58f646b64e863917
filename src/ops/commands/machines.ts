import { type Lifecycle, lifecycles } from '../../../machines/catalogue.ts';
import { type Drawing, draw } from '../../engine/drawing/moves.ts';
import { toMermaid } from '../../engine/drawing/page.ts';
import { toStately } from '../../engine/drawing/source.ts';
import type { Terminal } from './terminal.ts';
import type { MachineFormat } from './words.ts';

const FORMATS = {
  mermaid: (drawing: Drawing) => `${toMermaid(drawing)}\n`,
  json: (drawing: Drawing) => `${JSON.stringify(drawing, null, 2)}\n`,
  stately: toStately,
} satisfies Record<MachineFormat, (drawing: Drawing) => string>;

/** `posthorn machines [name]` lists the lifecycles or shows one. */
export function showMachines(name: string | undefined, format: MachineFormat, terminal: Terminal): number {
  if (name === undefined) {
    const width = Math.max(...lifecycles.map((lifecycle) => lifecycle.name.length));
    terminal.out(
      lifecycles.map((lifecycle) => `${lifecycle.name.padEnd(width)}  ${lifecycle.about}\n`).join(''),
    );
    return 0;
  }
  const found = lifecycles.find((lifecycle: Lifecycle) => lifecycle.name === name);
  if (found === undefined) {
    const names = lifecycles.map((lifecycle) => lifecycle.name).join(', ');
    terminal.error(`There is no machine "${name}". There are: ${names}.\n`);
    return 2;
  }
  terminal.out(FORMATS[format](draw(found.machine)));
  return 0;
}
