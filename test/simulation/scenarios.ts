// What happens in each scenario: generators of plans, each a function of its seed alone.

import {limits} from '../../api/limits.js';
import type {JsonObject} from '../../api/object.js';
import {clientDeeds, inTurn, packetsOf, sets, smallHarm, storeOf} from './deeds.js';
import {sidecarNames} from './sidecars.js';
import {policyCode} from './tasks.js';
import {drawOf, type Act, type ClaimPolicy, type Deed, type Draw, type Plan} from './plan.js';

export type ScenarioName = keyof typeof scenarios;

type Sketch = Omit<Plan, 'seed' | 'scenario' | 'aftermathMs'>;

/** Everything a little, at the same time. */
function mixed(draw: Draw): Sketch {
	const below: Deed[] = draw.chance(0.8)
		? [packetsOf(draw, 60_000), storeOf(draw, 'control', 60_000), ...(draw.chance(0.5) ? [storeOf(draw, draw.share(), 60_000)] : [])]
		: [];
	const rounds = 3 + draw.below(6);
	const deeds = Array.from({length: rounds}, (_, index) =>
		draw.chance(0.4) || index === 0 ? draw.one(clientDeeds)(draw, index) : draw.one(smallHarm)(draw),
	);
	return {
		nodes: 1 + draw.below(3),
		servers: 1,
		externalBroker: draw.chance(0.2),
		localNodes: draw.chance(0.5),
		watcher: draw.chance(0.3),
		acts: [
			...inTurn(draw, below).map(act => ({...act, atMs: 0})),
			...inTurn(draw, sets(draw, 1, 3)),
			...inTurn(draw, deeds, draw.between(0, 2_000)),
		],
	};
}

/** A node goes, in one of the ways in which nodes go, while sets change. */
function nodeLoss(draw: Draw): Sketch {
	const forMs = (): number => (draw.chance(0.5) ? draw.between(0, 4_500) : draw.between(6_000, 20_000));
	const losses: readonly (() => Deed)[] = [
		() => ({type: 'restart', node: draw.share(), forMs: forMs()}),
		() => ({type: draw.one(['stop', 'freeze']), place: 'control', forMs: forMs()}),
		() => ({type: 'deafen', forMs: forMs()}),
		() => ({type: 'kill', place: draw.share(), forMs: forMs()}),
		() => ({type: 'hostDown', node: draw.share(), forMs: forMs()}),
		() => ({type: 'freeze', place: draw.share(), forMs: forMs()}),
		() => ({type: 'stop', place: draw.share(), forMs: forMs()}),
		() => ({type: 'cutConnection', node: draw.share(), line: draw.one(['control', 'bulk', 'beat']), forMs: forMs()}),
	];
	const harm = Array.from({length: 1 + draw.below(3)}, () => draw.one(losses)());
	const asked = Array.from({length: draw.below(3)}, (_, index) => draw.one(clientDeeds)(draw, index));
	return {
		nodes: 2 + draw.below(2),
		servers: 1,
		externalBroker: draw.chance(0.4),
		localNodes: false,
		watcher: false,
		acts: [...inTurn(draw, sets(draw, 1 + draw.below(2), 3)), ...inTurn(draw, harm, 4_000), ...inTurn(draw, asked, 4_500)],
	};
}

/** Some or all nodes cannot reach control, in both directions or in one. */
function partition(draw: Draw): Sketch {
	const cut = (): Deed => ({
		type: 'partition',
		nodes: draw.one([0.01, 0.34, 0.5, 1]),
		way: draw.one(['both', 'both', 'up', 'down']),
		forMs: draw.chance(0.5) ? draw.between(200, 4_500) : draw.between(6_000, 30_000),
	});
	const harm = Array.from({length: 1 + draw.below(2)}, cut);
	const asked = Array.from({length: 1 + draw.below(4)}, (_, index) => draw.one(clientDeeds)(draw, index));
	return {
		nodes: 2 + draw.below(2),
		servers: 1,
		externalBroker: draw.chance(0.3),
		localNodes: draw.chance(0.2),
		watcher: draw.chance(0.3),
		acts: [...inTurn(draw, sets(draw, 1 + draw.below(2), 3)), ...inTurn(draw, harm, 4_000), ...inTurn(draw, asked, 4_500)],
	};
}

/** One cable at a time is out for half a second at most, in for less: of any node, or always of the same. */
function flapping(draw: Draw): Sketch {
	const nodes = 2 + draw.below(3);
	const same = draw.chance(0.5) ? draw.share() : undefined;
	const acts: Act[] = [];
	const endMs = 3_000 + (same === undefined ? draw.between(8_000, 40_000) : 8_000);
	for (let atMs = 3_000; atMs < endMs;) {
		const forMs = draw.between(50, 550);
		acts.push({type: 'cutLink', node: same ?? draw.share(), forMs, atMs});
		atMs += forMs + draw.between(0, 300);
	}
	const steady: Deed[] = [
		{type: 'create', set: 'set-1', replicas: nodes, program: 'serves'},
		...(draw.chance(0.5) ? [{type: 'create', set: 'only', replicas: 1, program: 'serves', exclusive: true} as const] : []),
	];
	return {
		nodes,
		servers: 1,
		externalBroker: draw.chance(0.3),
		localNodes: false,
		watcher: draw.chance(0.2),
		keepsAll: true,
		acts: [...steady.map(deed => ({...deed, atMs: 0})), ...acts],
	};
}

