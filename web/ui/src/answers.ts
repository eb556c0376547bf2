// What the server answers; doc/STATS.md says what each key means. Keys that the page does not use are left out.

export interface Log {
  id: number;
  file: string;
  name: string;
  command_line: string | null;
  host: string | null;
  pid: number | null;
  rank: string | null;
  /** Whether it is known what was live at each moment; not told before the log is open. */
  has_course?: boolean;
  job: string | null;
  parent_id: number | null;
  state: 'ready' | 'waiting' | 'reading' | 'failed';
  percent?: number;
  seconds_left?: number | null;
  error?: string | null;
  hint?: string | null;
  is_running: boolean;
  rss_peak_bytes: number | null;
  heap_peak_bytes: number | null;
  end_live_bytes: number | null;
  allocations: number | null;
  duration_seconds: number | null;
  start_unix_ns: number | null;
  lost_events: number | null;
  is_outlier: boolean;
  generation: number;
}

export interface LogList {
  /** How many there are, of which not all need be told. */
  count: number;
  logs: Log[];
}

export interface Stats {
  duration_seconds: number;
  rss_peak_bytes: number;
  rss_peak_mapped_bytes?: number | null;
  rss_peak_seconds: number;
  heap_peak_bytes: number;
  heap_peak_blocks: number;
  heap_peak_seconds: number;
  end_live_bytes: number;
  end_live_blocks: number;
  allocations: number;
  releases: number;
  temporary_allocations: number;
  total_bytes: number;
  lost_events: number;
  threads: number;
  /** Empty if the program told of no scope; not there in a table of an older memlog. */
  rss_peak_live_by_scope?: { scope: string; bytes: number; blocks: number }[];
}

export interface Summary {
  heading: { name: string; alarm: boolean; text: string }[];
  notes: string[];
  stats: Stats;
}

export interface Frame {
  function: string;
  location: string | null;
  module: string | null;
}

export interface Answer {
  schema: string;
  notes: string[];
}

export interface Row {
  name: string;
  bytes: number;
  blocks: number;
  below_bytes: number;
  below_blocks: number;
  waste_bytes: number;
  smallest_bytes: number;
  largest_bytes: number;
  leaked_bytes: number;
  leaked_blocks: number;
  temporary_blocks: number;
  first_seconds: number;
  last_seconds: number;
  all_bytes: number;
  all_blocks: number;
  peak_bytes: number | null;
  peak_seconds: number | null;
  stack: Frame[] | null;
  stack_numbers: number[] | null;
  live_bytes?: number[];
  live_blocks?: number[];
}

export interface Table extends Answer {
  by: string;
  bytes: number;
  blocks: number;
  /** How many groups there are; the rows may be fewer. */
  groups: number;
  rows: Row[];
  moments_seconds?: number[];
}

export interface Block {
  number: number;
  address: string;
  bytes: number;
  usable_bytes: number;
  allocated_seconds: number;
  freed_seconds: number | null;
  lifetime_seconds: number;
  thread: string;
  scope: string;
  freed_by: string | null;
  kind: string;
  temporary: boolean;
  moved: boolean;
  chain: number;
  chain_position: number;
  name: string | null;
  location: string | null;
  stack_number: number | null;
  freed_stack_number: number | null;
}

export interface BlockList extends Answer {
  bytes: number;
  blocks: number;
  list: Block[];
}

export interface Histogram extends Answer {
  bytes: number;
  blocks: number;
  rows: { name: string; bytes: number; blocks: number }[];
}

export interface Point {
  seconds: number;
  heap_bytes: number;
  heap_blocks: number;
  rss_bytes: number | null;
  mapped_bytes: number;
  allocations: number;
  allocated_bytes: number;
  releases: number;
  moments: string[];
}

export interface Timeline extends Answer {
  points: Point[];
  marks: { seconds: number; name: string }[];
}

export interface Chains extends Answer {
  rows: {
    name: string; chains: number; bytes: number; blocks: number; length: number; reserve_bytes: number;
    outgrown_bytes: number; leaked_chains: number;
  }[];
}

export interface ThreadRow {
  name: string;
  tid: number;
  bytes: number;
  blocks: number;
  leaked_bytes: number;
  leaked_blocks: number;
  temporary_blocks: number;
  freed_bytes: number;
  freed_blocks: number;
}

