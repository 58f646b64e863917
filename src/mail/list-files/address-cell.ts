import { withoutGuard } from '../../platform/csv/write.ts';

/**
 * The address in the cell of a list. Google writes several addresses of one kind into a cell, and programs that read a workbook write the
 * link that Excel makes of an address, `mailto:ann@home.example`.
 */
export function addressOfCell(cell: string): string {
  const [first = ''] = withoutGuard(visible(cell)).split(' ::: ');
  return first.replace(/^mailto:/i, '');
}

/** An address without what is not seen. */
const visible = (cell: string): string =>
  /^[\x21-\x7e]*$/.test(cell)
    ? cell
    : cell
        .replace(/[\u200b-\u200d\u2060\ufeff]/g, '')
        .replaceAll('\u00a0', ' ')
        .trim();