/** Two or three servers on one store: the leader is killed, stands still for long with work in its hands, or loses the store. */
function leaderChange(draw: Draw): Sketch {
	const changes: readonly (() => Deed)[] = [
		() => ({type: 'kill', place: 'control', forMs: draw.between(0, 6_000)}),
		() => ({type: 'killAtCommit', place: 'control', commits: draw.below(10)}),
		() => ({
			type: 'stop',
			place: 'control',
			forMs: draw.one([draw.between(100, 1_900), 2 * limits.leaseTtlMs, draw.between(2_000, 9_000)]),
		}),
		() => ({type: 'freeze', place: 'control', forMs: draw.between(500, 5_000)}),
		() => ({type: 'clockJump', place: 'control', byMs: draw.between(-3_600_000, 3_600_000)}),
		() => ({
			type: 'store',
			place: 'control',
			trouble: {failCommit: 0, unknownCommit: 0, commitMs: 0, unreachable: true},
			forMs: draw.between(300, 8_000),
		}),
		() => ({type: 'partition', nodes: draw.one([0.34, 1]), way: 'both', forMs: draw.between(200, 8_000)}),
	];
	const acts = Array.from({length: 1 + draw.below(3)}, (_, round): Act[] => {
		const atMs = 3_000 + round * draw.between(1_000, 5_000);
		const asked = Array.from({length: draw.below(4)}, (_each, index) => draw.one(clientDeeds)(draw, 10 * round + index));
		// Some are asked in the very moment, some find the new leader.
		return [
			{...draw.one(changes)(), atMs},
			...asked.map(deed => ({...deed, atMs: atMs + (draw.chance(0.6) ? 0 : draw.between(1, 4_000))})),
		];
	});
	return {
		nodes: 1 + draw.below(3),
		servers: 2 + draw.below(2),
		externalBroker: draw.chance(0.3),
		localNodes: false,
		watcher: draw.chance(0.3),
		acts: [...inTurn(draw, sets(draw, 1 + draw.below(2), 3)), ...acts.flat()],
	};
}

/** One node's wires are slow, and the runtime of one too; the others must not notice. */
function slowNode(draw: Draw): Sketch {
	const slow: Deed = {
		type: 'slow',
		node: draw.share(),
		latencyMs: draw.between(20, 900),
		perMessageMs: draw.between(1, 100),
		forMs: draw.between(5_000, 20_000),
	};
	const asked = Array.from({length: 2 + draw.below(5)}, (_, index) => draw.one(clientDeeds)(draw, index));
	const harm = Array.from({length: draw.below(2)}, () => draw.one(smallHarm)(draw));
	return {
		nodes: 2 + draw.below(2),
		servers: 1,
		externalBroker: false,
		localNodes: draw.chance(0.5),
		watcher: draw.chance(0.2),
		acts: [...inTurn(draw, sets(draw, 2, 3)), {...slow, atMs: draw.between(0, 4_000)}, ...inTurn(draw, [...asked, ...harm], 4_000)],
	};
}

/** The store refuses, falls silent, is slow or cannot be reached; control's, a node's cache, or both. */
function storeTrouble(draw: Draw): Sketch {
	const trouble = (): Deed => ({
		type: 'store',
		place: draw.chance(0.7) ? 'control' : draw.share(),
		trouble: {
			failCommit: draw.chance(0.3) ? 1 : draw.share() * 0.5,
			unknownCommit: draw.share() * 0.3,
			commitMs: draw.chance(0.3) ? draw.between(10, 500) : 0,
			unreachable: draw.chance(0.2),
		},
		forMs: draw.between(500, 20_000),
	});
	const damage = (): Deed => ({
		type: 'damage',
		place: draw.chance(0.5) ? 'control' : draw.share(),
		record: draw.share(),
		how: draw.one(['changed', 'lost']),
		forMs: draw.between(500, 8_000),
	});
	const checksums = draw.chance(0.25);
	const harm = [...Array.from({length: 1 + draw.below(3)}, trouble), ...(checksums ? [damage()] : [])];
	const asked = Array.from({length: 2 + draw.below(5)}, (_, index) => draw.one(clientDeeds)(draw, index));
	const kills = draw.chance(0.5) ? [draw.one(smallHarm)(draw)] : [];
	return {
		nodes: 1 + draw.below(2),
		servers: 1,
		externalBroker: false,
		localNodes: draw.chance(0.5),
		watcher: draw.chance(0.2),
		...(checksums ? ({checksums: true} as const) : {}),
		acts: [...inTurn(draw, sets(draw, 1, 3)), ...inTurn(draw, harm, 1_000), ...inTurn(draw, [...asked, ...kills], 1_200)],
	};
}

/** Control starts anew with code that is one schema ahead, is killed on the way, and meets its old code again. */
function upgrade(draw: Draw): Sketch {
	const deeds: Deed[] = [
		...Array.from({length: draw.below(3)}, (_, index) => draw.one(clientDeeds)(draw, index)),
		{type: 'upgrade'},
		...(draw.chance(0.5) ? [{type: 'killAtCommit', place: 'control', commits: draw.below(6)} as const] : []),
		...Array.from({length: 1 + draw.below(3)}, (_, index) => draw.one(clientDeeds)(draw, 10 + index)),
		...(draw.chance(0.5) ? [{type: 'downgrade'} as const] : []),
	];
	return {
		nodes: 1 + draw.below(2),
		servers: 1,
		externalBroker: draw.chance(0.2),
		localNodes: draw.chance(0.7),
		watcher: draw.chance(0.3),
		acts: [...inTurn(draw, sets(draw, 1, 3)), ...inTurn(draw, deeds, 3_000)],
	};
}

