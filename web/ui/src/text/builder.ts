// What the filter builder offers: one field of the filter language a line, under the tabs that bytehound has.

import { quoted } from './filter';

export type FieldKind = 'from-to' | 'flag' | 'regex' | 'text' | 'one';

export interface Field {
  label: string;
  kind: FieldKind;
  field: string;
  example?: string;
}

export interface Tab {
  name: string;
  fields: Field[];
}

const fromTo = (label: string, field: string, example: string): Field => ({ label, kind: 'from-to', field, example });
const flag = (label: string, field: string): Field => ({ label, kind: 'flag', field });
const regex = (label: string, field: string, example: string): Field => ({ label, kind: 'regex', field, example });
const text = (label: string, field: string, example: string): Field => ({ label, kind: 'text', field, example });
const one = (label: string, field: string, example: string): Field => ({ label, kind: 'one', field, example });

export const TABS: Tab[] = [
  {
    name: 'Time',
    fields: [
      fromTo('Allocated', 'born', '1.5s or 20%'),
      fromTo('Freed', 'died', '80%'),
      one('Alive at', 'alive at', 'rss-peak'),
      text('After the mark', 'last-mark =', 'load'),
    ],
  },
  {
    name: 'Size',
    fields: [
      fromTo('Size', 'size', '1MiB'),
      fromTo('Given by the allocator', 'usable', '64K'),
      fromTo('Waste', 'waste', '4K'),
      fromTo('Alignment', 'alignment', '4K'),
    ],
  },
  {
    name: 'Lifetime',
    fields: [
      fromTo('Lifetime', 'lifetime', '10ms'),
      fromTo('Events in it', 'lifetime-events', '2'),
      flag('Never freed', 'leaked'),
      flag('Freed at some time', 'not leaked'),
      flag('Temporary: freed before the next allocation', 'temporary'),
    ],
  },
  {
    name: 'Stack',
    fields: [
      regex('A function matches', 'function ~', 'parse'),
      regex('No function matches', 'not function ~', '^std::'),
      regex('A source file matches', 'file ~', '/json/'),
      regex('No source file matches', 'not file ~', '/usr/include'),
      regex('A module matches', 'module ~', 'libssl'),
      text('The innermost function is', 'leaf =', 'strdup'),
      fromTo('Frames', 'depth', '100'),
      one('Stack number', 'stack =', '812'),
      flag('For a static initialiser', 'static-init'),
    ],
  },
  {
    name: 'Thread',
    fields: [
      text('Allocated by', 'thread =', 'worker-3'),
      text('Freed by', 'freed-by =', 'main'),
      text('Freed by any other than', 'freed-by !=', 'main'),
      text('In the scope, or one within it', 'scope =', 'load'),
      flag('In no scope', 'scope = "(no scope)"'),
    ],
  },
  {
    name: 'Group',
    fields: [
      fromTo('Allocations of the same stack', 'group-allocations', '1000'),
      fromTo('Bytes of the same stack', 'group-bytes', '1G'),
      fromTo('Never freed of them', 'group-leaked', '50%'),
      fromTo('First to last', 'group-interval', '20%'),
      flag('None of them was freed', 'group-all-leaked'),
    ],
  },
  {
    name: 'Chain',
    fields: [
      fromTo('Blocks in the chain of reallocs', 'chain-length', '10'),
      fromTo('Position in it', 'chain-position', '0'),
      fromTo('First size', 'first-size', '64'),
      fromTo('Last size', 'last-size', '1M'),
      fromTo('Lifetime of the chain', 'chain-lifetime', '1m'),
      flag('The last block was never freed', 'chain-leaked'),
    ],
  },
  {
    name: 'Other',
    fields: [
      text('Allocated with', 'kind =', 'calloc'),
      fromTo('Address', 'address', '0x7f0000'),
      one('Contains the address', 'contains =', '0x7f0010'),
      flag('Has a mapping of its own', 'mmapped'),
      flag('In the main arena', 'main-arena'),
      flag('Not in the main arena', 'not main-arena'),
      flag('A realloc took it', 'moved'),
    ],
  },
];

export interface Entered {
  from?: string;
  to?: string;
  isOn?: boolean;
}

/** One test, or an empty text if nothing was entered. */
export function testOf(field: Field, entered: Entered): string {
  const from = entered.from?.trim() ?? '';
  const to = entered.to?.trim() ?? '';
  switch (field.kind) {
    case 'flag':
      return entered.isOn ? field.field : '';
    case 'from-to':
      if (from && to) return `${field.field} in ${from}..${to}`;
      return from ? `${field.field} >= ${from}` : to ? `${field.field} <= ${to}` : '';
    case 'one':
      return from ? `${field.field} ${from}` : '';
    default:
      return from ? `${field.field} ${quoted(from)}` : '';
  }
}
