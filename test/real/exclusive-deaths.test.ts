// What stands behind the promise of exclusive pods dies, alone and by twos, while their host falls silent: no program ever runs beside its
// successor. The hosts are network namespaces. Needs root and iproute2.

import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {isConditionTrue} from '../../api/conditions.js';
import type {NodeObject} from '../../api/kinds/node.js';
import {killAll, processesOf, programsOf} from '../../bench/rigs/cluster/processes.js';
import {asProcesses} from '../../bench/rigs/as-processes.js';
import {main} from '../../bench/rigs/main-file.js';
import type {Owner} from '../../bench/rigs/owner.js';
import {eventually, within} from '../../bench/rigs/cluster/waiting.js';
import {parentOf} from '../lane/processes.js';
import {layNetwork, type Network} from '../../bench/rigs/fleet/network.js';
import {exclusiveSet, openJournal, overlapOf, spellsIn} from './_exclusive.js';

const serverHost = 'srv';
const nodes = ['n1', 'n2'];
const patienceMs = 90_000;

// ---- what dies beside a pod ------------------------------------------------------------------------------------------------

type Helpers = {readonly watchdogs: readonly number[]; readonly sleeps: readonly number[]; readonly shims: readonly number[]};
type Harm = readonly (readonly [NodeJS.Signals, readonly (number | undefined)[]])[];

/** One of the helpers of a pod, or two of different sorts. */
const singles: Readonly<Record<string, (helpers: Helpers) => Harm>> = {
	'nothing else': () => [],
	'a watchdog killed': ({watchdogs: [one]}) => [['SIGKILL', [one]]],
	'a watchdog stopped': ({watchdogs: [one]}) => [['SIGSTOP', [one]]],
	'a sleep killed': ({sleeps: [one]}) => [['SIGKILL', [one]]],
	'a sleep stopped': ({sleeps: [one]}) => [['SIGSTOP', [one]]],
	'all sleeps killed': ({sleeps}) => [['SIGKILL', sleeps]],
	'the shim killed': ({shims}) => [['SIGKILL', shims]],
	'the shim stopped': ({shims}) => [['SIGSTOP', shims]],
	'a watchdog and its sleep killed': ({watchdogs: [one], sleeps: [its]}) => [['SIGKILL', [one, its]]],
	'a watchdog and the shim killed': ({watchdogs: [one], shims}) => [['SIGKILL', [one, ...shims]]],
	'a sleep and the shim killed': ({sleeps: [one], shims}) => [['SIGKILL', [one, ...shims]]],
	'a watchdog stopped, the shim killed': ({watchdogs: [one], shims}) => [
		['SIGSTOP', [one]],
		['SIGKILL', shims],
	],
};

/** All that stands by for a pod outside of its agent: where the agent lives, or comes back, that is enough. */
const all: typeof singles = {
	...singles,
	'all watchdogs killed': ({watchdogs}) => [['SIGKILL', watchdogs]],
	'all watchdogs stopped': ({watchdogs}) => [['SIGSTOP', watchdogs]],
	'all sleeps stopped': ({sleeps}) => [['SIGSTOP', sleeps]],
	'all watchdogs and the shim killed': ({watchdogs, shims}) => [['SIGKILL', [...watchdogs, ...shims]]],
};

// ---- how their host falls silent -------------------------------------------------------------------------------------------

type Fleet = {
	readonly network: Network;
	readonly kill: (host: string) => Promise<void>;
	readonly start: (host: string) => Promise<void>;
	readonly signal: (host: string, name: NodeJS.Signals) => void;
};

type Silence = {
	readonly harms: typeof singles;
	readonly begin: (fleet: Fleet, victim: string) => void | Promise<void>;
	/** After the helpers were harmed. */
	readonly then?: (fleet: Fleet, victim: string) => void | Promise<void>;
	readonly end: (fleet: Fleet, victim: string) => void | Promise<void>;
};

