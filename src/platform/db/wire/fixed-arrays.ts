import { PGlite, types } from '@electric-sql/pglite';

/**
 * The types whose arrays are read and written, each with the type of its array: numbers that PostgreSQL's
 * catalogue has for good.
 */
export const ARRAYS: readonly (readonly [type: number, array: number])[] = [
  [types.BOOL, 1000],
  [types.BYTEA, 1001],
  [types.CHAR, 1002],
  [19, 1003], // name
  [types.INT2, 1005],
  [types.INT4, 1007],
  [types.TEXT, 1009],
  [types.XID, 1011],
  [types.BPCHAR, 1014],
  [types.VARCHAR, 1015],
  [types.INT8, 1016],
  [types.FLOAT4, 1021],
  [types.FLOAT8, 1022],
  [types.OID, 1028],
  [types.INET, 1041],
  [types.CIDR, 651],
  [types.TIMESTAMP, 1115],
  [types.DATE, 1182],
  [types.TIME, 1183],
  [types.TIMESTAMPTZ, 1185],
  [types.INTERVAL, 1187],
  [types.NUMERIC, 1231],
  [types.JSON, 199],
  [types.JSONB, 3807],
  [types.UUID, 2951],
  [5069, 271], // xid8
];

const asText = (text: string): string => text;

/**
 * PGlite that knows these arrays from the beginning. It would ask the catalogue for all of them while it
 * opens, which takes a twentieth of a start. A query answers other types of array as text.
 */
export class WithFixedArrays extends PGlite {
  override async _initArrayTypes(): Promise<void> {
    const { arrayParser, arraySerializer } = types;
    for (const [type, array] of ARRAYS) {
      this.parsers[array] = (text) => arrayParser(text, this.parsers[type] ?? asText, array);
      this.serializers[array] = (values) => arraySerializer(values, this.serializers[type], array);
    }
  }
}
