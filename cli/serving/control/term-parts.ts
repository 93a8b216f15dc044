// What is open for one leader's term: its control system, its port of the broker, the logins, and what the doors serve of it.
//
// It is opened whole and ends whole: `stop` in good order, `drop` at once, as when the term is lost.

import type {Pod} from '../../../api/kinds/pod.js';
import {succeeded} from '../../../api/errors.js';
import {address as addressOf, controlSystem, parseAddress, parseObjectKey, vaultStoreKey} from '../../../api/keys.js';
import {detectorPath, nodeKey, syncPath} from '../../../actors/addresses.js';
import {openControl, type ControlSystem, type ControlOptions} from '../../../actors/control/start.js';
import type {Servers} from '../../../actors/protocol/sync-message.js';
import type {FetchSecret} from '../../../actors/node/runtime/secrets-port.js';
import type {FetchArtifact} from '../../../agent/functions/artifact-cache.js';
import type {Access} from '../../../server/access.js';
import {authorityName} from '../../../server/certificates.js';
import type {Upstream} from '../../../server/gateway.js';
import {createControlMetrics, type ControlMetrics} from '../../../server/metrics/control-metrics.js';
import type {ServerInstruments} from '../../../server/metrics/instruments.js';
import {followPods, type PodNews} from '../../../server/metrics/pod-news.js';
import {createMetricSources, isReadMetrics, type MetricSources} from '../../../server/autoscaling/metric-sources.js';
import {createFoundArtifacts, openArtifactStore, type ArtifactStore, type FoundArtifacts} from '../../../server/artifact-store.js';
import {startArtifactSweep} from '../../../server/artifact-sweep.js';
import {createFunctionCalls, type FunctionCalls} from '../../../server/functions/calls.js';
import {createTaskCalls, type TaskCalls, type TaskCallsOptions} from '../../../server/workflows/task-calls.js';
import type {ConnectHere} from '../../../server/functions/instance-connections.js';
import {createFunctionMessages} from '../../../server/functions/function-messages.js';
import {openSeals, type Seals} from '../../../server/seal.js';
import {createInspection, type Inspection} from '../../../server/inspect/inspection.js';
import {openMqttDoor, type MqttDoorOptions} from '../../../server/inspect/mqtt-door.js';
import {nodeGraceMs} from '../../../actors/control/pods/node-grace.js';
import {paceOf} from '../../../system/presence/pace.js';
import {eachIts, type OnRefused} from '../../../server/message-taker.js';
import {startNodeSigns, type NodeSigns} from '../../../server/node-signs.js';
import {artifactForNode} from '../../../server/node-artifacts.js';
import {certificateForNode, secretForNode} from '../../../server/secrets.js';
import {createOwnLogins} from '../../../server/own-logins.js';
import {followExpiry, type TokenExpiry} from '../../../server/token-expiry.js';
import {openTokens, type Tokens} from '../../../server/tokens.js';
import {createSlurmJobs, type SlurmJobs} from '../../../server/slurm/slurm-jobs.js';
import {createTopics, retainedObjects, type Topics} from '../../../server/topics.js';
import {targetOf, triggeredPlurals, type Triggered} from '../../../server/triggers/occasion.js';
import {createTopicMessages} from '../../../server/triggers/topic-messages.js';
import {createTopicTriggers, type TopicTriggers} from '../../../server/triggers/topic-triggers.js';
import type {Triggers} from '../../../server/triggers/triggers.js';
import {startUsageTopics} from '../../../server/usage-topics.js';
import {followUserSystems, type UserSystems} from '../../../server/user-systems.js';
import {openVault, type Kept, type Vault} from '../../../server/vault.js';
import {createRunAnswers} from '../../../server/workflows/run-answers.js';
import type {ActorSystem} from '../../../system/kernel/actor-system.js';
import {nothingPerforms} from '../../../system/kernel/performs.js';
import type {Known} from '../../../system/index/object-index.js';
import type {LifecycleEvent} from '../../../system/kernel/observer.js';
import type {OutsideUrl} from '../../../system/links/outside-url.js';
import {routedLinks} from '../../../system/links/routed-links.js';
import {measuredStore} from '../../../system/store/measured-store.js';
import type {StoreDriver} from '../../../system/store/store.js';
import {createFoundDeliveries, openFunctionDeliveries, type FoundDeliveries} from './function-deliveries.js';
import {storeRecords} from './store-records.js';
import {auditFile} from './audit-file.js';
import {controlPlaneOf} from './control-plane.js';
import {observerOf} from '../process/process-parts.js';
import {quietly} from '../process/log.js';
import type {ServeContext} from '../process/serve.js';
import type {RunArchive} from '../../../server/workflows/run-archive.js';
import {archiveOfTerm} from './run-archive.js';
import {programVersion} from '../../files/version.js';
import {openOutsideBrokerPort, openOwnBrokerPort, type BrokerPort} from './broker-port.js';
import {openTriggers} from './triggers.js';
import {opened, stopped} from '../process/opened.js';

