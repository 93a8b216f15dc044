// What an instance of a function cannot do: to other pods, to the agent, and beyond its limits.

import {readdirSync} from 'node:fs';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {RunningContainer} from '../../../actors/node/runtime/runtime-port.js';
import type {ProcessRuntimeOptions} from '../../../agent/process-runtime.js';
import {asRoot, isRoot, needing} from '../../_needing.js';
import {conditionsHere} from '../process-world.js';
import {functionNode, isWarm, type Way} from './_instance.js';

const hasLimits = isRoot && !(await conditionsHere()).includes('LimitsNotEnforced');
const withLimits = needing(hasLimits, 'needs root and control groups for memory and processes');

const python = {'func.py': 'def main(params):\n    return "mine"\n'};
const id = (uid: string) => ({uid, container: 'function'});

/** Runs what it is told to. */
const obedient = {
	'func.py': `import os, subprocess

def main(params):
    done = subprocess.run(["sh", "-c", params], capture_output=True, text=True, cwd="..")
    return {"code": done.returncode, "output": done.stdout + done.stderr}
`,
};

/** The folder of a pod's own, of its one user. */
const homeIn = (directory: string, uid: string): string => {
	const above = `${directory}-homes/${uid}`;
	return path.join(above, readdirSync(above).find(name => /^\d+$/.test(name)) ?? '');
};

/** Where the agent is not root no runner waits. */
const ways: readonly Way[] = isRoot ? ['cold', 'warm'] : ['cold'];

/** A node whose instances all begin that way. */
async function nodeOf(t: ExecutionContext, way: Way, options: Partial<ProcessRuntimeOptions> = {}) {
	const node = functionNode(t, {...options, warmRunners: way === 'warm' ? 2 : 0});
	if (way === 'warm') await node.warmUp();
	const serve = async (...words: Parameters<typeof node.serve>): Promise<RunningContainer> => {
		if (way === 'warm') await node.whenWarm();
		const running = await node.serve(...words);
		t.is(isWarm(running.pid), way === 'warm');
		return running;
	};
	return {...node, serve};
}

for (const way of ways) {
	asRoot(`${way}: another pod reads neither code nor environment of an instance, and does not connect to it`, async t => {
		const {serve, call, world} = await nodeOf(t, way);
		const env = [{name: 'SECRET', value: 'of uid-1', isSecret: true}];
		const {pid} = await serve('uid-1', 'python', python, {env});
		await serve('uid-2', 'python', obedient);
		const home = homeIn(world.directory, 'uid-1');
		const tried = async (words: string): Promise<{readonly code: number; readonly output: string}> =>
			JSON.parse((await call('uid-2', words)).text) as {readonly code: number; readonly output: string};
		for (const words of [
			`ls ${home}`,
			`cat ${home}/function/func.py`,
			`cat ${home}/.runner/main.py`,
			`cat /proc/${pid}/environ`,
			`ls ${path.dirname(home)}`,
		])
			t.not((await tried(words)).code, 0, words);
		const connects = `python3 -c "import socket; socket.socket(socket.AF_UNIX).connect('${home}/.runner.socket')"`;
		t.regex((await tried(connects)).output, /PermissionError|Permission denied/);
		t.is((await call('uid-1', null)).text.trim(), '"mine"');
	});

	asRoot(`${way}: an instance cannot write to its code, and what it puts in the place of it is not what the next attempt runs`, async t => {
		const {serve, call, start, ends, world, specOf, fetched, value, loaded} = await nodeOf(t, way);
		const running = await serve('uid-1', 'python', obedient);
		const tried = async (words: string): Promise<{readonly code: number; readonly output: string}> =>
			JSON.parse((await call('uid-1', words)).text) as {readonly code: number; readonly output: string};
		for (const words of [
			'echo >> function/func.py',
			'touch function/new',
			'rm function/func.py',
			'echo >> .runner/main.py',
			'chmod 777 function',
		])
			t.not((await tried(words)).code, 0, words);
		const replaced = 'mv function old && mkdir function && printf \'def main(params):\\n    return "other"\\n\' > function/func.py';
		t.is((await tried(replaced)).code, 0);
		// Links are not followed, neither from the folders nor from what is removed before a start.
		t.is((await tried('(mv .runner old-runner; ln -s /etc .runner) && ln -s /etc/passwd .runner.socket.new')).code, 0);
		world.kill(id('uid-1'), running);
		await ends(1);
		const [digest = ''] = fetched;
		await start(specOf('uid-1', digest, 'python', {attempt: 1}));
		t.true((await value(loaded('uid-1'))).ok);
		t.is((await tried('echo again')).output, 'again\n');
		t.is(fetched.length, 2);
	});

	asRoot(`${way}: an instance does not have its agent connect to what it puts in the place of its socket`, async t => {
		const {serve, call, world} = await nodeOf(t, way);
		await serve('uid-1', 'python', python);
		await serve('uid-2', 'python', obedient);
		const other = `${homeIn(world.directory, 'uid-1')}/.runner.socket`;
		await call('uid-2', `mv .runner.socket old && ln -s ${other} .runner.socket`);
		await t.throwsAsync(world.runtime().connectFunction('uid-2'), {message: /takes no connections/});
		t.is((await call('uid-1', null)).text.trim(), '"mine"');
	});

	test(`${way}: a function that never ends is answered for at its time, and its runner ends`, async t => {
		const {serve, call, ends} = await nodeOf(t, way);
		await serve('uid-1', 'python', {'func.py': 'def main(params):\n    while True:\n        pass\n'}, {timeoutMs: 300});
		t.is((await call('uid-1', null)).status, 504);
		const [end] = await ends(1);
		t.is(end?.exit.exitCode, 1);
	});

	withLimits(`${way}: a function that takes more memory than its pod may is killed, and no other one`, async t => {
		const {serve, call, ends} = await nodeOf(t, way);
		await serve('uid-2', 'python', python);
		const files = {'func.py': 'def main(params):\n    return len(b"x" * 10_000_000_000)\n'};
		await serve('uid-1', 'python', files, {memoryLimitBytes: 64 * 1_048_576});
		const answer = await call('uid-1', null).catch((error: unknown) => error);
		t.true(answer instanceof Error || (answer as {readonly status: number}).status === 500);
		// Where the kernel gives none at all it is an error of the function.
		if (answer instanceof Error) t.is((await ends(1))[0]?.exit.reason, 'OOMKilled');
		t.is((await call('uid-2', null)).status, 200);
	});

	withLimits(`${way}: a function that forks without end gets no further than its pod may`, async t => {
		const {serve, call} = await nodeOf(t, way, {processes: 40});
		await serve('uid-2', 'python', python);
		const files = {
			'func.py': `import os, time

def main(params):
    count = 0
    try:
        while True:
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
            count += 1
    except OSError:
        return count
`,
		};
		await serve('uid-1', 'python', files);
		const {status, text} = await call('uid-1', null);
		t.is(status, 200);
		t.true(Number(text) > 0 && Number(text) < 40, text);
		t.is((await call('uid-2', null)).status, 200);
	});
}
