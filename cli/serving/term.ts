// One term of the control system: its tree, the broker where actors and tools meet, the logins, and what the doors serve of it.
//
// A term is opened whole and ends whole: `stop` in good order, `drop` at once, as when the office is lost.

import {AppError} from '../../api/errors.js';
import type {Pod} from '../../api/kinds/pod.js';
import {address as addressOf, controlSystem, parseAddress, parseObjectKey, vaultStoreKey} from '../../api/keys.js';
import {detectorPath, nodeKey, syncPath} from '../../actors/addresses.js';
import {openControl, type ControlSystem, type ControlOptions} from '../../actors/control/start.js';
import type {Servers} from '../../actors/protocol/sync-message.js';
import type {FetchSecret} from '../../actors/node/runtime/secrets-port.js';
import type {Access} from '../../server/access.js';
import {authorityName} from '../../server/certificates.js';
import type {Behind} from '../../server/gateway.js';
import {openSeals} from '../../server/seal.js';
import {startNodeSigns, type NodeSigns} from '../../server/node-signs.js';
import {secretForNode} from '../../server/secrets.js';
import {followExpiry} from '../../server/token-expiry.js';
import {openTokens, type Tokens} from '../../server/tokens.js';
import {createTopics, retainedObjects} from '../../server/topics.js';
import {openVault, type Kept, type Vault} from '../../server/vault.js';
import type {ActorSystem} from '../../system/kernel/actor-system.js';
import type {Known} from '../../system/index/object-index.js';
import type {LifecycleEvent} from '../../system/kernel/observer.js';
import type {OutsideUrl} from '../../system/links/outside-url.js';
import {routedLinks} from '../../system/links/routed-links.js';
import type {StoreDriver} from '../../system/store/store.js';
import {controlPlaneOf} from './control-plane.js';
import {observerOf, type Ground} from './ground.js';
import type {Log} from './log.js';
import {openOutsideMeeting, openOwnMeeting, type Meeting} from './meeting.js';
import {opened} from './opened.js';

export type TermOptions = {
	readonly ground: Ground;
	readonly log: Log;
	readonly driver: StoreDriver;
	/** `data/cluster.key`. */
	readonly keyFile: string;
	readonly version: string;
	/** The nodes of this process, by name; their systems as soon as they are open. */
	readonly ownNodes: ReadonlyMap<string, () => ActorSystem | undefined>;
	/** `https://host:port` of every server there is now. */
	readonly servers: () => readonly string[];
	/** Where actors meet, when it is not here. */
	readonly broker: OutsideUrl | undefined;
	/** Of this start of the server. */
	readonly serverId: string;
	/** Whether it may commit, answer and order now. */
	readonly mayAct: () => boolean;
	/** The control system's design, for tests that plant a bug in it. */
	readonly design?: ControlOptions['design'];
	/** The tree crashed for good. */
	readonly onEscalation: (message: string) => void;
	/** A login is not good any more: its watches and logs at the doors end. */
	readonly endStreams: (login: string) => void;
	/** The store has another writer, or cannot say whether it took a write. */
	readonly onFenced: (message: string) => void;
};

export type Term = {
	readonly control: ControlSystem;
	/** Takes MQTT that comes in at the doors; undefined: it has to go to the broker elsewhere. */
	readonly taker: Meeting['taker'];
	readonly vault: Vault;
	readonly tokens: Tokens;
	/** What doors answer from, once the authority is known (PEM). */
	readonly behind: (ca: string) => Behind;
	/** Secrets for a node of this process. */
	readonly secretsFor: (node: string) => FetchSecret;
	/** For the systems of this process: what happens to their actors is told to tools. */
	readonly onLifecycle: (event: LifecycleEvent) => void;
	/** Nodes are told where servers are. */
	readonly tellServers: (servers: readonly string[]) => void;
	/** Starts the tree; everything is loaded by then. */
	readonly begin: () => void;
	readonly stop: () => Promise<void>;
	readonly drop: () => Promise<void>;
};