/** More is asked for than there is, by pods that count differently; some nodes make their pods leave for a while. */
function crowded(draw: Draw): Sketch {
	const guest = (_: unknown, index: number): Deed => ({
		type: 'createGuest',
		pod: `guest-${index}`,
		cpu: draw.one([8, 16, 24, 40, 64]),
		...(draw.chance(0.3) ? {} : {priorityClass: draw.one(['low', 'high', 'high', 'highest'])}),
		...(draw.chance(0.2) ? {port: 80} : {}),
		...(draw.chance(0.3) ? {bearsSeconds: draw.below(6)} : {}),
	});
	const classes: readonly Deed[] = [
		{type: 'createClass', name: 'low', value: -10},
		{type: 'createClass', name: 'high', value: 100},
		{type: 'createClass', name: 'highest', value: 1000},
	];
	const guests = Array.from({length: 6 + draw.below(14)}, guest);
	const coming = draw.chance(0.5) ? inTurn(draw, guests, 500) : guests.map(deed => ({...deed, atMs: 500 + draw.below(40)}));
	const forMs = (): number => draw.between(500, 9_000);
	const closing: readonly (() => Deed)[] = [
		() => ({type: 'taint', node: draw.share(), forMs: forMs()}),
		() => ({type: 'taint', node: draw.share(), forMs: forMs()}),
		() => ({type: 'cordon', node: draw.share(), by: draw.one(['cordon', 'taint']), forMs: forMs()}),
	];
	const harm = Array.from({length: draw.below(4)}, () => (draw.chance(0.7) ? draw.one(closing)() : draw.one(smallHarm)(draw)));
	const gone = Array.from({length: draw.below(4)}, (): Deed => ({type: 'deletePod', pod: draw.share()}));
	return {
		nodes: 1 + draw.below(3),
		servers: 1,
		externalBroker: false,
		localNodes: draw.chance(0.5),
		watcher: draw.chance(0.2),
		acts: [...classes.map(deed => ({...deed, atMs: 0})), ...coming, ...inTurn(draw, [...harm, ...gone], 1_500)],
	};
}

/** Programs with a ConfigMap and a Secret that come late, change and go; pods that somebody holds. */
function configured(draw: Draw): Sketch {
	const values = ['first', 'second', 'third'];
	const names = ['one', 'two'];
	const change = (): Deed => ({type: 'configure', name: draw.one(names), value: draw.chance(0.2) ? undefined : draw.one(values)});
	const made = names.map((config, index): Deed => ({
		type: 'create',
		set: `set-${index + 1}`,
		replicas: 1 + draw.below(3),
		program: 'serves',
		like: {config},
	}));
	const asked: Deed[] = Array.from({length: 3 + draw.below(5)}, (_, index) =>
		draw.chance(0.6) ? change() : draw.chance(0.3) ? {type: 'release', pod: draw.share()} : draw.one(clientDeeds)(draw, index),
	);
	const held: readonly Deed[] = draw.chance(0.3)
		? [
				{type: 'createPod', pod: 'held', held: true},
				{type: 'deletePod', pod: draw.share()},
			]
		: [];
	const harm = Array.from({length: draw.below(3)}, () => draw.one(smallHarm)(draw));
	return {
		nodes: 1 + draw.below(3),
		servers: 1,
		externalBroker: draw.chance(0.2),
		localNodes: draw.chance(0.3),
		watcher: draw.chance(0.1),
		acts: [
			...inTurn(draw, [...made, ...names.map((name): Deed => ({type: 'configure', name, value: 'first'}))]),
			...inTurn(draw, [...held, ...asked, ...harm], 1_000),
		],
	};
}

/** Deployments whose templates change, also for ones that cannot work, go back, and are paused and scaled meanwhile. */
function rollouts(draw: Draw): Sketch {
	const strategy = (): JsonObject => {
		const maxSurge = draw.one([0, 1, 2, '25%', '50%']);
		const rollingUpdate = {maxSurge, maxUnavailable: maxSurge === 0 ? draw.one([1, '40%']) : draw.one([0, 1, '25%'])};
		return draw.chance(0.15) ? {type: 'Recreate'} : {type: 'RollingUpdate', rollingUpdate};
	};
	const made = Array.from({length: 1 + draw.below(2)}, (_, index): Deed => ({
		type: 'rollOut',
		deployment: `app-${index}`,
		replicas: 1 + draw.below(8),
		strategy: strategy(),
	}));
	const change = (): Deed => ({
		type: 'change',
		deployment: draw.share(),
		...(draw.chance(0.75) ? {version: draw.one(['first', 'second', 'third', 'bad'])} : {}),
		...(draw.chance(0.3) ? {replicas: draw.below(9)} : {}),
		...(draw.chance(0.2) ? {paused: draw.chance(0.5)} : {}),
	});
	const changes = Array.from({length: 2 + draw.below(5)}, change);
	const harm = draw.chance(0.3) ? [] : Array.from({length: 1 + draw.below(3)}, () => draw.one(smallHarm)(draw));
	// Where each commit takes its time, changes come while the writes of the ones before are under way.
	const slow = {failCommit: 0, unknownCommit: 0, commitMs: draw.between(20, 400), unreachable: false};
	const below: Deed[] = draw.chance(0.3)
		? [storeOf(draw, 'control', 60_000)]
		: draw.chance(0.2)
			? [{type: 'store', place: 'control', trouble: slow, forMs: 30_000}]
			: [];
	return {
		nodes: 1 + draw.below(3),
		servers: draw.chance(0.2) ? 2 : 1,
		externalBroker: draw.chance(0.2),
		localNodes: draw.chance(0.4),
		watcher: false,
		acts: [
			...made.map(deed => ({...deed, atMs: 0})),
			...inTurn(draw, below),
			...inTurn(draw, changes, draw.between(0, 3_000)),
			...inTurn(draw, harm, draw.between(0, 5_000)),
		],
	};
}

