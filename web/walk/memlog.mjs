// memlog itself: what it says on the command line, and its server.

import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { fail } from './check.mjs';

const run = promisify(execFile);

export class Memlog {
  constructor(program, folder) {
    this.program = program;
    this.folder = folder;
  }

  /** The answer to a command, in JSON. The same question is asked once. */
  told(...words) {
    const key = words.join('\0');
    this.answers ??= new Map();
    if (!this.answers.has(key)) {
      const [command, ...rest] = words;
      this.answers.set(key, this.says(command, '--json', ...rest).then(JSON.parse));
    }
    return this.answers.get(key);
  }

  async says(...words) {
    const { stdout } = await run(this.program, words, { cwd: this.folder, maxBuffer: 1 << 28 });
    return stdout;
  }

  /** A command line as a person would type it. */
  typed(line) {
    const PATH = `${this.program.replace(/\/[^/]*$/, '')}:${process.env.PATH}`;
    return run('sh', ['-c', `${line} </dev/null`], { cwd: this.folder, env: { ...process.env, PATH, MEMLOG_PAGER: 'cat' }, maxBuffer: 1 << 28 });
  }

  /** A server of these logs. */
  async serve(...words) {
    const child = spawn(this.program, ['server', ...words], { cwd: this.folder, stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout });
    const link = await new Promise((found, failed) => {
      lines.on('line', (line) => line.match(/http:\S+/)?.[0] && found(line.match(/http:\S+/)[0]));
      child.once('exit', (code) => failed(new Error(`memlog server ended with ${code}`)));
    });
    return new Server(child, link);
  }
}

class Server {
  constructor(child, link) {
    this.child = child;
    this.link = link;
    this.base = link.replace(/\?.*/, '');
    process.on('exit', this.kill = () => child.kill());
    child.on('exit', (code, signal) => this.isEnding || fail(`memlog server ended by itself: ${code ?? signal}`));
  }

  ask(path, options = {}) {
    const token = new URL(this.link).searchParams.get('token');
    return fetch(`${this.base}api/1/${path}`, { ...options, headers: { authorization: `Bearer ${token}` } });
  }

  /** What `api/1/...` answers. */
  async json(path) {
    return (await this.ask(path)).json();
  }

  end() {
    this.isEnding = true;
    process.off('exit', this.kill);
    if (this.child.exitCode !== null || this.child.signalCode !== null) return undefined;
    return new Promise((ended) => {
      this.child.on('exit', ended);
      this.child.kill();
    });
  }
}