export interface Threads extends Answer {
  rows: ThreadRow[];
  freed: { allocated_by: number; freed_by: number; bytes: number; blocks: number }[];
}

export interface Callers extends Answer {
  functions: string[];
  bytes: number;
  blocks: number;
  below_bytes: number;
  below_blocks: number;
  callers: { name: string; bytes: number; blocks: number }[];
  callees: { name: string; bytes: number; blocks: number }[];
}

export interface SourceLine {
  line: number;
  bytes: number;
  blocks: number;
  below_bytes: number;
  below_blocks: number;
  functions: string[];
  /** The line itself, if the server can read the file. */
  text?: string;
}

export interface Annotated extends Answer {
  files: { name: string; rows: SourceLine[] }[];
}

export interface Fragmentation extends Answer {
  moment: string;
  page_bytes: number;
  pages: number;
  bytes: number;
  pages_by_tenths: number[];
  rows: { name: string; bytes: number; blocks: number; pages: number; sole_pages: number; held_bytes: number }[];
}

export interface Mapping {
  number: number;
  address: string;
  bytes: number;
  function: string;
  protection: string | null;
  shared: boolean | null;
  mapped_seconds: number;
  unmapped_seconds: number | null;
  thread: string;
  name: string | null;
  location: string | null;
}

export interface Maps extends Answer {
  moment: string;
  seconds: number | null;
  bytes: number;
  mappings: number;
  reserved_bytes: number;
  backing_bytes: number;
  rows: {
    name: string; bytes: number; mappings: number; reserved_bytes: number; age_seconds: number | null;
    total_bytes: number; calls: number; unmapped_bytes: number; largest_bytes: number;
  }[];
  list: Mapping[];
}

export interface Rss extends Answer {
  seconds: number;
  why: string;
  whole: boolean;
  rss_bytes: number;
  bytes: number;
  purposes: { name: string; bytes: number }[];
  rows: { name: string; bytes: number; live_bytes: number; blocks: number }[];
  mapped: { name: string; bytes: number; live_bytes: number; mappings: number }[];
  parts: { purpose: string; bytes: number; name: string; address: string; mapping_bytes: number; mapping_resident_bytes: number }[];
  readings: { seconds: number; rss_bytes: number; own_bytes: number; why: string }[];
}

export interface AddressBlock {
  name: string | null;
  bytes: number;
  address: string;
  offset: number;
  kind: string;
  allocated_seconds: number;
  freed_seconds: number | null;
  thread: string;
  freed_by: string | null;
  stack: Frame[];
  freed_stack: Frame[] | null;
}

export interface AddressAnswer extends Answer {
  address: string;
  blocks: number;
  rows: AddressBlock[];
}

export interface DiffRow {
  name: string;
  before_name: string | null;
  bytes: number;
  blocks: number;
  before_bytes: number;
  before_blocks: number;
  after_bytes: number;
  after_blocks: number;
  after_stack: Frame[] | null;
  before_stack: Frame[] | null;
}

export interface Diff extends Answer {
  by: string;
  bytes: number;
  blocks: number;
  before_bytes: number;
  after_bytes: number;
  before: { at: string; at_seconds: number; file: string };
  after: { at: string; at_seconds: number; file: string };
  rows: DiffRow[];
}

export interface FlameAnswer {
  total_bytes: number;
  total_blocks: number;
  names: Frame[];
  nodes: {
    name: number[]; parent: number[]; bytes: number[]; blocks: number[]; own_bytes: number[]; before_bytes?: number[];
  };
  left_out: { nodes: number; bytes: number };
  notes: string[];
}

export interface Area {
  start: string;
  end: string;
  live_bytes: number;
  blocks: number;
  fill: number[];
}

export interface Regions {
  page_bytes: number;
  areas: Area[];
  notes?: string[];
}

export interface ScriptAnswer {
  status: 'ok' | 'failed';
  elapsed_seconds: number;
  output: ({ kind: 'text'; text: string } | { kind: 'image'; name: string; url: string })[];
  message?: string | null;
  line?: number | null;
  column?: number | null;
}
