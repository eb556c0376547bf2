// The other screens: Overview, Allocations, Threads, Diff, RSS, Maps, Callers, and a Site.

import { bytes, bytesIn, compareTable, count, name, percent, seconds, text } from '../cells.mjs';
import { check, same } from '../check.mjs';
import { only, rowOf } from './sites.mjs';

export async function overview(visit, memlog, log) {
  await visit.open(`#/overview?log=${log.id}`);
  await heading(visit, await memlog.says('summary', log.file));
  const answer = await memlog.told('table', '--by', 'function', '--at', 'rss-peak', '--top', '1000', log.file);
  const rows = answer.rows.slice(0, 10).map((row) => ({ Site: name(row.name), ...only(rowOf(answer)(row), 'Bytes', 'Share', 'Blocks', 'With callees') }));
  await compareTable(visit, 'The sites with most', rows, { Bytes: bytes(answer.bytes), Blocks: count(answer.blocks) });
}

/** Each line of it stands in what the command prints. */
export async function heading(visit, printed) {
  const lines = await visit.page.locator('.heading').evaluate((list) =>
    [...list.querySelectorAll('dt')].map((term) => [term.textContent.trim(), term.nextElementSibling.lastChild.textContent.trim()]));
  check(lines.length >= 3, `${visit.where}: ${lines.length} lines of heading`);
  const whole = printed.replace(/\s+/g, ' ');
  for (const [term, line] of lines) check(whole.includes(line.replace(/\s+/g, ' ')), `${visit.where}: "${term}: ${line}" is in what memlog summary prints`);
}

export async function allocations(visit, memlog, log, filter) {
  for (const [sort, moment] of [['bytes', 'run'], ['born', 'end'], ['lifetime', 'run']]) {
    const answer = await memlog.told('table', '--list', '--sort', sort, '--top', '500', '--where', filter, ...(moment === 'run' ? [] : ['--at', moment]), log.file);
    await visit.open(`#/allocations?log=${log.id}&at=${moment}&where=${encodeURIComponent(filter)}&sort=${sort}`);
    const rows = answer.list.slice(0, 25).map((row) => ({
      Event: count(row.number), Bytes: bytes(row.bytes), Usable: bytes(row.usable_bytes), Allocated: seconds(row.allocated_seconds),
      Freed: row.freed_seconds === null ? text('never') : seconds(row.freed_seconds), Lifetime: seconds(row.lifetime_seconds),
      Site: name(row.name), Thread: text(row.thread), With: text(row.kind), Address: text(row.address), Stack: text(row.stack_number),
    }));
    await compareTable(visit, 'Single blocks', rows);
    const said = await visit.text('main > .answer > p');
    check(said.startsWith(`${answer.blocks.toLocaleString('en')} blocks`), `${visit.where}: ${said}`);
  }
}

export async function threads(visit, memlog, log) {
  const answer = await memlog.told('threads', log.file);
  await visit.open(`#/threads?log=${log.id}`);
  const rows = [...answer.rows].sort((a, b) => b.bytes - a.bytes).map((row) => ({
    Thread: name(row.name), Allocated: bytes(row.bytes), Blocks: count(row.blocks), Freed: bytes(row.freed_bytes),
    'Blocks freed': count(row.freed_blocks), 'Never freed': bytes(row.leaked_bytes), Temporary: count(row.temporary_blocks),
  }));
  await compareTable(visit, 'Threads that', rows);
  const pairs = [...answer.freed].sort((a, b) => b.bytes - a.bytes).slice(0, 20);
  await compareTable(visit, 'Who allocated', pairs.map((row) => ({ Bytes: bytes(row.bytes), Blocks: count(row.blocks) })));
}

export async function diff(visit, memlog, log, [before, after], other = null) {
  const files = other ? [other.file, log.file] : [log.file];
  const answer = await memlog.told('diff', '--at', before, '--at', after, '--by', 'function', '--sort', 'grew', '--top', '1000', ...files);
  const own = new URLSearchParams({ log: log.id, before, after, ...(other ? { other: other.id } : {}) });
  await visit.open(`#/diff?${own}`);
  await compareTable(
    visit, 'What changed',
    answer.rows.map((row) => ({
      Site: name(row.name), Change: change(row.bytes), Blocks: count(row.blocks), Before: bytes(row.before_bytes),
      After: bytes(row.after_bytes), 'Blocks before': count(row.before_blocks), 'Blocks after': count(row.after_blocks),
    })),
    { Change: change(answer.bytes), Blocks: count(answer.blocks), Before: bytes(answer.before_bytes), After: bytes(answer.after_bytes) },
  );
}

