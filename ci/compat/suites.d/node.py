"""node: worker threads, child processes, buffers, compression, cryptography, streams, servers; its own runner of tests."""

import re

from run import Suite

SCRIPT = r"""
const test = require('node:test'), assert = require('node:assert');
const { Worker, MessageChannel, receiveMessageOnPort } = require('worker_threads');
const child = require('child_process'), crypto = require('crypto'), fs = require('fs'), http = require('http');
const net = require('net'), path = require('path'), stream = require('stream'), zlib = require('zlib'), vm = require('vm');
const { promisify } = require('util'), { once } = require('events');
const told = {};
const tell = (name, value) => { told[name] = value; };
const sha = data => crypto.createHash('sha256').update(data).digest('hex');
const pattern = (bytes, seed) => { const b = Buffer.allocUnsafe(bytes); for (let i = 0; i < bytes; i++) b[i] = i * seed >> 3; return b; };

test('workers share memory', async () => {
    const shared = new SharedArrayBuffer(1024), counts = new Int32Array(shared);
    const source = `const { workerData, parentPort } = require('worker_threads');
        const c = new Int32Array(workerData.shared), kept = [];
        for (let i = 0; i < 20000; i++) { Atomics.add(c, 0, 1); if (i % 50 == 0) kept.push(Buffer.alloc(5000, i)); }
        parentPort.postMessage({ n: workerData.n, bytes: kept.reduce((s, b) => s + b.length, 0), moved: new ArrayBuffer(1 << 16) });`;
    const said = await Promise.all([1, 2, 3, 4, 5, 6].map(async n => {
        const worker = new Worker(source, { eval: true, workerData: { shared, n } });
        // Both at once: the worker may end while its message is handled.
        const [[message], [code]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
        return [message.n, message.bytes, message.moved.byteLength, code];
    }));
    tell('workers', [said, counts[0]]);
});
test('workers end at once and by force', async () => {
    const codes = [];
    for (let i = 0; i < 20; i++) {
        const worker = new Worker('setInterval(() => Buffer.alloc(9999), 1); require("worker_threads").parentPort.postMessage(1)', { eval: true });
        await once(worker, 'message');
        codes.push(await worker.terminate());
    }
    const thrown = new Worker('throw new Error("meant")', { eval: true });
    const [error] = await once(thrown, 'error');
    const small = new Worker('const a = []; for (;;) a.push(new Array(10000).fill({}))', { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } });
    const [full] = await once(small, 'error');
    tell('ended workers', [codes, error.message, full.code]);
});
test('children', async () => {
    const execFile = promisify(child.execFile);
    const many = await Promise.all(Array.from({ length: 8 }, (_, n) => execFile('/bin/sh', ['-c', `echo ${n}; exec printf %s $((${n} * 7))`])));
    tell('execFile', many.map(m => m.stdout));
    const sync = child.spawnSync(process.execPath, ['-e', 'process.stdout.write(require("fs").readFileSync(0)); process.exitCode = 7'], { input: pattern(300000, 31) });
    tell('spawnSync', [sync.status, sync.signal, sha(sync.stdout), String(sync.stderr)]);
    const forked = child.fork(path.join(__dirname, 'child.js'), { execArgv: [] });
    const sums = [];
    for (let i = 0; i < 50; i++) { forked.send({ i, text: 'x'.repeat(i * 100) }); sums.push((await once(forked, 'message'))[0]); }
    forked.disconnect();
    tell('fork', [sums, await once(forked, 'exit')]);
    const killed = child.spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => Buffer.alloc(100000), 1)']);
    await once(killed.stdout, 'data');
    killed.kill('SIGKILL');
    tell('killed', await once(killed, 'exit'));
    const aborted = child.spawnSync(process.execPath, ['-e', 'process.abort()'], { stdio: 'ignore' });
    tell('aborted', [aborted.status, aborted.signal]);
    tell('empty environment', child.spawnSync(process.execPath, ['-p', 'Object.keys(process.env).length'], { env: {} }).stdout.toString());
    tell('no such program', child.spawnSync('/nothing').error.code);
});
test('compression', async () => {
    const data = pattern(3000000, 7919);
    for (const [pack, unpack] of [['gzip', 'gunzip'], ['deflate', 'inflate'], ['brotliCompress', 'brotliDecompress']]) {
        const options = pack[0] == 'b' ? { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } } : {};
        const packed = await promisify(zlib[pack])(data, options);
        tell(pack, [sha(packed), sha(zlib[unpack + 'Sync'](packed)) == sha(data)]);
    }
    assert.throws(() => zlib.gunzipSync(Buffer.from('no')));
});
test('cryptography', async () => {
    tell('scrypt', (await promisify(crypto.scrypt)('word', 'salt', 32)).toString('hex'));
    tell('pbkdf2', (await promisify(crypto.pbkdf2)('word', 'salt', 5000, 32, 'sha512')).toString('hex'));
    const { privateKey, publicKey } = await promisify(crypto.generateKeyPair)('rsa', { modulusLength: 2048 });
    tell('signed', crypto.verify('sha256', Buffer.from('x'), publicKey, crypto.sign('sha256', Buffer.from('x'), privateKey)));
    const cipher = crypto.createCipheriv('aes-256-gcm', Buffer.alloc(32), Buffer.alloc(12));
    tell('cipher', sha(Buffer.concat([cipher.update(pattern(1000000, 3)), cipher.final(), cipher.getAuthTag()])));
});
test('a server of http', async () => {
    const server = http.createServer((asked, answer) => asked.pipe(zlib.createGzip()).pipe(zlib.createGunzip()).pipe(answer));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const ask = n => new Promise((resolve, reject) => {
        const asked = http.request({ port: server.address().port, host: '127.0.0.1', method: 'POST' }, answer => {
            const parts = []; answer.on('data', part => parts.push(part)); answer.on('end', () => resolve(sha(Buffer.concat(parts))));
        });
        asked.on('error', reject); asked.end(pattern(n * 1000, n));
    });
    tell('http', sha((await Promise.all(Array.from({ length: 200 }, (_, n) => ask(n)))).join()));
    server.close(); server.closeAllConnections?.();
});
test('files and streams', async () => {
    const name = path.join(__dirname, 'big');
    await stream.promises.pipeline(stream.Readable.from(function* () { for (let i = 0; i < 200; i++) yield pattern(50000, i); }()), fs.createWriteStream(name));
    const digest = crypto.createHash('sha256');
    await stream.promises.pipeline(fs.createReadStream(name), digest);
    tell('file', digest.digest('hex'));
    await Promise.all(Array.from({ length: 300 }, (_, n) => fs.promises.writeFile(`${name}.${n}`, pattern(n * 10, n))));
    tell('files', sha((await Promise.all(Array.from({ length: 300 }, (_, n) => fs.promises.readFile(`${name}.${n}`)))).map(sha).join()));
});
test('the heap', () => {
    const kept = new Map();
    for (let i = 0; i < 300000; i++) { kept.set('k' + i % 50000, { i, text: 'v'.repeat(i % 30), list: [i, i + 1] }); }
    for (let i = 0; i < 2000; i++) Buffer.alloc(100000, i);
    if (global.gc) for (let i = 0; i < 5; i++) global.gc();
    tell('map', [kept.size, sha(JSON.stringify([...kept]))]);
    for (let i = 0; i < 50; i++) vm.runInNewContext('const a = []; for (let i = 0; i < 1000; i++) a.push({ i }); a.length');
    const bytes = Buffer.from('AGFzbQEAAAABBwFgAn9/AX8DAgEABwcBA2FkZAAACgkBBwAgACABags=', 'base64');
    tell('wasm', new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports.add(40, 2));
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 200 });
    for (let i = 0; i < 100; i++) memory.grow(1);
    tell('wasm memory', memory.buffer.byteLength);
    tell('a stack overflow', (() => { try { (function f() { f(); })(); } catch (error) { return error.message; } })());
    tell('too long', (() => { try { 'x'.repeat(2 ** 31); } catch (error) { return error.message; } })());
    tell('sort', sha(Array.from({ length: 200000 }, (_, i) => i * 7919 % 65537).sort().join()));
});
process.on('exit', () => { for (const name in told) console.error('TOLD ' + name + ' = ' + JSON.stringify(told[name])); });
"""

