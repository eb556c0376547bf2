// A report without a server: the answers stand in the document, in
//
//     <script type="application/json" id="memlog-data">{"logs": ..., "logs/1": ..., ...}</script>
//
// under the relative address of the request, without `api/1/`, byte for byte as the page asks. The order of
// options is that of STATIC_REQUESTS, and each value is written as encodeURIComponent does. `{id}` is the log's id.
// A control whose answer is not there is not shown. A log that does not know what was when has the same without `curve=1`.

export const STATIC_REQUESTS = [
  'logs',
  'logs/{id}',
  // Overview: the curves, and the top sites of the moment.
  'logs/{id}/timeline?points=4000',
  'logs/{id}/table?by=function&curve=1&at=rss-peak&top=1000',
  'logs/{id}/table?by=function&curve=1&at=heap-peak&top=1000',
  'logs/{id}/table?by=function&curve=1&at=end&top=1000',
  'logs/{id}/table?by=function&curve=1&top=1000',
  // Who, Sites: by line and by module too.
  'logs/{id}/table?by=line&curve=1&at=rss-peak&top=1000',
  'logs/{id}/table?by=module&curve=1&at=rss-peak&top=1000',
  // Who, Flame.
  'logs/{id}/flame?by=live&at=rss-peak&nodes=20000',
  'logs/{id}/flame?by=live&at=heap-peak&nodes=20000',
  'logs/{id}/flame?by=live&at=end&nodes=20000',
  'logs/{id}/flame?by=allocated&nodes=20000',
  // Leaks: never freed, growing, freed only at the end.
  'logs/{id}/leaks?by=function&curve=1&top=1000',
  'logs/{id}/leaks?by=function&growing=1&top=1000',
  'logs/{id}/table?by=function&curve=1&where=died%20%3E%3D%2098%25%20and%20lifetime%20%3E%2050%25&top=1000',
] as const;

let data: Record<string, unknown> | null | undefined;

/** The answers in the document; null where a server is asked. */
export function staticData(): Record<string, unknown> | null {
  if (data === undefined) {
    const element = document.getElementById('memlog-data');
    data = element?.textContent ? (JSON.parse(element.textContent) as Record<string, unknown>) : null;
  }
  return data;
}

export function isStatic(): boolean {
  return staticData() !== null;
}

/** Whether a request can be answered at all. */
export function canAsk(path: string): boolean {
  const there = staticData();
  return there === null || path in there;
}
