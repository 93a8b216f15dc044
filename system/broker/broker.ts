// The MQTT broker of the control plane: aedes, fenced in. Only this file imports it.
//
// What it keeps true: no client can make it buffer without bound, stall another client, read or write beyond its rights, or
// take over another login's connection; a refused publish costs the message, never the link; nothing retained is kept twice.
// `system/broker/` has the parts: door, packet guard, client stream, admission, connections, sessions, retained tree, replay,
// outbox.

import type {EventEmitter} from 'node:events';
import type {Duplex} from 'node:stream';
import {Aedes, type AedesPublishPacket, type Client, type PublishPacket} from 'aedes';
import {limits} from '../../api/limits.js';
import {
	admit,
	crowded,
	duplicate,
	isMalformed,
	isPublishable,
	isSubscribable,
	isText,
	type Admission,
	type ConnectRequest,
	type RefusalCode,
} from './admission.js';
import {inOrder, onceAtATime} from './acceptance.js';
import {createAllowances, type Allowances} from './allowance.js';
import {createBacklog, type Backlog} from './backlog.js';
import {ClientStream, type CutReason} from './client-stream.js';
import {Connections, grantedQos, newConnection, type Connection} from './connections.js';
import {createCounters, type Counters} from './counters.js';
import {openDoor, type Door} from './door.js';
import {Outbox} from './outbox.js';
import {answerWork, connectWork, publishWork, replayWork} from './packet-work.js';
import {Persistence} from './persistence.js';
import type {Broker, BrokerCounter, BrokerOptions, Login} from './ports.js';
import {createPace, type Pace} from './pace.js';
import {createReplay, type Replay, type ReplayMessage} from './replay.js';
import {createPublishRates, type PublishRates} from './publish-rate.js';
import {createNewcomers} from './newcomers.js';
import {RetainedTree, type Retained} from './retained-tree.js';
import {nodeQuota} from './quotas.js';

export type {Broker, BrokerCounter, BrokerOptions, RetainedMessage, RetainedSource} from './ports.js';

/** Where a refused publish ends: acknowledged as its QoS wants, heard by no client. */
const refusedTopic = '$refused';
/** Those that have not logged in are bounded at the doors, in number and time: they never take all the places. */
const mostSockets = limits.brokerConnections + limits.newcomers;
const empty = Buffer.alloc(0);
const ignore = (): void => undefined;

const cutCounters: Readonly<Record<CutReason, BrokerCounter>> = {
	oversized: 'cutOversized',
	malformed: 'cutMalformed',
	version: 'loginsRefused',
	greedy: 'cutGreedy',
	overflow: 'cutOverflow',
	stalled: 'cutStalled',
};

/** Everything the hooks of aedes look at. */
type HookContext<Identity extends Login> = BrokerOptions<Identity> & {
	readonly aedes: Aedes;
	readonly connections: Connections<Client, Identity>;
	readonly persistence: Persistence;
	readonly allowances: Allowances;
	readonly rates: PublishRates;
	readonly counters: Counters;
};

/** What the broker's own functions look at besides. */
type State<Identity extends Login> = HookContext<Identity> & {
	readonly pace: Pace;
	readonly outbox: Outbox;
	/** Retains a message where there is room, unless others keep those of its topic. */
	readonly keep: (message: Retained) => void;
	readonly backlog: Backlog;
	readonly sockets: Set<Duplex>;
	readonly doors: Set<Door>;
};

