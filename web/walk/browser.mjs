// Chromium, and pages that note whatever goes wrong in them.

import { chromium } from 'playwright-core';
import { fail } from './check.mjs';

const OPTIONS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];
/** What takes longer hangs. */
const PATIENCE_MS = 20_000;

export const WIDE = { width: 1280, height: 720 };
export const NARROW = { width: 390, height: 844 };

export const launch = (executablePath) => chromium.launch({ executablePath, args: OPTIONS });

/** A page of a server, or of a file if there is none. */
export class Visit {
  constructor(context, page, server) {
    Object.assign(this, { context, page, server, running: new Set(), isPardoned: () => false, where: '' });
    page.on('console', (message) => message.type() === 'error' && this.#wrong(`the console says: ${message.text()}`));
    page.on('pageerror', (error) => this.#wrong(`an error: ${error.stack}`));
    page.on('dialog', (dialog) => (this.#wrong(`a dialog: ${dialog.message()}`), dialog.dismiss()));
    page.on('request', (request) => this.#begins(request));
    page.on('requestfinished', (request) => this.running.delete(request));
    page.on('requestfailed', (request) => this.#failed(request));
    page.on('response', (response) => response.status() >= 400 && this.#wrong(`${response.status()} for ${response.url()}`));
  }

  static async of(browser, server, { viewport = WIDE, colorScheme = 'light', script, pardoned, ...options } = {}) {
    const context = await browser.newContext({ viewport, colorScheme, ...options });
    if (script) await context.addInitScript(script);
    const visit = new Visit(context, await context.newPage(), server);
    if (pardoned) visit.isPardoned = (what) => pardoned.test(what);
    if (server) {
      // The link with the token is opened once; what follows is the cookie's.
      await visit.page.goto(server.link);
      await visit.settled();
    }
    return visit;
  }

  #wrong(what) {
    if (!this.isPardoned(what)) fail(`${this.where || this.page.url()}: ${what}`);
  }

  #begins(request) {
    const url = request.url();
    const isOwn = this.server ? url.startsWith(this.server.base) : url.startsWith('file:');
    if (!isOwn && !/^(data|blob|about):/.test(url)) this.#wrong(`it asked for ${url}`);
    if (request.resourceType() !== 'eventsource') this.running.add(request);
  }

  #failed(request) {
    this.running.delete(request);
    const why = request.failure()?.errorText;
    // Who leaves a page leaves its stream of news, too, and answers that are on their way.
    if (why !== 'net::ERR_ABORTED') this.#wrong(`${request.url()} failed: ${why}`);
  }

  /** What goes wrong in `act`, and is meant to, if `pattern` has it. */
  async pardoning(pattern, act) {
    this.isPardoned = (what) => pattern.test(what);
    await act();
    this.isPardoned = () => false;
  }

  /** A state of the page, in a new document. */
  async open(state) {
    this.where = state;
    this.running.clear();
    await this.page.goto('about:blank');
    await this.page.goto(`${this.server.base}${state}`);
    await this.settled();
  }

  /** Until nothing is asked and nothing is waited for, twice in a row. */
  async settled() {
    for (let calm = 0, begun = Date.now(); calm < 2; ) {
      if (Date.now() - begun > PATIENCE_MS) return fail(`${this.where}: the page is still busy: ${[...this.running].map((one) => one.url())}`);
      const isBusy = await this.page.evaluate(
        () => new Promise((told) => requestAnimationFrame(() => setTimeout(() => {
          const waits = [...document.querySelectorAll('.waiting')].some((one) => one.textContent.trim() !== '');
          told(waits || document.querySelector('[aria-busy=true]') !== null);
        }))),
      );
      calm = isBusy || this.running.size > 0 ? 0 : calm + 1;
      if (calm === 0) await this.page.waitForTimeout(25);
    }
  }

  hash() {
    return this.page.evaluate(() => location.hash);
  }

  text(selector) {
    return this.page.locator(selector).first().innerText();
  }

  /** The command lines that the page shows. */
  commands() {
    return this.page.locator('.command code').allInnerTexts();
  }

  close() {
    return this.context.close();
  }
}