/** Loads everything. Throws an AppError that says what is wrong; then nothing is left open, the driver aside. */
export async function openTerm(options: TermOptions): Promise<Term> {
	const {ground, log, driver, ownNodes} = options;
	const late: {control?: ControlSystem; tokens?: Tokens; signs?: NodeSigns} = {};
	const epoch = (): number => late.control?.pipeline.epoch() ?? 0;
	const meeting =
		options.broker === undefined
			? await openOwnMeeting(ground, log, token => late.tokens?.authenticate(token))
			: await openOutsideMeeting(ground, log, options.broker);
	const topics = createTopics({broker: meeting, epoch});
	const onLifecycle = ({address, ...event}: LifecycleEvent): void => {
		const {system = '', path = ''} = parseAddress(address) ?? {};
		topics.onLifecycle(system, path === '' ? 'root' : path, JSON.parse(JSON.stringify({...event, address})) as Record<string, string>);
	};
	const endAll = (login: string): void => {
		meeting.cut(login);
		options.endStreams(login);
	};
	const expiry = followExpiry(ground.clock, name => {
		log.info(`the token "${name}" has expired`);
		endAll(name);
	});
	const records = new Map<string, string>();
	const isHere = (system: string): boolean => ownNodes.has(system);
	/** Deleted nodes whose login is being taken back. */
	const forgetting = new Set<string>();
	const mayBeNode = (name: string): boolean => isHere(name) || (!forgetting.has(name) && late.tokens?.isNode(name) !== false);
	try {
		const control = await opened<ControlSystem>(done =>
			openControl(
				{
					...ground,
					driver,
					links: routedLinks(isHere, ground.linksOf(controlSystem), meeting.links),
					localNodes: [...ownNodes.keys()],
					mayBeNode,
					mayAct: options.mayAct,
					boot: ground.random.uuid(),
					version: options.version,
					observer: observerOf(log, onLifecycle),
					onEscalation: error => options.onEscalation(error.message),
					onFenced: options.onFenced,
					measure: peer => !isHere(peer),
					onChange(change) {
						topics.onChange(change);
						const {plural, name} = parseObjectKey(change.key);
						if (plural !== 'nodes') return;
						late.signs?.wake();
						if (change.after === undefined) void forgetNode(name);
					},
					onEvent: topics.onEvent,
					onRecord: (key, body) => records.set(key, body),
					...(options.design === undefined ? {} : {design: options.design}),
				},
				done,
			),
		);
		late.control = control;
		meeting.serve(retainedObjects(control.index, epoch));
		const vault = await openVault(options.keyFile, keptBy(control, records), authorityName);
		const seals = await openSeals(vault);
		const tokens = openTokens(vault, ground.clock.nowMs, expiry.follow);
		late.tokens = tokens;
		const controlPlane = controlPlaneOf({
			control,
			ownNodes: () => [...ownNodes.values()].flatMap(system => system() ?? []),
			clock: ground.clock,
		});
		const listen = (): NodeSigns =>
			startNodeSigns({
				serverId: options.serverId,
				pubsub: meeting.pubsub,
				clock: ground.clock,
				heardSince: meeting.heardSince,
				isRemote: node => !isHere(node) && control.index.entry(nodeKey(node)) !== undefined,
				anyRemote: () => knowsElsewhere(control.index, isHere),
				tell: signs => control.system.tell(addressOf(controlSystem, detectorPath), signs, 'signs'),
			});
		const accessOf = (ca: string): Access => ({
			tokens,
			ca,
			servers: options.servers,
			broker: options.broker,
			isOwnNode: isHere,
			cut: meeting.cut,
		});
		return {
			control,
			taker: meeting.taker,
			vault,
			tokens,
			behind(ca) {
				const access = accessOf(ca);
				return {type: 'serving', control: controlPlane, authenticate: tokens.authenticate, access, seals};
			},
			secretsFor: node => (namespace, name) => Promise.resolve(secretForNode(control.index, seals, node, {namespace, name})),
			onLifecycle,
			tellServers: servers => control.system.tell(addressOf(controlSystem, syncPath), message(servers), 'servers'),
			begin() {
				control.begin();
				late.signs = listen();
			},
			async stop() {
				expiry.stop();
				late.signs?.close();
				await new Promise<void>(resolve => control.stop(resolve));
				await control.bus.close();
				await meeting.close();
			},
			async drop() {
				expiry.stop();
				late.signs?.close();
				control.kill();
				await meeting.close();
			},
		};
	} catch (error) {
		expiry.stop();
		late.control?.kill();
		await meeting.close();
		throw error;
	}

	/** A node that was deleted has no login any more. */
	async function forgetNode(name: string): Promise<void> {
		forgetting.add(name);
		try {
			if (late.tokens?.isNode(name) === true) await late.tokens.revoke(name);
		} catch (error) {
			log.error(error, `the credential of the deleted node "${name}" could not be taken back; troupe token delete ${name} does`);
		}
		forgetting.delete(name);
		endAll(name);
	}
}

const message = (servers: readonly string[]): Servers => ({type: 'servers', servers});

/** Sealed values in the store of the term. */
function keptBy({pipeline}: ControlSystem, records: Map<string, string>): Kept {
	return {
		get: name => records.get(vaultStoreKey(name)),
		put: (name, value) =>
			new Promise((resolve, reject) => {
				pipeline.put(
					vaultStoreKey(name),
					() => value,
					outcome => {
						if (!outcome.ok) {
							reject(AppError.of(outcome.error));
							return;
						}
						records.set(vaultStoreKey(name), value);
						resolve();
					},
				);
			}),
	};
}

/** Whether there is a node elsewhere, or a pod bound to one that is not known any more. */
function knowsElsewhere(known: Known, isHere: (node: string) => boolean): boolean {
	for (const {metadata} of known.list('nodes')) if (!isHere(metadata.name)) return true;
	for (const pod of known.list('pods')) {
		const node = (pod as Pod).spec?.nodeName;
		if (node !== undefined && !isHere(node)) return true;
	}
	return false;
}