/** Starts a broker without a door; `listen` opens one and `attach` takes what other doors let in. */
export async function createBroker<Identity extends Login>(options: BrokerOptions<Identity>): Promise<Broker> {
	const {clock, may, retainedSource} = options;
	const counters = createCounters(options.onCounter);
	const {count} = counters;
	const connections = new Connections<Client, Identity>(may);
	const retained = new RetainedTree({
		topics: limits.brokerRetainedTopics,
		bytes: limits.brokerRetainedBytes,
		topicsPerLogin: limits.brokerRetainedPerLogin,
		bytesPerLogin: limits.brokerRetainedBytesPerLogin,
	});
	const keep = (message: Retained): void => {
		if (!retainedSource.owns(message.topic) && !retained.set(message)) count('retainedRefused', message.topic);
	};
	const persistence = new Persistence({
		sessions: limits.brokerSessions,
		sessionsPerLogin: limits.brokerSessionsPerLogin,
		messages: limits.brokerSessionMessages,
		bytes: limits.brokerSessionBytes,
		bytesPerLogin: limits.brokerSessionBytesPerLogin,
		bytesInAll: limits.brokerSessionBytesInAll,
		ownerOf: clientId => connections.ownerOf(clientId),
		onRetained: keep,
		onDropped: clientId => count('sessionMessagesDropped', clientId),
	});
	const aedes = await startAedes(persistence, counters);
	const context = {
		...options,
		aedes,
		connections,
		persistence,
		allowances: createAllowances(clock),
		rates: createPublishRates(clock),
		counters,
	};
	setHooks(context);
	const pace = createPace(clock.monotonicMs, {node: limits.brokerNodeTurnMs, tool: limits.brokerToolTurnMs});
	replayOnSubscribe(aedes, connections, may, pace, function* (filter) {
		for (const message of retainedSource.match(filter)) yield {...message, qos: 0};
		for (const {topic, payload, qos} of retained.match(filter)) yield {topic, payload: () => payload, qos};
	});
	const outbox = new Outbox({
		windowMessages: limits.brokerPublishWindow,
		windowBytes: limits.brokerPublishWindowBytes,
		waitingMessages: limits.brokerOutboxMessages,
		waitingBytes: limits.brokerOutboxBytes,
		emit: (topic, payload, done) => aedes.publish(publishOf(topic, payload), done),
		onReplaced: topic => count('outboxReplaced', topic),
		onDropped: topic => count('outboxDropped', topic),
	});

	return brokerOf({
		...context,
		pace,
		outbox,
		keep,
		backlog: createBacklog(limits.brokerBacklogBytes, () => connections.tools()),
		sockets: new Set(),
		doors: new Set(),
	});
}

function brokerOf<Identity extends Login>(state: State<Identity>): Broker {
	const {aedes, connections, persistence, counters, clock, outbox, keep, sockets, doors} = state;
	const attachHere: Broker['attach'] = (inner, about, onLogin) => attach(state, inner, about, onLogin);
	return {
		attach: attachHere,
		async listen(host, port) {
			const onError = (): void => counters.count('errors', `door ${host}:${port}`);
			const door = await openDoor({host, port, newcomers: createNewcomers({clock})}, attachHere, onError);
			doors.add(door);
			return {port: door.port};
		},
		publish(topic, payload, {retain}) {
			const bytes = asBuffer(payload);
			if (retain) keep({topic, payload: bytes, qos: 0});
			outbox.publish(topic, bytes, retain);
		},
		send: (topic, payload) => aedes.publish(publishOf(topic, asBuffer(payload)), ignore),
		subscribe(filter, listener) {
			const deliver = (packet: AedesPublishPacket, done: () => void): void => {
				done();
				if (!packet.topic.startsWith('$')) listener(packet.topic, asBuffer(packet.payload));
			};
			aedes.subscribe(filter, deliver, ignore);
			return () => aedes.unsubscribe(filter, deliver, ignore);
		},
		counters: counters.read,
		heardSince: atMs => connections.heardSince(atMs),
		isWanted: filter => connections.isWanted(filter),
		connected: () => connections.names(),
		cut(login) {
			const found = connections.ofLogin(login);
			for (const {stream} of found) stream.cut();
			persistence.dropOf(login);
			return found.length;
		},
		async close() {
			outbox.clear();
			const closed = [...doors].map(door => door.close());
			await new Promise<void>(resolve => aedes.close(resolve));
			for (const socket of sockets) socket.destroy();
			await Promise.all(closed);
		},
	};
}