export type TermPartsOptions = {
	readonly context: ServeContext;
	readonly driver: StoreDriver;
	/** The nodes of this process, by name; their systems as soon as they are open. */
	readonly ownNodes: ReadonlyMap<string, () => ActorSystem | undefined>;
	/** Ways to instances of functions at the nodes of this process; undefined: it has none. */
	readonly connectHere?: ConnectHere;
	/** `https://host:port` of every server there is now. */
	readonly servers: () => readonly string[];
	/** Where systems of other hosts and tools connect, when it is not here. */
	readonly broker: OutsideUrl | undefined;
	/** Of this start of the server. */
	readonly serverId: string;
	/** What this process counts, over all its terms. */
	readonly instruments: ServerInstruments;
	/** Whether the term is on: it may commit, answer and order now. */
	readonly mayAct: () => boolean;
	/** The control system's design, for tests that plant a bug in it. */
	readonly design?: ControlOptions['design'];
	/** Of a cluster that begins. */
	readonly settings?: ControlOptions['settings'];
	/** A login is not good any more: its watches and logs at the doors end. */
	readonly endStreams: (login: string) => void;
	/** The store has another writer, or cannot say whether it took a write. */
	readonly onFenced: (message: string) => void;
};

export type TermParts = {
	readonly control: ControlSystem;
	/** Takes MQTT that comes in at the doors; undefined: it has to go to the broker elsewhere. */
	readonly taker: BrokerPort['taker'];
	readonly vault: Vault;
	readonly tokens: Tokens;
	/** What doors answer from, once the authority is known (PEM). */
	readonly upstream: (ca: string) => Upstream;
	/** Secrets, and the code of functions, for a node of this process. */
	readonly secretsFor: (node: string) => FetchSecret;
	readonly artifactsFor: (node: string) => FetchArtifact;
	readonly fetchCertificate: FetchSecret;
	/** What is told to scrapers. */
	readonly metrics: ControlMetrics;
	/** A credential for the router of a node of this process, at the doors of this term and nowhere else. */
	readonly loginOf: (node: string) => string;
	/** For the systems of this process: what happens to their actors is told to tools. */
	readonly onLifecycle: (event: LifecycleEvent) => void;
	/** Nodes are told where servers are. */
	readonly tellServers: (servers: readonly string[]) => void;
	/** Starts the tree; everything is loaded by then. */
	readonly begin: () => void;
	readonly stop: () => Promise<void>;
	readonly drop: () => Promise<void>;
};

type State = {
	readonly options: TermPartsOptions;
	readonly brokerPort: BrokerPort;
	readonly topics: Topics;
	readonly expiry: TokenExpiry;
	readonly userSystems: UserSystems;
	readonly topicTriggers: TopicTriggers;
	readonly podNews: PodNews;
	/** What the store holds beside objects, events, artifacts and deliveries. */
	readonly records: Map<string, string>;
	readonly foundArtifacts: FoundArtifacts;
	readonly foundDeliveries: FoundDeliveries;
	/** Deleted nodes whose login is being taken back. */
	readonly forgetting: Set<string>;
	readonly late: Late;
};

/** What is opened after the parts that ask for it. */
type Late = {
	archive?: RunArchive;
	control?: ControlSystem;
	tokens?: Tokens;
	signs?: NodeSigns;
	inspection?: Inspection;
	endSweep?: () => void;
	endUsageTopics?: () => void;
	triggers?: Triggers;
	calls?: FunctionCalls;
	tasks?: TaskCalls;
	slurm?: SlurmJobs;
	metrics?: MetricSources;
};