/** Services of sets that come, grow and go, before or after them, while all that may be harmed is. */
function exposed(draw: Draw): Sketch {
	const made = sets(draw, 1 + draw.below(3), 4);
	const services = made.flatMap((deed): Deed[] => (deed.type === 'create' ? [{type: 'expose', set: deed.set}] : []));
	const asked = Array.from({length: 2 + draw.below(5)}, (_, index): Deed =>
		draw.chance(0.15)
			? {type: 'deleteService', service: draw.share()}
			: draw.chance(0.2)
				? {type: 'expose', set: `late-${index}`}
				: draw.one(clientDeeds)(draw, index),
	);
	const harm = Array.from({length: draw.below(5)}, (): Deed =>
		draw.chance(0.25)
			? {type: 'crashRecord', of: draw.one(['services', 'endpointslices']), record: draw.share()}
			: draw.one(smallHarm)(draw),
	);
	const below: Deed[] = draw.chance(0.2) ? [packetsOf(draw, 30_000)] : draw.chance(0.2) ? [storeOf(draw, 'control', 30_000)] : [];
	// Services go while nodes say for the first time that they serve traffic, and each write takes its time.
	const early: Act[] = draw.chance(0.3)
		? [
				{
					type: 'store',
					place: 'control',
					trouble: {failCommit: 0, unknownCommit: 0, commitMs: draw.between(20, 300), unreachable: false},
					forMs: 3_000,
					atMs: 0,
				},
				...Array.from({length: 6}, (_, index): Act => ({type: 'expose', set: `early-${index}`, atMs: 0})),
				...Array.from({length: 6}, (): Act => ({type: 'deleteService', service: draw.share(), atMs: draw.between(0, 1_500)})),
			]
		: [];
	return {
		nodes: 1 + draw.below(4),
		servers: draw.chance(0.2) ? 2 : 1,
		externalBroker: draw.chance(0.2),
		localNodes: draw.chance(0.2),
		watcher: false,
		acts: [
			...inTurn(draw, draw.chance(0.5) ? [...services, ...made] : [...made, ...services]),
			...inTurn(draw, below),
			...inTurn(draw, [...asked, ...harm], draw.between(500, 4_000)),
			...early,
		],
	};
}

const retention = ['Retain', 'Delete'] as const;

/** A StatefulSet, with claims or without, and a DaemonSet that change while what can fail does. */
function named(draw: Draw): Sketch {
	const made: Deed[] = [
		{type: 'createStateful', set: 'db', replicas: 1 + draw.below(3), ...(draw.chance(0.4) ? {parallel: true} : {})},
		{type: 'createDaemon', set: 'daemon', ...(draw.chance(0.3) ? {surges: true} : {})},
	];
	const forMs = (): number => draw.between(500, 9_000);
	const changes: readonly ((index: number) => Deed)[] = [
		index => ({type: 'changeNamed', set: draw.share(), version: draw.chance(0.3) ? 0 : index + 1}),
		index => ({type: 'changeNamed', set: draw.share(), version: index + 1}),
		() => ({type: 'changeNamed', set: 0, replicas: draw.below(5)}),
		() => ({type: 'deletePod', pod: draw.share(), ...(draw.chance(0.2) ? {graceSeconds: 0} : {})}),
		() => ({type: 'taint', node: draw.share(), forMs: forMs()}),
		() => ({type: 'cordon', node: draw.share(), by: draw.one(['cordon', 'taint']), forMs: forMs()}),
		() => (draw.chance(0.3) ? {type: 'deleteNamed', set: draw.share()} : {type: 'changeNamed', set: draw.share(), version: 0}),
	];
	const losses: readonly (() => Deed)[] = [
		() => draw.one(smallHarm)(draw),
		() => ({type: 'kill', place: draw.one(['control', 'holder']), forMs: forMs()}),
		() => ({
			type: 'partition',
			nodes: draw.one([0.34, 0.5, 'holder']),
			way: draw.one(['both', 'up', 'down']),
			forMs: draw.between(500, 25_000),
		}),
		() => ({type: 'hostDown', node: draw.share(), forMs: draw.between(0, 12_000)}),
		() => ({type: draw.one(['stop', 'freeze']), place: 'holder', forMs: draw.between(100, 20_000)}),
		() => ({type: 'stop', place: 'control', forMs: draw.between(100, 9_000)}),
	];
	const asked = Array.from({length: 2 + draw.below(6)}, (_, index) => draw.one(changes)(index));
	const harm = Array.from({length: draw.below(4)}, () => draw.one(losses)());
	const below: Deed[] = draw.chance(0.4) ? [packetsOf(draw, 30_000), storeOf(draw, 'control', 30_000)] : [];
	const sketch: Sketch = {
		nodes: 2 + draw.below(2),
		servers: draw.chance(0.2) ? 2 : 1,
		externalBroker: draw.chance(0.2),
		localNodes: false,
		watcher: draw.chance(0.1),
		acts: [
			...below.map(deed => ({...deed, atMs: 0})),
			...inTurn(draw, made),
			...inTurn(draw, asked, draw.between(500, 4_000)),
			...inTurn(draw, harm, draw.between(0, 4_000)),
		],
	};
	const claims: ClaimPolicy | undefined = draw.chance(0.6)
		? {whenDeleted: draw.one(retention), whenScaled: draw.one(retention)}
		: undefined;
	return claims === undefined
		? sketch
		: {...sketch, acts: sketch.acts.map(act => (act.type === 'createStateful' ? {...act, claims} : act))};
}