/** Takes a connection in, unless there are too many or the broker is closed. */
function attach<Identity extends Login>(state: State<Identity>, inner: Duplex, about: string, onLogin = ignore): void {
	const {aedes, connections, allowances, rates, counters, clock, pace, backlog, sockets} = state;
	if (aedes.closed || sockets.size >= mostSockets) {
		counters.count('cutCrowded', about);
		inner.on('error', ignore).destroy();
		return;
	}
	counters.count('connections', about);
	sockets.add(inner);
	inner.once('close', () => sockets.delete(inner));
	const stream = new ClientStream({
		inner,
		clock,
		pace,
		onPending: backlog.change,
		onCut: reason => counters.count(cutCounters[reason], aboutOf(connection), connection.login),
	});
	const connection = newConnection<Identity>(about, stream, onLogin);
	connections.add(aedes.handle(stream), connection);
	stream.once('close', () => {
		connections.end(connection);
		const open = connections.logins();
		allowances.tidy(open);
		rates.tidy(open);
	});
}

async function startAedes(persistence: Persistence, {count}: Counters): Promise<Aedes> {
	const aedes = new Aedes({
		persistence,
		// Of any other number, so many publishes that wait for one client would stop all others.
		concurrency: 0,
		connectTimeout: limits.newcomerMs,
		drainTimeout: limits.toolStallMs,
		maxInflightInbound: limits.brokerInflightInbound,
		// What may follow CONNECT at once is bounded by the bytes that are taken until the login.
		queueLimit: limits.brokerLoginPacketBytes,
	});
	await aedes.listen();
	// aedes drops a publish as a duplicate when one with a higher number overtook it on the way to a client, as a QoS 0 publish
	// may overtake a retained one. It does not look at numbers of a broker without a name; `authorizeForward` does it instead.
	aedes.id = '';
	(aedes as EventEmitter).on('error', () => count('errors', 'broker'));
	return aedes;
}

/** Decides about one CONNECT, and ends what has to go for it. */
function letIn<Identity extends Login>(request: ConnectRequest, context: HookContext<Identity>): Admission<Identity> {
	const {connections, clock, endedBy} = context;
	const admission = admit(request, context, clientId => connections.holderOf(clientId));
	if (!admission.ok || endedBy === undefined) return admission;
	const nowMs = clock.monotonicMs();
	const others = connections
		.ofLogin(admission.identity.name)
		.map(({clientId, stream}) => ({clientId, stream, silentMs: nowMs - stream.heardMs}));
	const ended = endedBy(admission.identity, request.clientId, others);
	if (ended === undefined) return duplicate;
	for (const {stream} of ended) stream.cut();
	return admission;
}

/** Logins and rights. */
function setHooks<Identity extends Login>(context: HookContext<Identity>): void {
	const {aedes} = context;
	aedes.preConnect = openingOf(context);
	aedes.authenticate = loginOf(context);
	aedes.authorizePublish = publishingOf(context);
	aedes.authorizeSubscribe = subscribingOf(context);
	aedes.authorizeForward = forwardingOf(context);
}

/** The first packet of a connection. */
function openingOf<Identity extends Login>({connections, counters: {count}}: HookContext<Identity>): Aedes['preConnect'] {
	return (client, packet, done) => {
		const connection = connections.of(client);
		if (connection === undefined || connection.identity !== undefined) return done(null, false);
		if (isMalformed(packet)) {
			count('cutMalformed', connection.about);
			return done(new Error('malformed'), false);
		}
		connection.clientId = packet.clientId;
		connection.clean = packet.clean !== false;
		connection.willTopic = packet.will?.topic;
		done(null, true);
	};
}