const silences: Readonly<Record<string, Silence>> = {
	'the link is cut': {
		harms: all,
		begin: ({network}, victim) => network.cut(victim),
		end: ({network}, victim) => network.heal(victim),
	},
	'the agent is killed': {harms: singles, begin: ({kill}, victim) => kill(victim), end: ({start}, victim) => start(victim)},
	'the agent is stopped': {
		harms: singles,
		begin: ({signal}, victim) => signal(victim, 'SIGSTOP'),
		end: ({signal}, victim) => signal(victim, 'SIGCONT'),
	},
	'the link is cut and the agent killed': {
		harms: singles,
		async begin({network, kill}, victim) {
			network.cut(victim);
			await kill(victim);
		},
		async end({network, start}, victim) {
			network.heal(victim);
			await start(victim);
		},
	},
	'the link is cut, the agent killed and started again': {
		harms: all,
		async begin({network, kill}, victim) {
			network.cut(victim);
			await kill(victim);
		},
		then: ({start}, victim) => start(victim),
		end: ({network}, victim) => network.heal(victim),
	},
	'the link is cut, the control plane killed and started again': {
		harms: all,
		async begin({network, kill}, victim) {
			network.cut(victim);
			await kill(serverHost);
		},
		then: ({start}) => start(serverHost),
		end: ({network}, victim) => network.heal(victim),
	},
};

// ---- the cluster -----------------------------------------------------------------------------------------------------------

const cleanings: (() => void | Promise<void>)[] = [];
const owner: Owner = {teardown: clean => void cleanings.unshift(clean)};
const folder = mkdtempSync(path.join(tmpdir(), 'troupe-deaths-'));
const homeOf = (host: string): string => path.join(folder, host);
const running = new Map<string, ChildProcess>();
const journals = new Map(Object.keys(all).map(harm => [harm, openJournal(owner)]));
let network: Network;
const api = (): string => `${network.addressOf(serverHost)}:6443`;

owner.teardown(async () => {
	await killAll(folder);
	for (const pid of watchdogsIn(folder)) process.kill(pid, 'SIGKILL');
	rmSync(folder, {recursive: true, force: true, maxRetries: 5});
});

function open(host: string, home: string, words: readonly string[]): ChildProcess {
	const [command = '', ...enter] = network.on(host);
	const env = {PATH: process.env['PATH'], HOME: folder, TROUPE_HOME: home};
	return spawn(command, [...enter, process.execPath, main, ...asProcesses(words)], {env, stdio: ['pipe', 'pipe', 'pipe']});
}

/** Starts a part of the cluster and waits for the line that says it is ready; an agent that cannot reach its server never says it. */
async function startPart(host: string, words: readonly string[], isWaitedFor = true): Promise<void> {
	const child = open(host, homeOf(host), words);
	running.set(host, child);
	let said = '';
	const listen = (chunk: Buffer): void => void (said = (said + chunk.toString()).slice(-4_000));
	child.stdout?.on('data', listen);
	child.stderr?.on('data', listen);
	if (!isWaitedFor) return;
	const isOver = (): boolean => /is ready/.test(said) || child.exitCode !== null;
	await eventually(`${host} is ready`, isOver, () => said, patienceMs);
	if (child.exitCode !== null) throw new Error(`${host} ended: ${said}`);
}

/** A command as given on the server's host. */
async function troupe(words: readonly string[], input = ''): Promise<string> {
	const child = open(serverHost, homeOf(serverHost), words);
	let out = '';
	let err = '';
	child.stdout?.on('data', (chunk: Buffer) => (out += chunk.toString()));
	child.stderr?.on('data', (chunk: Buffer) => (err += chunk.toString()));
	child.stdin?.end(input);
	await within(`the end of troupe ${words.join(' ')}`, once(child, 'close'), () => out + err);
	if (child.exitCode !== 0) throw new Error(`troupe ${words.join(' ')} ended with ${String(child.exitCode)}: ${err}`);
	return out.trim();
}

const startServer = (): Promise<void> => startPart(serverHost, ['server', `--api=${api()}`, '--web=127.0.0.1:0', '--mqtt=127.0.0.1:0']);

const childOn = (host: string): ChildProcess => {
	const child = running.get(host);
	if (child === undefined) throw new Error(`nothing runs on ${host}`);
	return child;
};

const isReady = async (host: string): Promise<boolean> => {
	const node = JSON.parse(await troupe(['get', 'node', host, '-o', 'json']).catch(() => '{}')) as Partial<NodeObject>;
	return isConditionTrue(node.status?.conditions, 'Ready');
};

const fleetOf = (): Fleet => ({
	network,
	async kill(host) {
		const child = childOn(host);
		const ended = once(child, 'exit');
		child.kill('SIGKILL');
		await within(`the end of what runs on ${host}`, ended);
	},
	start: host => (host === serverHost ? startServer() : startPart(host, ['agent'], false)),
	signal: (host, name) => void childOn(host).kill(name),
});

// ---- processes -------------------------------------------------------------------------------------------------------------

const text = (file: string): string => {
	try {
		return readFileSync(file, 'latin1');
	} catch {
		return ''; // It has ended.
	}
};

