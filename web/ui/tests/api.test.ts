import { expect, test } from 'vitest';
import type { Log } from '../src/answers';
import * as api from '../src/api';
import { STATIC_REQUESTS } from '../src/static';
import { allOf } from '../src/text/filter';

const log = { id: 1, file: "it's a.memlog" } as Log;
const log7 = { id: 7, file: 'a.memlog' } as Log;

test('options stand in one order, each value encoded', () => {
  expect(api.table(log, { top: 5, where: 'size >= 1', by: 'line', at: 'end' }).path).toBe(
    'logs/1/table?by=line&at=end&where=size%20%3E%3D%201&top=5',
  );
  expect(api.leaks(log, { by: 'function', between: ['20%', 'end'] }).path).toBe('logs/1/leaks?by=function&between=20%25&between=end');
});

test('the command line asks the same', () => {
  expect(api.histogram(log, 'size', { where: 'leaked' }).command).toBe(`memlog histogram size --where leaked 'it'\\''s a.memlog'`);
  expect(api.diff(log7, null, { by: 'line', before: '20%', after: 'end' }).command).toBe('memlog diff --at 20% --at end --by line a.memlog');
  expect(api.annotate(log7, 'parse.c', {}).command).toBe('memlog annotate a.memlog parse.c');
  expect(api.blocks(log7, { sort: 'bytes', top: 500 }).command).toBe('memlog table --list --sort bytes --top 500 a.memlog');
});

test('a static report has what the screens ask by default', () => {
  const has = (path: string) => expect(STATIC_REQUESTS.map((request) => request.replace('{id}', '1'))).toContain(path);
  has(api.timeline(log, { where: '', points: 4000 }).path);
  has(api.table(log, { by: 'function', at: 'rss-peak', where: '', top: 1000, curve: true }).path);
  has(api.flame(log, { by: 'live', at: 'rss-peak', before: null, where: '', reverse: false, nodes: 20000 }).path);
  has(api.flame(log, { by: 'allocated', at: null, before: null, where: '', reverse: false, nodes: 20000 }).path);
  has(api.leaks(log, { by: 'function', where: '', growing: true, top: 1000 }).path);
  has(api.table(log, { by: 'function', where: allOf(['', 'died >= 98% and lifetime > 50%']), top: 1000, curve: true }).path);
});
