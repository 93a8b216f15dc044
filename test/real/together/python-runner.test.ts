// Python's runner keeps the contract of runners, and what only Python has: threads that cannot be interrupted, exits that are exceptions, modules of
// the folder. Needs python3.

import {once} from 'node:events';
import ava, {type ExecutionContext} from 'ava';
import {runnerCommands} from '../../../agent/functions/start-runner.js';
import {within} from '../../../bench/rigs/cluster/waiting.js';
import {startRunner, type Limits, type Runner} from '../../agent/functions/_runner.js';
import {codeOf, errorOf, openGate, runnerContract, valueOf} from '../../agent/functions/runner-contract.js';
import {pythonFunctions} from '../../agent/functions/runner-functions.js';

const test = ava.serial;

const start = (t: ExecutionContext, files: Readonly<Record<string, string>>, limits?: Partial<Limits>): Promise<Runner> =>
	startRunner(t, runnerCommands.python, files, limits);

runnerContract(test, {name: 'python', file: 'func.py', sources: pythonFunctions, start});

const startCode = (t: ExecutionContext, code: string, limits?: Partial<Limits>): Promise<Runner> => start(t, {'func.py': code}, limits);

test('a function that blocks: its caller is told, others are answered, and the runner ends with 1', async t => {
	const code = `
import os, time
def main(params):
    if params.get("blocks"):
        time.sleep(2)
        print("half of its time")
        time.sleep(600)
    print("begun")
    while not os.path.exists("open"): time.sleep(0.02)
    return "answered"
`;
	const runner = await startCode(t, code, {timeoutMs: 4000});
	const idle = await runner.connect();
	const blocking = runner.call({params: {blocks: true}, headers: {'x-request-id': 'blocks'}});
	await runner.wrote('half of its time');
	const other = runner.call({params: {}});
	await runner.wrote('begun');
	t.is(codeOf(await blocking), '504 ERR_TIMEOUT');
	idle.resume();
	await within('the end of the idle connection', once(idle, 'end'));
	await t.throwsAsync(runner.call({params: {}}));
	openGate(runner);
	t.is(valueOf(await other), 'answered');
	t.is(await runner.ended(), 1);
	t.regex(runner.output(), /^\[blocks\] error: ERR_TIMEOUT: .*4000 ms/m);
});

test('a coroutine that does not let itself be cancelled ends the runner too', async t => {
	const code = `
import asyncio
async def main(params):
    while True:
        try: await asyncio.sleep(600)
        except asyncio.CancelledError: print("not me")
`;
	const runner = await startCode(t, code, {timeoutMs: 500});
	t.is(codeOf(await runner.call()), '504 ERR_TIMEOUT');
	t.is(await runner.ended(), 1);
	t.regex(runner.output(), /not me/);
});

test('sys.exit() and an interrupt end a call, and not the runner', async t => {
	const code = `
import sys
async def main(params):
    return plain(params)
def plain(params):
    if params["how"] == "exit": sys.exit(3)
    if params["how"] == "interrupt": raise KeyboardInterrupt
    return "alive"
`;
	for (const call of [(await startCode(t, code)).call, (await startCode(t, code.replace('async ', ''))).call]) {
		t.like(errorOf(await call({params: {how: 'exit'}})), {status: 500, code: 'ERR_FUNCTION', message: 'SystemExit: 3'});
		t.like(errorOf(await call({params: {how: 'interrupt'}})), {status: 500, message: 'KeyboardInterrupt'});
		t.is(valueOf(await call({params: {how: 'not'}})), 'alive');
	}
});

test('threads and tasks of a call write for it, and so does what writes bytes', async t => {
	const code = `
import asyncio, concurrent.futures, logging, sys, threading
pool = concurrent.futures.ThreadPoolExecutor(1)
async def main(params):
    id = params["id"]
    thread = threading.Thread(target=lambda: print("thread of " + id))
    thread.start()
    thread.join()
    pool.submit(print, "pool of " + id).result()
    await asyncio.to_thread(print, "aside of " + id)
    await asyncio.create_task(task(id))
    logging.warning("logging of %s", id)
    sys.stdout.buffer.write(b"bytes of " + id.encode() + b"\\n")
async def task(id):
    print("task of " + id)
`;
	const {call, wrote, output} = await startCode(t, code);
	for (const id of ['a', 'b']) {
		await call({params: {id}, headers: {'x-request-id': id}});
		for (const what of ['thread', 'pool', 'aside', 'task', 'WARNING:root:logging', 'bytes']) await wrote(`[${id}] ${what} of ${id}\n`);
	}
	t.is(output().split('\n').length, 13);
});