const pids = (): readonly number[] =>
	readdirSync('/proc')
		.filter(name => /^\d+$/.test(name))
		.map(Number);

const watchdogsIn = (place: string): readonly number[] =>
	pids().filter(pid => {
		const words = text(`/proc/${pid}/cmdline`).split('\0');
		return words.includes('troupe-watchdog') && words.some(word => word.startsWith(place));
	});

function helpersOf(host: string, pod: string): Helpers {
	const watchdogs = watchdogsIn(path.join(homeOf(host), 'data/runtime', pod));
	const everyone = pids();
	return {
		watchdogs,
		sleeps: watchdogs.flatMap(watchdog => everyone.filter(pid => parentOf(pid) === watchdog)),
		shims: processesOf(homeOf(host)).flatMap(({role, podUid, pid}) => (role === 'shim' && podUid === pod ? [pid] : [])),
	};
}

function send(signal: NodeJS.Signals, pid: number | undefined): void {
	try {
		if (pid !== undefined) process.kill(pid, signal);
	} catch {
		// Another harm was its end.
	}
}

// ---- the rows --------------------------------------------------------------------------------------------------------------

const journalOf = (harm: string): string => journals.get(harm) ?? '';
const holderOf = (harm: string) => spellsIn(journalOf(harm)).at(-1);

test.before(async t => {
	t.timeout(120_000);
	network = layNetwork(owner, `td${process.pid}`, [serverHost, ...nodes]);
	await startServer();
	const token = await troupe(['token', 'create', '--join']);
	for (const [index, host] of nodes.entries()) {
		await startPart(host, ['agent', `--join=https://${api()}`, `--token=${token}`, `--node=${host}`]);
		if (index > 0) continue;
		// All of them on one host.
		const sets = [...journals].map(([harm, journal]) => exclusiveSet(harm.replace(/[^a-z]+/g, '-'), journal, 0.25));
		await troupe(['apply', '-f', '-'], sets.map(set => JSON.stringify(set)).join('\n---\n'));
		await eventually('all of them run', () => [...journals.keys()].every(harm => holderOf(harm)?.node === host), undefined, patienceMs);
	}
});

test.after.always(async () => {
	for (const clean of cleanings) await clean();
});

for (const [silence, {harms, begin, then, end}] of Object.entries(silences)) {
	test.serial(`${silence}, and of what guards each pod something dies: no two run at once`, async t => {
		t.timeout(240_000);
		const fleet = fleetOf();
		const victim = holderOf('nothing else')?.node ?? '';
		const other = nodes.find(host => host !== victim) ?? '';
		for (const harm of journals.keys()) t.is(holderOf(harm)?.node, victim, `${harm} is to run on ${victim}`);
		const before = new Map([...journals.keys()].map(harm => [harm, spellsIn(journalOf(harm)).length]));
		const stopped: number[] = [];

		await begin(fleet, victim);
		for (const [harm, harmed] of Object.entries(harms)) {
			for (const [signal, victims] of harmed(helpersOf(victim, holderOf(harm)?.pod ?? ''))) {
				for (const pid of victims) send(signal, pid);
				if (signal === 'SIGSTOP') stopped.push(...victims.flatMap(pid => pid ?? []));
			}
		}
		await then?.(fleet, victim);
		await eventually(
			`all of them run on ${other}`,
			() => [...journals.keys()].every(harm => holderOf(harm)?.node === other),
			() => JSON.stringify([...journals.keys()].filter(harm => holderOf(harm)?.node !== other)),
			patienceMs,
		);
		// What was left over would go on writing.
		const [up = ''] = readFileSync('/proc/uptime', 'utf8').split(' ');
		await eventually('the new holders have written for a while', () => (holderOf('nothing else')?.to ?? 0) > Number(up) + 3);

		const overlaps = Object.keys(harms).map((harm): readonly [string, number] => [
			harm,
			overlapOf(spellsIn(journalOf(harm)).slice(Math.max(0, (before.get(harm) ?? 1) - 1))),
		]);
		for (const pid of stopped) send('SIGCONT', pid);
		await end(fleet, victim);
		await eventually(`${victim} is back`, () => isReady(victim), undefined, patienceMs);
		await eventually(`nothing is left on ${victim}`, () => programsOf(homeOf(victim)).length === 0, undefined, patienceMs);

		for (const [harm, overlap] of overlaps) t.log(`${harm}: ${overlap > 0 ? 'ran twice' : 'away'} for ${Math.abs(overlap).toFixed(1)} s`);
		t.deepEqual(
			overlaps.filter(([, overlap]) => overlap > 0),
			[],
		);
	});
}