const change = (want) => (cell, what) => {
  same(bytesIn(cell.title), want, what);
  check(cell.text.startsWith(want > 0 ? '+' : want < 0 ? '−' : '±'), `${what}: ${cell.text} has a sign`);
};

export async function rss(visit, memlog, log) {
  const answer = await memlog.told('rss', '--by', 'function', log.file);
  await visit.open(`#/rss?log=${log.id}`);
  const purposes = answer.purposes.filter((row) => row.bytes > 0).sort((a, b) => b.bytes - a.bytes);
  await compareTable(
    visit, 'What each resident byte',
    purposes.map((row) => ({ Resident: bytes(row.bytes), Share: percent((100 * row.bytes) / answer.bytes) })),
    { Resident: bytes(answer.bytes) },
  );
  const held = [...answer.rows].sort((a, b) => b.bytes - a.bytes).slice(0, 15);
  await compareTable(visit, 'Who asked for the live', held.map((row) => ({ Site: name(row.name), Resident: bytes(row.bytes), Live: bytes(row.live_bytes), Blocks: count(row.blocks) })));
}

export async function maps(visit, memlog, log) {
  const pages = await memlog.told('fragmentation', '--by', 'function', '--at', 'end', log.file);
  const mapped = await memlog.told('maps', '--by', 'function', '--at', 'end', log.file);
  await visit.open(`#/maps?log=${log.id}&at=end`);
  await compareTable(visit, 'Pages by', pages.pages_by_tenths.map((pages) => ({ Pages: count(pages) })));
  const held = [...pages.rows].sort((a, b) => b.held_bytes - a.held_bytes).slice(0, 20);
  await compareTable(visit, 'Whose blocks', held.map((row) => ({
    Site: name(row.name), 'Held free': bytes(row.held_bytes), 'Pages alone': count(row.sole_pages), Pages: count(row.pages),
    Live: bytes(row.bytes), Blocks: count(row.blocks),
  })));
  const mappers = [...mapped.rows].sort((a, b) => b.bytes - a.bytes).slice(0, 20);
  mappers.length && await compareTable(visit, 'Who mapped', mappers.map((row) => ({
    'Who mapped': name(row.name), Mapped: bytes(row.bytes), Mappings: count(row.mappings), Reserved: bytes(row.reserved_bytes),
    'In the run': bytes(row.total_bytes), Calls: count(row.calls), Unmapped: bytes(row.unmapped_bytes),
  })));
}

/** `wanted` is the function's name. */
export async function callers(visit, memlog, log, wanted) {
  const answer = await memlog.told('function', wanted, '--at', 'rss-peak', log.file);
  await visit.open(`#/callers?log=${log.id}&name=${encodeURIComponent(wanted)}`);
  const rows = (parts) => [...parts].sort((a, b) => b.bytes - a.bytes).map((row) => ({ Bytes: bytes(row.bytes), Blocks: count(row.blocks) }));
  answer.callers.length && await compareTable(visit, 'Callers', rows(answer.callers));
  answer.callees.length && await compareTable(visit, 'Callees', rows(answer.callees));
  const titles = await visit.page.locator('main > .answer > p span[title]').evaluateAll((spans) => spans.map((span) => span.title));
  same(bytesIn(titles[0]), answer.bytes, `${visit.where}: itself`);
  same(bytesIn(titles[1]), answer.below_bytes, `${visit.where}: with its callees`);
}

export async function site(visit, memlog, log, wanted) {
  const filter = `function = "${wanted}"`;
  await visit.open(`#/site?${new URLSearchParams({ log: log.id, of: 'function', name: wanted, site: filter })}`);
  for (const [of, label] of [['size', 'Size'], ['lifetime', 'Lifetime']]) {
    const answer = await memlog.told('histogram', of, '--where', filter, log.file);
    const rows = answer.rows.map((row) => ({ [label]: text(row.name), Blocks: count(row.blocks), Bytes: bytes(row.bytes) }));
    await compareTable(visit, `Blocks by ${label.toLowerCase()}`, rows, { Blocks: count(answer.blocks) });
  }
  const stacks = await memlog.told('table', '--by', 'stack', '--where', filter, '--top', '20', log.file);
  same(bytesIn(await visit.page.locator('section:has(h2:text-is("Stacks")) span[title]').first().getAttribute('title')), stacks.bytes, `${visit.where}: bytes of its stacks`);
}
