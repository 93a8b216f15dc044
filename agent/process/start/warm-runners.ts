// Runners of functions that wait for their pods, on a node where that can be: a pool for each language, and those that a pod has before its instance
// begins.
//
// Node.js cannot enter a network. Where pods have networks of their own it waits in an empty one, and that becomes the network of the pod: so such a
// runner is chosen when the pod's sandbox is made, before its instance begins.
//
// What it keeps true: nothing is left of what an earlier agent had begun; no more runners are kept for pods than wait.

import {rmSync} from 'node:fs';
import path from 'node:path';
import type {FunctionLanguage} from '../../../api/function-languages.js';
import {limits} from '../../../api/limits.js';
import type {Cancel, Clock} from '../../../system/time/clock.js';
import {warmRunnerWords} from '../../functions/runner-files.js';
import {keyOfWish, wishOfKey, type WarmWish} from '../../functions/warm/wish.js';
import {createWarmPool, type WarmPool} from '../../functions/warm/warm-pool.js';
import {networkInodeOf, type NetworkOfProcess} from '../../os/network-namespace.js';
import {createTurns} from '../../os/turns.js';
import type {Stock} from '../attempts/stock.js';
import type {ContainerGroups} from '../cgroups/container-groups.js';
import type {Host} from '../host/host.js';
import {noGainWords} from '../users/privileges.js';
import {isChangeable} from './changeable.js';
import {waitingCommand} from './shim.js';
import {waitingPython} from './warm-python.js';
import {startWarmShim, type WarmShim} from './warm-shim.js';

export type WarmRunners = {
	/** An instance begins that one could have become: they are wanted from now on. */
	readonly want: (wish: WarmWish) => void;
	/** How many wait, those that pods have not counted. */
	readonly ready: () => number;
	/** Whether one might be there for this pod. */
	readonly mayHave: (language: FunctionLanguage, pod: WarmPod) => boolean;
	/** One that is the caller's now; what the pod had and cannot use ends. Undefined: there is none. */
	readonly take: (wish: WarmWish, pod: WarmPod) => WarmShim | undefined;
	/** A process whose network is to be that of this pod, which is new; undefined: there is none, or no pod of its controller could use it. */
	readonly keepFor: (pod: NewPod, wish: Omit<WarmWish, 'program'>) => NetworkOfProcess | undefined;
	/** The pod needs none. */
	readonly release: (uid: string) => void;
	/** What the pod has it cannot use, nor will others of its controller. */
	readonly refuse: (uid: string) => void;
	/** Resolves when the last has ended. */
	readonly close: () => Promise<void>;
};

/** `networkFile` stands for the network of its own that it has, if it has one. */
export type WarmPod = {readonly uid: string; readonly networkFile: string | undefined};

/** `controller`: its pods are alike. */
export type NewPod = {readonly uid: string; readonly controller: string};

export type WarmRunnersOptions = {
	/** The runtime's own. */
	readonly directory: string;
	/** Of each language. */
	readonly count: number;
	/** New pods have networks of their own. */
	readonly isRouted: boolean;
	readonly host: Host;
	readonly groups: ContainerGroups;
	readonly stock: Stock;
	readonly clock: Clock;
	readonly onWarning: (message: string) => void;
};

type Kept = {readonly controller: string; readonly key: string; readonly shim: WarmShim; readonly cancel: Cancel};