/** Loads everything. Throws an AppError that says what is wrong; then nothing is left open, the driver aside. */
export async function openTermParts(options: TermPartsOptions): Promise<TermParts> {
	const {context} = options;
	const state = await openState(options);
	const {brokerPort, records, late, expiry, userSystems} = state;
	try {
		const control = await openControlOf(state);
		late.control = control;
		for (const plural of triggeredPlurals)
			for (const {key, object} of control.index.entries(plural)) state.topicTriggers.note(key, object as Triggered);
		brokerPort.serve(retainedObjects(control.index, () => control.pipeline.epoch()));
		const vault = await openVault(context.home.clusterKey, keptBy(control, records), authorityName);
		const seals = await openSeals(vault);
		const tokens = openTokens(vault, context.processParts.clock.nowMs, expiry.follow);
		late.tokens = tokens;
		const artifacts = openArtifactStore(state.foundArtifacts, storeRecords(control.pipeline, options.driver), context.processParts.clock);
		return partsOf(state, {control, vault, seals, tokens, artifacts});
	} catch (error) {
		expiry.stop();
		userSystems.close();
		late.control?.kill();
		await brokerPort.close();
		throw error;
	}
}

async function openState(options: TermPartsOptions): Promise<State> {
	const {context, broker} = options;
	const {processParts, log} = context;
	const late: Late = {};
	const brokerPort =
		broker === undefined
			? await openOwnBrokerPort(context, token => late.tokens?.authenticate(token), options.instruments.brokerCounted)
			: await openOutsideBrokerPort(context, broker);
	const topics = createTopics({broker: brokerPort, epoch: () => late.control?.pipeline.epoch() ?? 0});
	const expiry = followExpiry(processParts.clock, name => {
		log.info(`the token "${name}" has expired`);
		endAll(state, name);
	});
	const userSystems = followUserSystems({
		pubsub: brokerPort.pubsub,
		clock: processParts.clock,
		onGone: system => late.control?.bus.forget(system),
	});
	const state: State = {
		options,
		brokerPort,
		topics,
		expiry,
		userSystems,
		topicTriggers: createTopicTriggers(),
		podNews: followPods(processParts.clock, options.instruments),
		records: new Map(),
		foundArtifacts: createFoundArtifacts(),
		foundDeliveries: createFoundDeliveries(),
		forgetting: new Set(),
		late,
	};
	return state;
}

const isHere = ({options: {ownNodes}}: State, system: string): boolean => ownNodes.has(system);

/** Ends what a login has open, at the broker and at the doors. */
function endAll({brokerPort, options, late}: State, login: string): void {
	brokerPort.cut(login);
	late.inspection?.endOf(login);
	options.endStreams(login);
}

function openControlOf(state: State): Promise<ControlSystem> {
	const {options, brokerPort, topics, userSystems, topicTriggers, podNews, records, foundArtifacts, foundDeliveries, forgetting, late} =
		state;
	const {context, driver, ownNodes} = options;
	const {processParts, log} = context;
	return opened<ControlSystem>(done =>
		openControl(
			{
				...processParts,
				driver: measuredStore(driver, processParts.clock, options.instruments.committed),
				links: routedLinks(system => isHere(state, system), processParts.linksOf(controlSystem), brokerPort.links),
				localNodes: [...ownNodes.keys()],
				mayBeNode: name => isHere(state, name) || (!forgetting.has(name) && late.tokens?.isNode(name) !== false),
				isUserSystem: userSystems.has,
				mayAct: options.mayAct,
				boot: processParts.random.uuid(),
				version: programVersion,
				observer: observerOf(log, context.actorEvents('control'), event => tellLifecycle(topics, event)),
				onEscalation: error => context.fail(`the actor system failed for good: ${error.message}`),
				onFenced: options.onFenced,
				measure: peer => !isHere(state, peer),
				perform: (command, done) => ((isReadMetrics(command) ? late.metrics : late.tasks)?.perform ?? nothingPerforms)(command, done),
				onChange(change) {
					topics.onChange(change);
					podNews.hear(change);
					late.triggers?.hear(change);
					late.calls?.hear(change);
					late.tasks?.hear(change);
					late.slurm?.hear(change);
					late.metrics?.hear(change);
					late.archive?.hear(change);
					if (targetOf(change.key) !== undefined) topicTriggers.note(change.key, change.after?.object as Triggered | undefined);
					const {plural, name} = parseObjectKey(change.key);
					if (plural !== 'nodes') return;
					late.signs?.wake();
					if (change.after === undefined) void forgetNode(state, name);
				},
				onEvent(key, event) {
					topics.onEvent(key, event);
					podNews.hearEvent(key, event);
				},
				onRecord: (key, body) => void (foundArtifacts.note(key, body) || foundDeliveries.note(key, body) || records.set(key, body)),
				...(options.design === undefined ? {} : {design: options.design}),
				...(options.settings === undefined ? {} : {settings: options.settings}),
			},
			done,
		),
	);
}