test('modules beside the function and in site-packages are found, and the function is the module func', async t => {
	const files = {
		'func.py': 'import sys, os, beside, packed\ncount = 0\ndef main(params):\n    global count\n    count += 1\n    return beside.look()',
		'beside.py': 'import func, sys, os, packed\ndef look(): return [func.count, sys.argv[1:], os.path.exists("beside.py"), packed.name]',
		'site-packages/packed/__init__.py': 'name = "packed"',
	};
	const {call} = await start(t, files);
	t.deepEqual(valueOf(await call()), [1, [], true, 'packed']);
});

test('modules of the folder may have the names of the runner’s own, and nothing else of the runner is found', async t => {
	const names = ['main', 'runner', 'call', 'log', 'load', 'errors', 'connection', 'http_head', 'request', 'answer', 'event_loop'];
	const code = `
import importlib, sys
async def main(names):
    return [[importlib.import_module(name).name for name in names], [folder for folder in sys.path if "runner" in folder]]
`;
	const files = Object.fromEntries(names.map(name => [`${name}.py`, `name = "own ${name}"`]));
	const {call} = await start(t, {...files, 'func.py': code});
	t.deepEqual(valueOf(await call({params: names})), [names.map(name => `own ${name}`), []]);
});

test('code without a function that can be called is told so', async t => {
	for (const [code, told] of [
		['def other(params): pass', /has no function main\(params\)/],
		['main = 3', /is no function but int/],
		['def main(): pass', /has to take one argument/],
		['def main(params:', /SyntaxError/],
		['import sys; sys.exit(0)', /SystemExit: 0/],
	] as const) {
		const runner = await startCode(t, code);
		t.false(runner.isReady);
		t.is(await runner.ended(), 1);
		t.regex(runner.output(), told);
	}
	const empty = await start(t, {'other.py': ''});
	t.is(await empty.ended(), 1);
	t.regex(empty.output(), /cannot read .*func\.py/);
});

test('what is no JSON is not answered: NaN, too deep', async t => {
	const code = `
def main(params):
    if params["how"] == "nan": return float("nan")
    if params["how"] == "deep":
        value = []
        for _ in range(100000): value = [value]
        return value
`;
	const {call} = await startCode(t, code);
	for (const how of ['nan', 'deep']) t.like(errorOf(await call({params: {how}})), {status: 500, code: 'ERR_FUNCTION'}, how);
});

test('a traceback has its causes, none of the runner’s lines, and an end', async t => {
	const code = `
def main(params):
    if params.get("deep"): return one(3000)
    try: {}["x"]
    except KeyError as error: raise ValueError("outer") from error
def one(left): return two(left)
def two(left): return one(left - 1)
`;
	const {call} = await startCode(t, code);
	const {traceback = ''} = errorOf(await call());
	t.regex(traceback, /KeyError: 'x'[^]*direct cause[^]*in main[^]*ValueError: outer\n$/);
	t.notRegex(traceback, /runner/);
	const {traceback: deep = ''} = errorOf(await call({params: {deep: true}}));
	t.true(deep.length > 8000 && deep.length <= 16_384);
	t.regex(deep, /RecursionError: .*\n$/);
});

test('an asynchronous generator that waits ends when its client goes', async t => {
	const code = `
import asyncio
async def main(params):
    try:
        yield 1
        await asyncio.sleep(600)
    finally:
        await asyncio.sleep(0)
        print("closed")
`;
	const {open, wrote, output} = await startCode(t, code);
	const response = await open({params: {}, headers: {'x-request-id': 'leaves'}});
	await within('the first line', once(response, 'data'));
	response.destroy();
	await wrote('[leaves] closed\n');
	t.is(output(), '[leaves] closed\n');
});

test('what a call keeps in its context is not seen by the next of its connection', async t => {
	const code = `
import contextvars
kept = contextvars.ContextVar("kept", default=None)
def main(params):
    before = kept.get()
    kept.set(params)
    return before
`;
	const {raw} = await startCode(t, code);
	const request = (rest: string): string => `GET / HTTP/1.1\r\nHost: a\r\n${rest}\r\n`;
	t.is((await raw(request('') + request('Connection: close\r\n'))).match(/\r\n\r\nnull/g)?.length, 2);
});