/** Where the agent is not root, or cannot make namespaces, it never has any. Throws errno exceptions. */
export function createWarmRunners(options: WarmRunnersOptions): WarmRunners {
	const {count: most, host, isRouted, clock} = options;
	const count = host.namespaces !== undefined && host.dropper !== undefined && host.agent.uid === 0 ? most : 0;
	const pools = openPools(options, count);
	const kept = new Map<string, Kept>();
	const drop = (uid: string): Kept | undefined => {
		const one = kept.get(uid);
		kept.delete(uid);
		one?.cancel();
		return one;
	};
	const release = (uid: string): void => drop(uid)?.shim.end();
	/** Controllers whose pods cannot use one, the oldest first, and until when that is believed, by the monotonic clock. */
	const refusing = new Map<string, number>();
	const refuse = (one: Kept | undefined): void => {
		if (one === undefined) return;
		one.shim.end();
		const [oldest] = refusing.keys();
		if (refusing.size >= limits.warmPrograms && oldest !== undefined) refusing.delete(oldest);
		refusing.delete(one.controller);
		refusing.set(one.controller, clock.monotonicMs() + limits.warmRunnerIdleMs);
	};
	const isRefusing = (controller: string): boolean => (refusing.get(controller) ?? 0) > clock.monotonicMs();
	const isKeptFor = (language: FunctionLanguage): boolean => language === 'nodejs' && isRouted;
	return {
		want: wish => pools[wish.language].want(keyOfWish(wish)),
		ready: () => Object.values(pools).reduce((sum, pool) => sum + pool.ready(), 0),
		mayHave: (language, pod) => (isKeptFor(language) ? pod.networkFile !== undefined && kept.has(pod.uid) : pools[language].ready() > 0),
		take(wish, {uid, networkFile}) {
			const key = keyOfWish(wish);
			if (!isKeptFor(wish.language))
				return wish.language === 'nodejs' && networkFile !== undefined ? undefined : pools[wish.language].take(key);
			const one = drop(uid);
			if (one?.key !== key || networkFile === undefined) {
				refuse(one);
				return undefined;
			}
			if (one.shim.isAlive() && networkInodeOf(networkFile) === one.shim.network?.inode) return one.shim;
			// The network of the pod was made anew.
			one.shim.end();
			return undefined;
		},
		keepFor({uid, controller}, {language, memoryBytes}) {
			if (!isKeptFor(language) || kept.has(uid) || kept.size >= count || isRefusing(controller)) return undefined;
			const key = keyOfWish({program: process.execPath, memoryBytes});
			const shim = pools[language].take(key);
			if (shim?.network === undefined) {
				shim?.end();
				return undefined;
			}
			kept.set(uid, {controller, key, shim, cancel: clock.after(limits.warmRunnerKeptMs, () => release(uid))});
			return shim.network;
		},
		release,
		refuse: uid => refuse(drop(uid)),
		async close() {
			const last = [...kept.values()].map(({shim}) => shim.ended);
			for (const uid of [...kept.keys()]) release(uid);
			await Promise.all([...last, ...Object.values(pools).map(pool => pool.close())]);
		},
	};
}

type Start = (program: string, memoryBytes: number | undefined) => Promise<WarmShim | undefined>;

function openPools(options: WarmRunnersOptions, count: number): Readonly<Record<FunctionLanguage, WarmPool<WarmShim>>> {
	const {clock, onWarning} = options;
	const starts = startsOf(options);
	// One at a time, of whichever language.
	const turns = createTurns();
	const poolOf = (start: Start): WarmPool<WarmShim> =>
		createWarmPool({
			count,
			start(key) {
				const {program, memoryBytes} = wishOfKey(key);
				return turns.run('start', () => start(program, memoryBytes));
			},
			clock,
			onWarning,
		});
	return {python: poolOf(starts.python), nodejs: poolOf(starts.nodejs)};
}

/** The uid of no pod: groups of its name that a later agent finds are swept away. */
const ofNoPod = '.warm';

function startsOf({directory, host, groups, isRouted, stock, clock}: WarmRunnersOptions): Readonly<Record<FunctionLanguage, Start>> {
	const folder = path.join(directory, ofNoPod);
	rmSync(folder, {recursive: true, force: true});
	let serial = 0;
	const {namespaces, dropper, noGain} = host;
	return {
		async python(program) {
			const command = namespaces === undefined || dropper === undefined ? undefined : await waitingPython(program, namespaces, dropper);
			if (command === undefined) return undefined;
			return startWarmShim({command, folder: path.join(folder, String(++serial)), stock, clock});
		},
		async nodejs(program, memoryLimitBytes) {
			// The agent's own, which root runs anyway.
			if (namespaces === undefined || noGain === undefined || program !== process.execPath || isChangeable(program)) return undefined;
			const attempt = ++serial;
			// Shims of earlier agents may still have theirs.
			const id = {uid: ofNoPod, container: `nodejs-${clock.nowMs()}`};
			const bounds = {memoryLimitBytes, cpuLimitMillis: undefined, cpuRequestMillis: undefined};
			const onOver = (done: () => void): void => groups.end(id, attempt, done);
			// V8 sizes itself by the groups in which it begins.
			try {
				groups.make(id, attempt, bounds);
			} catch (error) {
				onOver(() => undefined);
				throw error;
			}
			const argv = [...noGainWords(noGain), ...warmRunnerWords('nodejs', program)];
			const command = waitingCommand({argv, namespaces, hasNetwork: isRouted, cgroups: groups.procsFiles(id, attempt, bounds)});
			return startWarmShim({command, folder: path.join(folder, String(attempt)), stock, clock, onOver});
		},
	};
}