/** What fails below a scenario of objects that have much to do: nodes, the leader, stores, messages, actors. */
const troubles = (draw: Draw, records: readonly string[]): readonly Deed[] => {
	const forMs = (): number => draw.between(500, 9_000);
	const losses: readonly (() => Deed)[] = [
		() => draw.one(smallHarm)(draw),
		() => ({type: 'crashRecord', of: draw.one(records), record: draw.share()}),
		() => ({type: 'crashRecord', of: draw.one(records), record: draw.share()}),
		() => ({type: 'killAtCommit', place: 'control', commits: draw.below(12)}),
		() => ({type: 'kill', place: 'control', forMs: draw.between(0, 4_000)}),
		() => ({type: 'stop', place: 'control', forMs: forMs()}),
		() => ({type: 'kill', place: draw.share(), forMs: forMs()}),
		() => ({type: 'hostDown', node: draw.share(), forMs: draw.between(0, 12_000)}),
		() => ({type: 'partition', nodes: draw.one([0.34, 1]), way: draw.one(['both', 'up', 'down']), forMs: draw.between(500, 15_000)}),
		() => ({type: 'deletePod', pod: draw.share(), ...(draw.chance(0.2) ? {graceSeconds: 0} : {})}),
		() => ({type: 'taint', node: draw.share(), forMs: forMs()}),
	];
	return Array.from({length: draw.below(6)}, () => draw.one(losses)());
};

/** What a Job is, beside its template. */
function jobSpec(draw: Draw, restarts: boolean): JsonObject {
	const isIndexed = draw.chance(0.5);
	const completions = 1 + draw.below(6);
	const parallelism = draw.chance(0.4) ? completions : 1 + draw.below(4);
	const perIndex = isIndexed && draw.chance(0.4);
	const action = draw.one(['FailJob', 'Ignore', 'Count', ...(perIndex ? ['FailIndex'] : [])]);
	const rules: JsonObject[] = [
		{action, onExitCodes: {operator: 'In', values: [policyCode]}},
		...(draw.chance(0.5) ? [{action: 'Ignore', onPodConditions: [{type: 'DisruptionTarget'}]}] : []),
	];
	return {
		parallelism,
		...(isIndexed ? {completionMode: 'Indexed', completions} : draw.chance(0.85) ? {completions} : {}),
		...(draw.chance(0.7) ? {backoffLimit: draw.one([0, 1, 2, 4])} : {}),
		...(perIndex ? {backoffLimitPerIndex: draw.below(3), ...(draw.chance(0.3) ? {maxFailedIndexes: draw.below(2)} : {})} : {}),
		...(isIndexed && draw.chance(0.15) ? {successPolicy: {rules: [{succeededCount: 1 + draw.below(completions)}]}} : {}),
		...(!restarts && draw.chance(0.3) ? {podFailurePolicy: {rules}} : draw.chance(0.3) ? {podReplacementPolicy: 'Failed'} : {}),
		...(draw.chance(0.15) ? {activeDeadlineSeconds: draw.between(3, 40)} : {}),
		...(draw.chance(0.25) ? {ttlSecondsAfterFinished: draw.below(10)} : {}),
		...(draw.chance(0.15) ? {suspend: true} : {}),
	};
}

/** Jobs of every sort, whose programs fail now and then, and that are suspended, resized and deleted meanwhile. */
function jobs(draw: Draw): Sketch {
	const made = Array.from({length: 1 + draw.below(3)}, (_, index): Deed => {
		const restarts = draw.chance(0.15);
		return {
			type: 'createJob',
			job: `job-${index}`,
			spec: jobSpec(draw, restarts),
			task: {fails: draw.one([0, 0.2, 0.4, 0.6]), lastsMs: draw.one([100, 2_000, 6_000]), ...(restarts ? {restarts} : {})},
		};
	});
	const changes: readonly (() => Deed)[] = [
		() => ({type: 'changeJob', job: draw.share(), spec: {suspend: draw.chance(0.5)}}),
		() => ({type: 'changeJob', job: draw.share(), spec: {parallelism: draw.below(5)}}),
		() => {
			const size = 1 + draw.below(6);
			return {type: 'changeJob', job: draw.share(), spec: {completions: size, parallelism: size}};
		},
		() => ({type: 'deletePod', pod: draw.share(), ...(draw.chance(0.2) ? {graceSeconds: 0} : {})}),
		() => {
			if (draw.chance(0.2)) return {type: 'deleteJob', job: draw.share()};
			const [node, pod] = [draw.share(), draw.share()];
			return {type: node < 0.7 ? 'killProgram' : 'loseSandbox', node, pod};
		},
	];
	const asked = Array.from({length: draw.below(6)}, () => draw.one(changes)());
	const below: Deed[] = draw.chance(0.4) ? [packetsOf(draw, 30_000), storeOf(draw, 'control', 30_000)] : [];
	return {
		nodes: 1 + draw.below(3),
		servers: draw.chance(0.3) ? 2 : 1,
		externalBroker: draw.chance(0.2),
		localNodes: draw.chance(0.3),
		watcher: false,
		acts: [
			...below.map(deed => ({...deed, atMs: 0})),
			...inTurn(draw, made),
			...inTurn(draw, asked, draw.between(200, 4_000)),
			...inTurn(draw, troubles(draw, ['jobs', 'jobs', 'pods']), draw.between(0, 4_000)),
		],
	};
}