/** Lets a login in once its allowance has something left. */
function loginOf<Identity extends Login>(context: HookContext<Identity>): Aedes['authenticate'] {
	const {connections, persistence, quotaOf = () => nodeQuota} = context;
	const {count} = context.counters;
	return (client, username, password, done) => {
		const connection = connections.of(client);
		if (connection === undefined) return done(null, false);
		const request = {...connection, username, password: password?.toString('utf8')};
		const refuse = (counter: BrokerCounter, {code}: {readonly code: RefusalCode}): void => {
			count(counter, aboutOf(connection));
			done(Object.assign(new Error('refused'), {returnCode: code}), null);
		};
		const decide = (authenticate: typeof context.authenticate): void => {
			const admission = letIn(request, {...context, authenticate});
			if (!admission.ok) return refuse('loginsRefused', admission);
			const {identity} = admission;
			// Who says goodbye in the same breath is not there any more.
			if (!connections.login(connection, identity)) return done(null, false);
			connection.onLogin();
			persistence.claim(connection.clientId, identity);
			const quota = quotaOf(identity);
			connection.rate = context.rates.of(identity.name, quota.rate);
			connection.stream.login({...quota, allowance: connection.allowance, rate: connection.rate}, quota.stallMs);
			done(null, true);
		};
		const known = context.authenticate(request.username, request.password);
		if (known === undefined) return decide(() => undefined);
		const {connections: most, work} = quotaOf(known);
		if (connections.countOf(known.name) >= most) return refuse('loginsCrowded', crowded);
		connection.login = known.name;
		connection.allowance = context.allowances.of(known.name, work);
		connection.allowance.whenLeft(() => {
			connection.allowance.spend(connectWork);
			// It may have waited: what counts is what holds now.
			decide(context.authenticate);
		});
	};
}

/** What a client may not publish ends at the refused topic; what somebody takes over is acknowledged once that is done. */
function publishingOf<Identity extends Login>({
	connections,
	persistence,
	may,
	mayRetain = () => true,
	accept = () => undefined,
	metered = () => false,
	counters: {count},
}: HookContext<Identity>): Aedes['authorizePublish'] {
	const isAllowed = (identity: Identity, {topic, retain}: PublishPacket): boolean =>
		isPublishable(topic) && may(identity, 'publish', topic) && (!retain || mayRetain(topic));
	const takenOnce = onceAtATime();
	return (client, packet, done) => {
		const connection = connections.of(client);
		const {messageId} = packet as {messageId?: number};
		if (!isText(packet.topic) || (packet.qos > 0 && messageId === 0)) {
			count('cutMalformed', aboutOf(connection));
			return done(new Error('malformed'));
		}
		packet.dup = false; // It is about the publisher's connection [MQTT-3.3.1-3].
		const identity = connection?.identity;
		if (connection === undefined || identity === undefined) {
			count('publishesRefused', aboutOf(connection));
			misdirect(packet);
			return done(null);
		}
		const isMeant = isAllowed(identity, packet);
		if (!isMeant) {
			count('publishesRefused', aboutOf(connection));
			misdirect(packet);
		} else if (metered(packet.topic)) {
			connection.allowance.earn(publishWork(packet.qos, packet.payload.length));
			connection.rate.spend(packet.payload.length);
		}
		// aedes hands on whose a packet is no sooner than it has retained it.
		if (packet.retain) (packet as {clientId?: string}).clientId = identity.name;
		// What was not released yet was taken when it came first.
		const isKnown = packet.qos === 2 && client !== null && persistence.hasIncoming(client.id, messageId ?? 0);
		const take = (): Promise<void> | undefined =>
			accept(identity, {topic: packet.topic, payload: asBuffer(packet.payload), qos: packet.qos});
		// Of a session that is kept it may come again, on another connection, before it was taken.
		const mayComeAgain = packet.qos === 2 && client !== null && !connection.clean;
		const accepted = !isMeant || isKnown ? undefined : mayComeAgain ? takenOnce(`${client.id}/${messageId}`, take) : take();
		if (packet.qos === 0) {
			accepted?.catch(() => count('notTaken', aboutOf(connection)));
			return done(null);
		}
		inOrder(connection, accepted, isTaken => {
			if (!isTaken) count('cutNotTaken', aboutOf(connection), identity.name);
			// Of a client that is gone and keeps no session nothing is remembered; a last will has no id.
			const isGone = connection.stream.destroyed && connection.clean && messageId !== undefined;
			done(isTaken && !isGone ? null : new Error('not taken'));
		});
	};
}

/** Which filters a client gets. */
function subscribingOf<Identity extends Login>({
	connections,
	persistence,
	may,
	counters: {count},
}: HookContext<Identity>): Aedes['authorizeSubscribe'] {
	return (client, subscription, done) => {
		const connection = connections.of(client);
		const {topic, qos} = subscription;
		if (!isText(topic)) {
			count('cutMalformed', aboutOf(connection));
			return done(new Error('malformed'), null);
		}
		if (connection?.identity === undefined || !mayHold(connection, topic) || !may(connection.identity, 'subscribe', topic)) {
			count('subscriptionsRefused', aboutOf(connection));
			return done(null, null);
		}
		connection.filters.set(topic, qos);
		if (!connection.clean) persistence.keep(connection.clientId, topic, qos);
		// aedes would deliver at the QoS of whichever overlapping filter it meets first: `authorizeForward` decides instead.
		done(null, {...subscription, qos: 2});
	};
}

