// The runners of functions that wait in containers of a node: a few for each of the images that instances were begun of last.
//
// What it keeps true: a runner is handed out once, to one pod, which has its sandbox and its container then; of what an agent that died has left,
// nothing is used again.

import {rmSync} from 'node:fs';
import path from 'node:path';
import {limits} from '../../../api/limits.js';
import type {SandboxSpec} from '../../../actors/node/runtime/runtime-port.js';
import type {Cancel} from '../../../system/time/clock.js';
import type {Random} from '../../../system/time/random.js';
import {fixedVariables} from '../../devices/variables.js';
import {createWarmPool, type WarmPool} from '../../functions/warm/warm-pool.js';
import {warmIdsIn} from '../containers/container-files.js';
import {remove} from '../engine/calls.js';
import type {SandboxedRunners} from '../sandboxes/sandboxes.js';
import type {WarmSandbox} from '../sandboxes/warm-sandbox.js';
import {startWaitingRunner, type RunnerMaker, type RunnerTemplate, type WaitingRunner} from './waiting-runner.js';

export type RunnerWish = NonNullable<SandboxSpec['runner']>;

export type WarmRunners = SandboxedRunners & {
	/** An instance was begun of that: further ones may be. */
	readonly want: (wish: RunnerWish, options: RunnerTemplate['options']) => void;
	/** The one that the pod was given, and whose container is not begun yet. */
	readonly find: (uid: string) => WaitingRunner | undefined;
	/** It has become what the pod runs, or never will. */
	readonly finish: (uid: string, hasBegun: boolean) => void;
	/** How many wait. */
	readonly ready: () => number;
	/** Removes those that wait, as far as the Engine does that soon. Never rejects. */
	readonly close: () => Promise<void>;
};

export type WarmRunnersOptions = RunnerMaker & {
	/** For each image; 0: there are never any. */
	readonly count: number;
	/** Of the agent; where runners that wait have their folders. */
	readonly directory: string;
	readonly folderOf: (uid: string) => string;
	/** Whether the Engine is one on which a sandbox can be named afterwards. */
	readonly canBe: () => boolean;
	readonly random: Random;
	readonly onWarning: (message: string) => void;
};

type Image = {readonly pool: WarmPool<WaitingRunner>; template: RunnerTemplate};

type State = WarmRunnersOptions & {
	/** By image and language, what was wanted last at the end. */
	readonly images: Map<string, Image>;
	/** What those are called that are being made. */
	readonly making: Set<string>;
	readonly waiting: Set<WaitingRunner>;
	readonly given: Map<string, {readonly runner: WaitingRunner; isOver: boolean}>;
	readonly closing: Set<Promise<void>>;
	closed: boolean;
};

/** No pod's name. */
const folderName = '.runners';

/** Throws errno exceptions. */
export function createWarmRunners(options: WarmRunnersOptions): WarmRunners {
	const state: State = {
		...options,
		images: new Map(),
		making: new Set(),
		waiting: new Set(),
		given: new Map(),
		closing: new Set(),
		closed: false,
	};
	const {given, images, waiting, making} = state;
	rmSync(path.join(options.directory, folderName), {recursive: true, force: true});
	return {
		want: (wish, made) => want(state, wish, made),
		take: (uid, wish) => take(state, uid, wish),
		find(uid) {
			const there = given.get(uid);
			return there?.isOver === false ? there.runner : undefined;
		},
		finish(uid, hasBegun) {
			const there = given.get(uid);
			if (there !== undefined) there.isOver = true;
			// One that nobody knows of is of nobody when the Engine is compared with.
			if (!hasBegun) given.delete(uid);
		},
		drop: uid => drop(state, uid),
		has: (id, name) =>
			[...making].some(hostname => name.includes(hostname)) ||
			[...waiting, ...[...given.values()].map(({runner}) => runner)].some(each => each.id === id || each.sandbox.id === id),
		hear(id) {
			for (const runner of waiting) if (runner.sandbox.id === id) runner.end();
		},
		ready: () => [...images.values()].reduce((sum, {pool}) => sum + pool.ready(), 0),
		close: () => close(state),
	};
}

/** V8 sizes itself by the limit under which it begins. */
const keyOf = ({language, image, memoryLimitBytes}: RunnerWish): string =>
	[language, image, ...(language === 'nodejs' ? [memoryLimitBytes ?? 'unlimited'] : [])].join(' ');

function want(state: State, wish: RunnerWish, options: RunnerTemplate['options']): void {
	const {images, count, canBe, closed} = state;
	if (closed || count === 0 || !canBe()) return;
	const key = keyOf(wish);
	// The rest of its environment is the pod's, and is kept nowhere.
	const template = {language: wish.language, options: {...options, Env: fixedVariables(options.Env)}};
	const image = images.get(key) ?? {pool: poolOf(state, key), template};
	image.template = template;
	images.delete(key);
	images.set(key, image);
	const [oldest] = images;
	if (images.size > limits.warmRunnerImages && oldest !== undefined) {
		images.delete(oldest[0]);
		closePool(state, oldest[1].pool);
	}
	image.pool.want(key);
}

function poolOf(state: State, key: string): WarmPool<WaitingRunner> {
	const {count, clock, onWarning} = state;
	return createWarmPool({count, start: () => begin(state, key), clock, onWarning});
}

function closePool({closing}: State, pool: WarmPool<WaitingRunner>): void {
	const closed = pool.close().finally(() => closing.delete(closed));
	closing.add(closed);
}

async function begin(state: State, key: string): Promise<WaitingRunner | undefined> {
	const {images, making, waiting, directory, random} = state;
	const image = images.get(key);
	if (image === undefined) return undefined;
	const hostname = `warm-${random.uuid().slice(-12)}`;
	making.add(hostname);
	try {
		const runner = await startWaitingRunner(state, image.template, {hostname, folder: path.join(directory, folderName, hostname)});
		waiting.add(runner);
		void runner.ended.then(() => waiting.delete(runner));
		return runner;
	} finally {
		making.delete(hostname);
	}
}

function take({images, waiting, given}: State, uid: string, wish: RunnerWish): WarmSandbox | undefined {
	const runner = images.get(keyOf(wish))?.pool.take(keyOf(wish));
	if (runner === undefined) return undefined;
	runner.handOut();
	waiting.delete(runner);
	given.set(uid, {runner, isOver: false});
	return runner.sandbox;
}

async function drop({given, engine, folderOf}: State, uid: string): Promise<void> {
	const there = given.get(uid);
	await there?.runner.remove();
	for (const id of warmIdsIn(folderOf(uid))) await remove(engine, id);
	given.delete(uid);
}

async function close(state: State): Promise<void> {
	const {images, given, closing, clock} = state;
	state.closed = true;
	for (const {pool} of images.values()) closePool(state, pool);
	// Those that their pods have not begun end by themselves, and go when the Engine is compared with.
	for (const {runner} of given.values()) runner.end();
	let cancel: Cancel = () => undefined;
	const late = new Promise<void>(resolve => (cancel = clock.after(limits.warmCloseMs, resolve)));
	await Promise.race([Promise.allSettled([...closing]), late]);
	cancel();
}