/** CronJobs of every minute, of which some are over soon, while jobs run, fail, are in the way and are deleted. */
function schedules(draw: Draw): Sketch {
	const cron = (name: string): Deed => ({
		type: 'createCron',
		cron: name,
		spec: {
			schedule: draw.one(['* * * * *', '* * * * *', '*/2 * * * *']),
			concurrencyPolicy: draw.one(['Allow', 'Forbid', 'Forbid', 'Replace']),
			successfulJobsHistoryLimit: draw.below(3),
			failedJobsHistoryLimit: draw.below(2),
			...(draw.chance(0.3) ? {startingDeadlineSeconds: draw.between(5, 90)} : {}),
		},
		job: {backoffLimit: draw.below(2), ...(draw.chance(0.2) ? {ttlSecondsAfterFinished: draw.below(5)} : {})},
		task: {fails: draw.one([0, 0.3]), lastsMs: draw.one([100, 2_000, 8_000])},
	});
	const made = [cron('cron-0'), ...(draw.chance(0.3) ? [cron('cron-1')] : [])];
	const minutes = Array.from({length: 2 + draw.below(5)}, (): Deed => ({type: 'nextMinute', inMs: draw.between(1, 2_000)}));
	const changes: readonly (() => Deed)[] = [
		() => ({type: 'changeCron', cron: draw.share(), spec: {suspend: true}}),
		() => ({type: 'changeCron', cron: draw.share(), spec: {suspend: false}}),
		() => ({type: 'changeCron', cron: draw.share(), spec: {concurrencyPolicy: draw.one(['Allow', 'Forbid', 'Replace'])}}),
		() => ({type: 'deleteJob', job: draw.share()}),
		() => ({type: 'spurnJobs', forMs: draw.between(500, 5_000)}),
		() => ({type: 'deletePod', pod: draw.share()}),
		() => (draw.chance(0.3) ? {type: 'deleteCron', cron: draw.share()} : cron('cron-0')),
	];
	const asked = Array.from({length: draw.below(5)}, () => draw.one(changes)());
	const below: Deed[] = draw.chance(0.4) ? [packetsOf(draw, 30_000), storeOf(draw, 'control', 30_000)] : [];
	return {
		nodes: 1 + draw.below(2),
		servers: draw.chance(0.3) ? 2 : 1,
		externalBroker: draw.chance(0.1),
		localNodes: draw.chance(0.5),
		watcher: false,
		acts: [
			...below.map(deed => ({...deed, atMs: 0})),
			...inTurn(draw, made),
			...inTurn(draw, minutes, draw.between(100, 1_000)),
			...inTurn(draw, asked, draw.between(500, 5_000)),
			...inTurn(draw, troubles(draw, ['cronjobs', 'cronjobs', 'jobs']), draw.between(0, 4_000)),
		],
	};
}

/** Pods that share claims and come and go; the claims are deleted while they are used, and some volumes are to outlive them. */
function claims(draw: Draw): Sketch {
	const made = Array.from({length: 2 + draw.below(5)}, (_, index): Deed => ({
		type: 'createPod',
		pod: `claimer-${index}`,
		claim: `claim-${draw.below(2)}`,
	}));
	const changes: readonly (() => Deed)[] = [
		() => ({type: 'deletePod', pod: draw.share(), ...(draw.chance(0.2) ? {graceSeconds: 0} : {})}),
		() => ({type: 'deletePod', pod: draw.share()}),
		() => ({type: 'deleteClaim', claim: draw.share()}),
		() => ({type: 'deleteClaim', claim: draw.share()}),
		() => ({type: 'retain', volume: draw.share()}),
	];
	const asked = Array.from({length: 2 + draw.below(6)}, () => draw.one(changes)());
	const below: Deed[] = draw.chance(0.4) ? [packetsOf(draw, 30_000), storeOf(draw, 'control', 30_000)] : [];
	// Nobody makes those again that a taint sends away.
	const harm = troubles(draw, ['persistentvolumeclaims', 'persistentvolumes', 'pods']).filter(({type}) => type !== 'taint');
	return {
		nodes: 1 + draw.below(3),
		servers: draw.chance(0.3) ? 2 : 1,
		externalBroker: draw.chance(0.2),
		localNodes: draw.chance(0.3),
		watcher: false,
		acts: [
			...below.map(deed => ({...deed, atMs: 0})),
			...inTurn(draw, made),
			...inTurn(draw, asked, draw.between(100, 3_000)),
			...inTurn(draw, harm, draw.between(0, 4_000)),
		],
	};
}