CHILD = r"""
process.on('message', ({ i, text }) => { const kept = Buffer.alloc(text.length * 10, text || 'a'); process.send({ i, n: kept.length, s: kept.reduce((a, b) => a + b, 0) }); });
"""


def work(run):
    (run.place / "work.js").write_text(SCRIPT)
    (run.place / "child.js").write_text(CHILD)
    run.must(["node", "--version"])
    code, out, err = run.call(["node", "--expose-gc", "work.js"])
    results = {name: outcome for outcome, name in re.findall(r"^(ok|not ok) \d+ - (.*)$", out, re.M)}
    if not results:
        results = {name: outcome for outcome, name in re.findall(r"^(✔|✖) (.*?) \([\d.]+ms\)$", out, re.M)}
    results.update(dict(re.findall(r"^TOLD (.*?) = (.*)$", err, re.M)))
    results["exit status"] = str(code)
    results["tests"] = " ".join(re.findall(r"(?:#|ℹ) (?:pass|fail|cancelled|skipped) \d+", out))
    if code:
        run.fail(f"node exits {code}: {out[-300:]}")
    results["a script on its input"] = run.must(["node", "-"], feed="console.log([1, 2, 3].map(x => x * 2).join())")
    (run.place / "cluster.js").write_text(CLUSTER)
    results["cluster"] = run.must(["node", "cluster.js"])
    return results


CLUSTER = """
const cluster = require('cluster'), http = require('http');
if (cluster.isPrimary) {
    let up = 0; const done = [];
    for (let i = 0; i < 3; i++) cluster.fork();
    cluster.on('listening', async (worker, address) => {
        if (++up < 3) return;
        for (let i = 0; i < 60; i++) await new Promise(next => http.get({ port: address.port, host: '127.0.0.1', agent: false }, a => { a.resume(); a.on('end', () => { done.push(a.statusCode); next(); }); }));
        console.log(done.length, done.every(s => s === 200));
        for (const id in cluster.workers) cluster.workers[id].disconnect();
    });
} else http.createServer((q, a) => a.end(Buffer.alloc(50000))).listen(0, '127.0.0.1');
"""

# The script and its four children that keep their environment, two more scripts, a cluster of four.
SUITES = [Suite("node.script", "suites-long", work, images={"node": 11}, kills=True)]
