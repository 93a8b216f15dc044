// Many nodes in one process, each as its agent would be: joined by token, with a system, a cache and three connections of its own. Two
// things are not as there: nothing is run but in thought, and caches are in memory, since a thousand folders on one disk are no
// measure of a leader. The beats of all nodes share a thread for the same reason.

import {openNode, type NodeSystem} from '../actors/node/start.js';
import {assignments, type AssignmentObject} from '../actors/node/cache/assignment-object.js';
import {seenKey} from '../actors/node/sync/sync-client.js';
import type {Credential} from '../agent/credential.js';
import {join} from '../agent/join.js';
import {createSimulatedRuntime} from '../agent/simulated-runtime.js';
import {parseObjectKey} from '../api/keys.js';
import {opened} from '../cli/serving/process/opened.js';
import {openBeatLine} from '../system/presence/beat-line.js';
import {beatSockets} from '../system/presence/beat-socket.js';
import type {BeatThread, BeatThreadOptions} from '../system/presence/beat-thread.js';
import {systemClock} from '../system/time/clock.js';
import {createMemoryStore} from '../system/store/memory-store.js';
import {createNactExecutor} from '../system/kernel/nact-executor.js';
import type {Change} from '../system/index/object-index.js';
import {systemRandom} from '../system/time/random.js';
import {openUplink} from '../system/presence/uplink.js';
import {serve} from './rigs/remote.js';

export type JoinOrder = {
	/** `https://host:port`. */
	readonly server: string;
	readonly token: string;
	readonly names: readonly string[];
	/** How many are on their way at a time. */
	readonly atOnce: number;
};

function openNodes() {
	const executor = createNactExecutor(systemClock);
	/** When a version of an assignment was in the cache of its node, on the machine's monotonic clock. */
	const taken = new Map<string, bigint>();
	const counted = {connectionsLost: 0, problem: ''};

	const onChange = ({key, after}: Change, greeted: () => void): void => {
		if (key === seenKey) greeted();
		if (parseObjectKey(key).plural !== assignments) return;
		const version = (after?.object as AssignmentObject | undefined)?.spec?.version;
		if (version !== undefined) taken.set(version, process.hrtime.bigint());
	};

	/** Ends once the server has answered the node's hello, and the answer is in its cache. */
	async function open(credential: Credential): Promise<void> {
		const boot = systemRandom.uuid();
		const {links} = openUplink({
			servers: () => [mqttUrl(credential.servers[0] ?? '')],
			node: credential.node,
			password: credential.credential,
			ca: credential.ca,
			boot,
			onDisconnected: () => (counted.connectionsLost += 1),
			onProblem: problem => (counted.problem = problem),
			onRefused: fail,
			startBeat: beatHere,
		});
		let greeted: () => void = () => undefined;
		const isGreeted = new Promise<void>(resolve => (greeted = resolve));
		const node = await opened<NodeSystem>(done =>
			openNode(
				{
					name: credential.node,
					links,
					boot,
					labels: {'kubernetes.io/hostname': credential.node},
					driver: createMemoryStore(executor.defer),
					runtime: createSimulatedRuntime({clock: systemClock, random: systemRandom}),
					measure: true,
					executor,
					clock: systemClock,
					random: systemRandom,
					onFenced: fail,
					onEscalation: error => fail(error.message),
					onChange: change => onChange(change, greeted),
				},
				done,
			),
		);
		node.begin();
		await isGreeted;
	}

	return {
		/** Joins, connects and begins all of them. */
		async join({server, token, names, atOnce}: JoinOrder): Promise<void> {
			const left = [...names];
			const work = async (): Promise<void> => {
				for (let node = left.pop(); node !== undefined; node = left.pop())
					await open(await join({servers: [server], token, node, ca: undefined}));
			};
			await Promise.all(Array.from({length: atOnce}, work));
		},
		taken: (): ReadonlyMap<string, bigint> => taken,
		counted: () => counted,
	};
}

export type Nodes = ReturnType<typeof openNodes>;

/** One connection as an agent's, without the thread. */
function beatHere(options: BeatThreadOptions): BeatThread {
	const close = openBeatLine({...options, dial: beatSockets(options).dial, random: systemRandom, stillMs: () => 0});
	return {
		silence: () => undefined,
		hurry: () => undefined,
		close() {
			close();
			return Promise.resolve();
		},
	};
}

const mqttUrl = (server: string): string => `mqtts://${new URL(server).host}`;

function fail(message: string): never {
	throw new Error(message);
}

if (process.argv[1] === import.meta.filename && process.send !== undefined) serve(openNodes());