/** A namespace with quotas, for which there are too many pods; and a set with a budget, whose pods are evicted several at once. */
function bounded(draw: Draw): Sketch {
	const replicas = 2 + draw.below(4);
	const places = replicas + 1 + draw.below(4);
	const made: Deed[] = [
		{type: 'createQuota', quota: 'places', hard: {pods: String(places)}},
		{type: 'createBudget', set: 'set-1', minAvailable: Math.max(1, replicas - 1 - draw.below(2))},
		{type: 'create', set: 'set-1', replicas, program: 'serves'},
	];
	const guest = (index: number): Deed => ({type: 'createGuest', pod: `guest-${index}`, cpu: 1 + draw.below(3)});
	const burst = (round: number): Act[] => {
		const atMs = 5_500 + draw.between(0, 6_000);
		const count = 2 + draw.below(4);
		return Array.from({length: count}, (_, index) =>
			draw.chance(0.5) ? {type: 'evict', pod: draw.share(), atMs} : {...guest(10 * round + index), atMs},
		);
	};
	const bursts = Array.from({length: 2 + draw.below(4)}, (_, round) => burst(round)).flat();
	const gone = Array.from({length: draw.below(4)}, (): Deed => ({type: 'deletePod', pod: draw.share()}));
	const harm = troubles(draw, ['poddisruptionbudgets', 'pods', 'replicasets']);
	const below: Deed[] = draw.chance(0.3) ? [packetsOf(draw, 30_000), storeOf(draw, 'control', 30_000)] : [];
	return {
		nodes: 1 + draw.below(3),
		servers: draw.chance(0.2) ? 2 : 1,
		externalBroker: draw.chance(0.1),
		localNodes: draw.chance(0.5),
		watcher: false,
		acts: [
			...below.map(deed => ({...deed, atMs: 0})),
			...inTurn(draw, made),
			...bursts,
			...inTurn(draw, [...gone, ...harm], draw.between(5_000, 8_000)),
		].sort((a, b) => a.atMs - b.atMs),
	};
}

/** Deployments that are scaled by what their pods use, or by queues, down to none, and by hand beside that, while what can fail does. */
function autoscaled(draw: Draw): Sketch {
	const made = Array.from({length: 1 + draw.below(2)}, (_, index): readonly Deed[] => {
		const deployment = `app-${index}`;
		const by = draw.one(['memory', 'memory', 'queue'] as const);
		const min = (by === 'queue' ? 0 : 1) + draw.below(2);
		return [
			{type: 'rollOut', deployment, replicas: 1 + draw.below(5), strategy: {type: 'RollingUpdate'}},
			{type: 'autoscale', deployment, min, max: Math.max(1, min + draw.below(5)), load: draw.one(['more', 'fewer']), by},
		];
	}).flat();
	const change = (): Deed => ({
		type: 'change',
		deployment: draw.share(),
		...(draw.chance(0.3) ? {version: draw.one(['first', 'second'])} : {replicas: draw.chance(0.15) ? 0 : 1 + draw.below(8)}),
	});
	const changes = Array.from({length: draw.below(5)}, change);
	const harm = troubles(draw, ['horizontalpodautoscalers', 'deployments', 'pods']);
	const below: Deed[] = draw.chance(0.3) ? [packetsOf(draw, 30_000), storeOf(draw, 'control', 30_000)] : [];
	return {
		nodes: 1 + draw.below(3),
		servers: draw.chance(0.2) ? 2 : 1,
		externalBroker: draw.chance(0.2),
		localNodes: draw.chance(0.4),
		watcher: false,
		acts: [
			...below.map(deed => ({...deed, atMs: 0})),
			...inTurn(draw, draw.chance(0.5) ? made : made.toReversed()),
			...inTurn(draw, [...changes, ...harm], draw.between(500, 8_000)),
		].sort((a, b) => a.atMs - b.atMs),
	};
}

/** Ten nodes and a set of fifty, whose pods may fill the windows of node sync; some of it goes, and comes back. */
function large(draw: Draw): Sketch {
	const bytes = draw.chance(0.5) ? {like: {bytes: 100_000}} : {};
	const set: Deed = {type: 'create', set: 'set-1', replicas: 50, program: 'serves', ...bytes};
	const asked = Array.from({length: draw.below(3)}, (_, index) => draw.one(clientDeeds)(draw, index));
	const harm = Array.from({length: 1 + draw.below(3)}, (): Deed =>
		draw.chance(0.4)
			? {type: 'scale', set: 0, replicas: draw.one([5, 30, 50])}
			: draw.chance(0.3)
				? {type: 'partition', nodes: draw.one([0.2, 0.5]), way: 'both', forMs: draw.between(6_000, 12_000)}
				: draw.one(smallHarm)(draw),
	);
	return {
		nodes: draw.chance(0.5) ? 10 : 2,
		servers: 1,
		externalBroker: draw.chance(0.3),
		localNodes: false,
		watcher: false,
		acts: [{...set, atMs: 0}, ...inTurn(draw, [...harm, ...asked], 500)],
	};
}

/** Scenarios by name; `mixed` takes the largest part of the seeds. */
export const scenarios = {
	mixed,
	nodeLoss,
	partition,
	flapping,
	leaderChange,
	slowNode,
	storeTrouble,
	upgrade,
	crowded,
	configured,
	rollouts,
	exposed,
	named,
	jobs,
	schedules,
	claims,
	bounded,
	autoscaled,
	large,
} as const satisfies Record<string, (draw: Draw) => Sketch>;

const order: readonly ScenarioName[] = [
	'mixed',
	'nodeLoss',
	'leaderChange',
	'partition',
	'slowNode',
	'crowded',
	'configured',
	'rollouts',
	'exposed',
	'named',
	'jobs',
	'schedules',
	'claims',
	'bounded',
	'storeTrouble',
	'upgrade',
	'flapping',
];

/** They cost many times as much as others. */
const largeOneIn = 199;

/** It takes some seeds of the others: in the list it would move them all. */
const autoscaledOneIn = 43;
const autoscaledAt = 21;