/** What reaches a client, and at which QoS. */
function forwardingOf<Identity extends Login>({connections, persistence, may}: HookContext<Identity>): Aedes['authorizeForward'] {
	return (client, packet) => {
		const connection = connections.of(client);
		if (connection?.identity === undefined) return null;
		// Filters of one client that overlap are served in one turn, one after another: once is enough.
		if (packet.brokerCounter === connection.lastCounter || !may(connection.identity, 'forward', packet.topic)) return null;
		connection.lastCounter = packet.brokerCounter;
		// What has a packet id comes from the queue itself.
		const isLive = packet.qos > 0 && (packet as {messageId?: number}).messageId === undefined;
		if (isLive && !connection.clean && persistence.comesFromQueue(connection.clientId, packet.brokerCounter)) return null;
		if (packet.qos > 0) connection.allowance.earn(answerWork);
		const qos = Math.min(packet.qos, packet.qos === 0 ? 0 : grantedQos(connection.filters, packet.topic)) as 0 | 1 | 2;
		return qos === packet.qos ? packet : {...packet, qos};
	};
}

/** Retained messages at our own pace; the stream that aedes would send is empty. */
function replayOnSubscribe<Identity extends Login>(
	aedes: Aedes,
	connections: Connections<Client, Identity>,
	may: BrokerOptions<Identity>['may'],
	pace: Pace,
	match: (filter: string) => Iterable<ReplayMessage>,
): void {
	const replayTo = (client: Client, connection: Connection<Identity>): Replay =>
		createReplay({
			match,
			onLooked: messages => connection.allowance.spend(messages * replayWork),
			allowed: topic => connection.identity !== undefined && may(connection.identity, 'forward', topic),
			send: (topic, payload, qos) => client.publish({...publishOf(topic, payload), qos, retain: true}, ignore),
			write: packets => void connection.stream.write(packets),
			pace,
			whenBelow: (bytes, callback) => connection.stream.whenBelow(bytes, callback),
			wanted: filter => !connection.stream.destroyed && connection.filters.has(filter),
		});

	aedes.on('subscribe', (subscriptions, client) => {
		const connection = connections.of(client);
		if (connection === undefined) return;
		connection.replay ??= replayTo(client, connection);
		for (const {topic, qos} of subscriptions) {
			// To a kept session at QoS 0: aedes would queue it first, and it is retained anyway.
			if (connection.filters.has(topic)) connection.replay.start(topic, connection.clean && (qos === 1 || qos === 2) ? qos : 0);
		}
		connection.stream.listDone();
	});
	aedes.on('unsubscribe', (filters, client) => {
		const connection = connections.of(client);
		for (const filter of filters) connection?.filters.delete(filter);
		connection?.stream.listDone();
	});
}

const mayHold = ({filters}: {readonly filters: ReadonlyMap<string, unknown>}, filter: string): boolean =>
	isSubscribable(filter) && (filters.has(filter) || filters.size < limits.brokerSubscriptions);

/** Whose it is, as far as that is known. */
const aboutOf = (connection: {readonly about: string; readonly login: string | undefined} | undefined): string => {
	const {about, login} = connection ?? {about: 'unknown', login: undefined};
	return login === undefined ? about : `${about} of ${JSON.stringify(login)}`;
};

const asBuffer = (payload: Buffer | string): Buffer => (typeof payload === 'string' ? Buffer.from(payload) : payload);

const publishOf = (topic: string, payload: Buffer): PublishPacket => ({
	cmd: 'publish',
	topic,
	payload,
	qos: 0,
	retain: false,
	dup: false,
});

function misdirect(packet: PublishPacket): void {
	packet.topic = refusedTopic;
	packet.payload = empty;
	packet.retain = false;
}
