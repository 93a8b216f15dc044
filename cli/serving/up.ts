// `troupe up`: a whole cluster in this process, a control plane and a node, to which others may join. Stops in good order on SIGINT,
// SIGTERM and SIGHUP; pods run on.

import path from 'node:path';
import type {ControlOptions} from '../../actors/control/start.js';
import type {NodeSystem} from '../../actors/node/start.js';
import type {Runtime} from '../../actors/node/runtime/runtime-port.js';
import {uncachedSecrets} from '../../agent/secret-cache.js';
import {createSimulatedNetwork, type SimulatedNetwork} from '../../agent/simulated/host.js';
import {createMemoryStore} from '../../system/store/memory-store.js';
import type {StoreDriver} from '../../system/store/store.js';
import {createClosers, type Closers} from './closers.js';
import {readyText, type Endpoints} from '../files/endpoints.js';
import {openGround, type Ground} from './ground.js';
import {homeFlag, kubeconfigNotes} from '../files/home-flag.js';
import {openLeader} from './leader.js';
import {openLocalNode, openRuntime} from './local-node.js';
import type {Log} from './log.js';
import {openNodeSecrets} from './node-secrets.js';
import {stopped} from './opened.js';
import {serve, type Stage} from './serve.js';
import type {Term} from './term.js';
import type {UpOptions} from './up-options.js';
import {failedError} from '../command.js';

/**
 * Runs until it is told to stop; the exit code. Throws when it cannot start, with nothing left open. `design` is the control
 * system's, for tests that plant a bug in it.
 */
export function runUp(options: UpOptions, design?: ControlOptions['design']): Promise<number> {
	return serve('up', options.home, async stage => {
		const ground = openGround();
		stage.closers.add(ground.close);
		const nodes = new Map<string, NodeSystem>();
		const behindNodes = createClosers();
		// After the doors and the control plane: these are opened before the nodes, and close before them.
		stage.closers.add(async () => {
			await Promise.all([...nodes.values()].map(stopped));
			await behindNodes.closeAll();
		});
		const names = [options.node, ...Array.from({length: options.simulatedNodes}, (_, index) => `sim-${index + 1}`)];
		const {url, doors, term, otherLeader} = await openLeader({
			stage,
			ground,
			options,
			ownNodes: new Map(names.map(name => [name, () => nodes.get(name)?.system])),
			onStandby: reason => stage.fail(`the store is lost: ${reason}`),
			...(design === undefined ? {} : {design}),
		});
		const current = term();
		if (current === undefined)
			throw failedError(`${otherLeader()?.api ?? 'another server'} leads over ${options.store}; troupe server stands by it`);
		const notes = [...kubeconfigNotes()];
		const onNote = (note: string): void => {
			stage.log.warn(note);
			notes.push(note);
		};
		const around: Surroundings = {options, ground, stage, closers: behindNodes, term: current, network: createSimulatedNetwork(), onNote};
		for (const name of names) nodes.set(name, await openNodeOf(name, around));
		for (const node of nodes.values()) node.begin();
		const endpoints: Endpoints = {command: 'up', api: url, ...doors, pid: process.pid, notes};
		const farewell = `the cluster has stopped; its pods run on (troupe down --pods${homeFlag(options.home)} stops them)`;
		return {endpoints, text: readyText(options.home, endpoints, false), farewell};
	});
}

type Surroundings = {
	readonly options: UpOptions;
	readonly ground: Ground;
	readonly stage: Stage;
	readonly closers: Closers;
	readonly term: Term;
	readonly network: SimulatedNetwork;
	readonly onNote: (note: string) => void;
};

async function openNodeOf(name: string, {options, ground, stage, closers, term, network, onNote}: Surroundings): Promise<NodeSystem> {
	const {log, fail, home} = stage;
	const isOwn = name === options.node;
	// The cache first: whoever has it may use the runtime's folder.
	const driver = await cacheOf(isOwn && options.store !== 'memory' ? path.join(home.data, 'node') : undefined, ground, log);
	closers.add(driver.close);
	const fetch = term.secretsFor(name);
	const secrets = isOwn ? await openNodeSecrets(home, fetch, log) : uncachedSecrets(fetch);
	const runtime: Runtime = await openRuntime(
		{
			choice: isOwn ? options.runtime : 'simulated',
			home,
			cache: undefined,
			secrets,
			hostPaths: options.hostPaths,
			users: options.podUsers,
			processes: options.maxProcesses,
			onNote,
			network,
		},
		ground,
		log,
	);
	closers.add(runtime.close);
	const links = ground.linksOf(name);
	const boot = ground.random.uuid();
	return openLocalNode({
		ground,
		log,
		fail,
		name,
		links,
		boot,
		driver,
		runtime,
		secrets,
		measure: () => false,
		onLifecycle: term.onLifecycle,
		followsAny: options.isNew,
	});
}

async function cacheOf(directory: string | undefined, {executor}: Ground, log: Log): Promise<StoreDriver> {
	if (directory === undefined) return createMemoryStore(executor.defer);
	return (await import('./level-cache.js')).openLevelCache(directory, log);
}