export const isScenario = (name: string): name is ScenarioName => Object.hasOwn(scenarios, name);

/** Which scenario a seed is, when nobody says. */
export function scenarioOf(seed: number): ScenarioName {
	if (seed % largeOneIn === 0) return 'large';
	return seed % autoscaledOneIn === autoscaledAt ? 'autoscaled' : (order[seed % order.length] ?? 'mixed');
}

export function planOf(seed: number, scenario: ScenarioName = scenarioOf(seed)): Plan {
	const draw = drawOf(seed);
	const sketch = scenarios[scenario](draw);
	const isWaited = !draw.chance(0.7);
	const exclusive = withExclusive.has(scenario) && draw.chance(0.25) ? exclusiveActs(draw) : undefined;
	const acts = [...sketch.acts, ...(exclusive?.acts ?? [])].sort((a, b) => a.atMs - b.atMs);
	const nodes = exclusive?.isLong === true ? Math.max(2, sketch.nodes) : sketch.nodes;
	const plan = {
		seed,
		scenario,
		...sketch,
		nodes,
		acts,
		aftermathMs: isWaited || exclusive?.isLong === true ? untilOver(acts) : aftermathMs,
	};
	return {
		...plan,
		...(draw.chance(0.5) ? {withoutResync: true} : {}),
		...(draw.chance(0.25) ? {drifts: true} : {}),
		...(draw.chance(0.25) ? {serialises: true} : {}),
		...(draw.chance(0.25) ? {queues: true} : {}),
		acts: [
			...acts,
			...(withExclusive.has(scenario) && draw.chance(0.3) ? claimActs(draw) : []),
			...(withExclusive.has(scenario) && draw.chance(0.4) ? sidecarActs(draw) : []),
		].sort((a, b) => a.atMs - b.atMs),
	};
}

/** Pods with sidecars, of which some die, and some pods that go. */
function sidecarActs(draw: Draw): readonly Act[] {
	const made = Array.from({length: 1 + draw.below(2)}, (_, index): Deed => ({
		type: 'createPod',
		pod: `accompanied-${index}`,
		sidecars: true,
	}));
	const harm: readonly (() => Deed)[] = [
		() => ({type: 'killProgram', node: draw.share(), pod: draw.share(), container: draw.one(sidecarNames)}),
		() => ({type: 'killProgram', node: draw.share(), pod: draw.share(), container: draw.one(sidecarNames)}),
		() => ({type: 'deletePod', pod: draw.share()}),
	];
	const harmed = Array.from({length: draw.below(4)}, () => draw.one(harm)());
	return [...inTurn(draw, made, draw.between(0, 3_000)), ...inTurn(draw, harmed, draw.between(500, 6_000))];
}

/** Pods of one claim or two, at once and one after the other. */
function claimActs(draw: Draw): readonly Act[] {
	const deeds = Array.from({length: 2 + draw.below(4)}, (_, index): Deed => ({
		type: 'createPod',
		pod: `claimer-${index}`,
		claim: `claim-${draw.below(2)}`,
	}));
	return inTurn(draw, deeds, draw.between(0, 6_000));
}

const withExclusive: ReadonlySet<ScenarioName> = new Set(['mixed', 'nodeLoss', 'partition', 'leaderChange']);

/** A set of one exclusive pod, or such a pod alone; for some of them a node is away for as long as it takes to give them away. */
function exclusiveActs(draw: Draw): {readonly acts: readonly Act[]; readonly isLong: boolean} {
	const made: Deed = draw.chance(0.7)
		? {type: 'create', set: 'only', replicas: 1, program: 'serves', exclusive: true}
		: {type: 'createPod', pod: 'only', exclusive: true};
	if (draw.chance(0.5)) return {acts: [{...made, atMs: 0}], isLong: false};
	const forMs = draw.between(12_000, 30_000);
	const atMs = draw.between(500, 5_000);
	const losses: readonly Deed[] = [
		{type: 'kill', place: 'holder', forMs},
		{type: 'stop', place: 'holder', forMs},
		{type: 'freeze', place: 'holder', forMs},
		{type: 'partition', nodes: 'holder', way: draw.one(['both', 'up']), forMs},
	];
	const acts = draw.chance(0.3) ? lateAnswers(draw, atMs, forMs) : [{...draw.one(losses), atMs}];
	return {acts: [{...made, atMs: 0}, ...acts], isLong: true};
}

/** What the holder is told is on its way for seconds, and comes when nothing has been heard of it for as long; then it hears no more. */
function lateAnswers(draw: Draw, atMs: number, forMs: number): readonly Act[] {
	const cut = {type: 'partition', nodes: 'holder'} as const;
	const deafMs = draw.between(5_000, limits.beatSilenceMs + limits.controlAnswerMs - 100);
	return [
		{...cut, way: 'down', holds: true, forMs: deafMs, atMs},
		{...cut, way: 'up', forMs, atMs: atMs + draw.between(100, 1_000)},
		{...cut, way: 'down', forMs: forMs - deafMs, atMs: atMs + deafMs + draw.between(1, 100)},
	];
}

const aftermathMs = 1_500;
const afterFaultsMs = 6_500;

/** Every fault ends by itself, and is got over. */
function untilOver(acts: readonly Act[]): number {
	const lastMs = acts.at(-1)?.atMs ?? 0;
	return Math.max(0, ...acts.map(act => act.atMs + ('forMs' in act ? act.forMs : 0) - lastMs)) + afterFaultsMs;
}