function tellLifecycle(topics: Topics, {address, ...event}: LifecycleEvent): void {
	const {system = '', path = ''} = parseAddress(address) ?? {};
	topics.onLifecycle(system, path === '' ? 'root' : path, JSON.parse(JSON.stringify({...event, address})) as Record<string, string>);
}

/** A node that was deleted has no login any more. */
async function forgetNode(state: State, name: string): Promise<void> {
	const {options, forgetting, late} = state;
	forgetting.add(name);
	try {
		if (late.tokens?.isNode(name) === true) await late.tokens.revoke(name);
	} catch (error) {
		options.context.log.error(
			error,
			`the credential of the deleted node "${name}" could not be taken back; troupe token delete ${name} does`,
		);
	}
	forgetting.delete(name);
	endAll(state, name);
}

type Loaded = Pick<TermParts, 'control' | 'vault' | 'tokens'> & {readonly seals: Seals; readonly artifacts: ArtifactStore};

function partsOf(state: State, {control, vault, seals, tokens, artifacts}: Loaded): TermParts {
	const {options, brokerPort, topics, expiry, userSystems, topicTriggers, late} = state;
	const {ownNodes, context, servers, broker} = options;
	const controlPlane = controlPlaneOf({
		control,
		ownNodes: () => [...ownNodes.values()].flatMap(system => system() ?? []),
		userSystems: userSystems.names,
		clock: context.processParts.clock,
		archived: (uid, from, most) => late.archive?.read(uid, from, most) ?? Promise.resolve(undefined),
	});
	const inspection = createInspection({
		control: controlPlane,
		clock: context.processParts.clock,
		auditLog: auditFile(context.home.audit, context.home.auditRefused, context.log),
	});
	late.inspection = inspection;
	const ownLogins = createOwnLogins();
	const {connectHere = () => undefined, instruments} = options;
	const calls = createFunctionCalls({
		control: controlPlane,
		clock: context.processParts.clock,
		connectHere,
		onColdStart: waitedMs => instruments.coldStarted(waitedMs / 1_000),
	});
	late.calls = calls;
	const tasks = createTaskCalls({
		control: controlPlane,
		clock: context.processParts.clock,
		callWhole: calls.callWhole,
		onProblem: taskProblems(context),
	});
	late.tasks = tasks;
	const slurm = createSlurmJobs({
		control: controlPlane,
		seals,
		artifacts,
		clock: context.processParts.clock,
		agent: process.env['SSH_AUTH_SOCK'],
		onProblem: slurmProblems(context),
	});
	late.slurm = slurm;
	const metricSources = createMetricSources({
		control: controlPlane,
		clock: context.processParts.clock,
		subscribe: brokerPort.tools.subscribe,
	});
	late.metrics = metricSources;
	const deliveries = openFunctionDeliveries(state.foundDeliveries, {
		context,
		control: controlPlane,
		records: storeRecords(control.pipeline, options.driver),
		callWhole: calls.callWhole,
		publish: brokerPort.publishUser,
	});
	const metrics = createControlMetrics({
		control: controlPlane,
		systems: {control: control.system, nodes: () => [...ownNodes.values()].flatMap(system => system() ?? [])},
		store: () => ({
			waiting: control.pipeline.waiting(),
			epoch: control.pipeline.epoch(),
			isInTrouble: control.pipeline.problem() !== undefined,
		}),
		bus: () => control.bus.counters,
		functions: {callsOf: calls.counters.of, deliveriesOf: deliveries.countsOf},
		clock: context.processParts.clock,
	});
	const triggers = openTriggers({control: controlPlane, clock: context.processParts.clock, deliveries});
	const onRefused = refusedMessages(context, 'a message was not delivered');
	brokerPort.takeMessages(
		eachIts(
			createTopicMessages({triggers: topicTriggers, takers: triggers.takers, onRefused}),
			createFunctionMessages({deliveries, call: calls.callWhole, publish: brokerPort.publishUser, onRefused}),
			createRunAnswers({
				control: controlPlane,
				publish: brokerPort.publishUser,
				onRefused: refusedMessages(context, 'an answer to a task of a run was not taken'),
			}),
		),
		topicTriggers,
	);
	const inspectDoor = openMqttDoor({
		inspection,
		pubsub: brokerPort.tools,
		clock: context.processParts.clock,
		identityOf: tokens.identityOf,
		onRefused: refusedRequests(context),
	});
	const endSigns = (): void => {
		tasks.close();
		slurm.close();
		metricSources.close();
		late.archive?.close();
		late.triggers?.close();
		triggers.close();
		deliveries.close();
		calls.close();
		inspection.close();
		inspectDoor.close();
		expiry.stop();
		userSystems.close();
		late.signs?.close();
		late.endSweep?.();
		late.endUsageTopics?.();
	};
	return {
		control,
		taker: brokerPort.taker,
		vault,
		tokens,
		upstream(ca) {
			const access: Access = {tokens, ca, servers, broker, isOwnNode: name => isHere(state, name), cut: brokerPort.cut};
			return {
				type: 'serving',
				control: controlPlane,
				inspection,
				authenticate: token => ownLogins.identityOf(token) ?? tokens.authenticate(token),
				access,
				calls,
				deliveries,
				seals,
				artifacts,
				slurm,
			};
		},
		metrics,
		loginOf: ownLogins.issue,
		secretsFor: node => (namespace, name) => Promise.resolve(secretForNode(control.index, seals, node, {namespace, name})),
		artifactsFor: node => digest => {
			const found = artifactForNode(control.index, artifacts, node, digest);
			return Promise.resolve(found.ok ? succeeded(found.value.pieces) : found);
		},
		fetchCertificate: (namespace, name) => Promise.resolve(certificateForNode(control.index, seals, {namespace, name})),
		onLifecycle: event => tellLifecycle(topics, event),
		tellServers(all) {
			const message: Servers = {type: 'servers', servers: all};
			control.system.tell(addressOf(controlSystem, syncPath), message, 'servers');
		},
		begin() {
			control.begin();
			deliveries.begin();
			slurm.begin();
			metricSources.begin();
			late.triggers = triggers.follow();
			late.archive = archiveOfTerm(options, control);
			late.signs = hearSigns(state, control);
			late.endUsageTopics = startUsageTopics({
				control: controlPlane,
				clock: context.processParts.clock,
				isWanted: brokerPort.isWanted,
				publish: brokerPort.publish,
			});
			late.endSweep = startArtifactSweep({
				artifacts,
				known: control.index,
				clock: context.processParts.clock,
				onProblem: error => context.log.warn(error, 'artifacts that no function names could not be removed; it is tried again'),
			});
		},
		async stop() {
			endSigns();
			await stopped(control);
			await brokerPort.close();
		},
		async drop() {
			endSigns();
			control.kill();
			await brokerPort.close();
		},
	};
}

/** Each sort of a login at most once in ten seconds. */
function refusedRequests({log, processParts: {clock}}: ServeContext): MqttDoorOptions['onRefused'] {
	const quiet = quietly(clock);
	return (why, login) => quiet(`${why} ${login}`, () => log.warn({why, login}, 'a request of an inspector was refused'));
}

function taskProblems({log, processParts: {clock}}: ServeContext): TaskCallsOptions['onProblem'] {
	const quiet = quietly(clock);
	return error => quiet('tasks', () => log.warn(error, 'a task of a workflow could not be carried out, or ended, as it should have been'));
}

function slurmProblems({log, processParts: {clock}}: ServeContext): (error: unknown) => void {
	const quiet = quietly(clock);
	return error => quiet('slurm', () => log.warn(error, 'a step of a SlurmJob went wrong in a way that is not foreseen; it is tried again'));
}

/** The same of messages for functions, workflows and runs. */
function refusedMessages({log, processParts: {clock}}: ServeContext, text: string): OnRefused {
	const quiet = quietly(clock);
	return ({code, message}, {topic, login = ''}) => quiet(`${code} ${login}`, () => log.warn({code, message, topic, login}, text));
}

/** Signs of life of nodes elsewhere go to the detector. */
function hearSigns(state: State, {index, system}: ControlSystem): NodeSigns {
	const {options, brokerPort} = state;
	return startNodeSigns({
		serverId: options.serverId,
		pubsub: brokerPort.pubsub,
		clock: options.context.processParts.clock,
		heardSince: brokerPort.heardSince,
		isRemote: node => !isHere(state, node) && index.entry(nodeKey(node)) !== undefined,
		anyRemote: () => knowsElsewhere(index, node => isHere(state, node)),
		lagMs: () => paceOf(nodeGraceMs(index)).observerLagMs,
		tell: signs => system.tell(addressOf(controlSystem, detectorPath), signs, 'signs'),
	});
}

/** Sealed values in the store of the term. */
function keptBy({pipeline}: ControlSystem, records: Map<string, string>): Kept {
	return {
		get: name => records.get(vaultStoreKey(name)),
		async put(name, value) {
			const key = vaultStoreKey(name);
			await opened<unknown>(done => pipeline.put(key, () => value, done));
			records.set(key, value);
		},
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
