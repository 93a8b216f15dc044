// How the control system of one term reaches other hosts and tools, and they it: the broker in this process, or one elsewhere (`--broker`).

import {endedBy} from '../../../api/client-id.js';
import {controlSystem} from '../../../api/keys.js';
import {limits} from '../../../api/limits.js';
import {isMetered, may, mayRetain, type Identity} from '../../../api/roles.js';
import type {PublishUser} from '../../../server/functions/function-messages.js';
import type {MessageTaker} from '../../../server/message-taker.js';
import {followOutsideMessages} from '../../../server/triggers/outside-messages.js';
import type {TopicTriggers} from '../../../server/triggers/topic-triggers.js';
import {createBroker, type Broker, type BrokerCounter, type RetainedSource} from '../../../system/broker/broker.js';
import {brokerLinks, brokerPubSub} from '../../../system/links/broker-link.js';
import {nodeQuota, toolQuotaOf} from '../../../system/broker/quotas.js';
import type {Links} from '../../../system/links/link.js';
import type {OutsideUrl} from '../../../system/links/outside-url.js';
import type {PubSub} from '../../../system/links/pubsub.js';
import type {Clock} from '../../../system/time/clock.js';
import {quietly, type Log} from '../process/log.js';
import type {ServeContext} from '../process/serve.js';

export type BrokerPort = {
	/** Of the control system. */
	readonly links: Required<Links>;
	readonly pubsub: PubSub;
	/** What tools ask and are answered, on no connection that must be quick. */
	readonly tools: PubSub;
	readonly publish: Broker['publish'];
	/** For answers and dead letters of functions. */
	readonly publishUser: PublishUser;
	readonly heardSince: Broker['heardSince'];
	/** Of a broker elsewhere it is not known. */
	readonly isWanted: Broker['isWanted'];
	/** Ends the connections of a login, where that can be done from here. */
	readonly cut: (login: string) => void;
	/** Takes MQTT that comes in at the doors; undefined: it has to go to the broker elsewhere. */
	readonly taker: Pick<Broker, 'attach'> | undefined;
	/** The index is loaded: what is retained is served from it, or kept equal to it. */
	readonly serve: (source: RetainedSource) => void;
	/** From now on messages of clients are taken there as well. */
	readonly takeMessages: (messages: MessageTaker, triggers: TopicTriggers) => void;
	readonly close: () => Promise<void>;
};

/** `authenticate` says who a token belongs to. */
export async function openOwnBrokerPort(
	{processParts: {clock}, log}: ServeContext,
	authenticate: (token: string | undefined) => Identity | undefined,
	onCounted: (counter: BrokerCounter) => void,
): Promise<BrokerPort> {
	let source: RetainedSource | undefined;
	let messages: MessageTaker | undefined;
	const broker = await createBroker<Identity>({
		clock,
		authenticate(user, password) {
			const identity = authenticate(password);
			return identity !== undefined && identity.name === user ? identity : undefined;
		},
		may,
		mayRetain,
		retainedSource: {owns: topic => source?.owns(topic) ?? false, match: filter => source?.match(filter) ?? []},
		endedBy: ({role}, clientId, others) => (role === 'node' ? endedBy(clientId, others, limits.agentAliveMs) : []),
		accept: (identity, message) => messages?.accept(identity, message),
		metered: isMetered,
		quotaOf: ({role, topics}) => (role === 'node' ? nodeQuota : toolQuotaOf(topics)),
		onCounter: counted(log, clock, onCounted),
	});
	return {
		links: brokerLinks(broker, controlSystem),
		pubsub: brokerPubSub(broker),
		tools: brokerPubSub(broker),
		publish: broker.publish,
		publishUser: (topic, payload) => broker.publish(topic, payload, {retain: false}),
		heardSince: broker.heardSince,
		isWanted: broker.isWanted,
		cut: broker.cut,
		taker: broker,
		serve: next => void (source = next),
		takeMessages: next => void (messages = next),
		close: broker.close,
	};
}

/** Rights and logins are that broker's: `troupe broker config` makes them. */
export async function openOutsideBrokerPort(context: ServeContext, server: OutsideUrl): Promise<BrokerPort> {
	const [{openOutsideBroker}, {startSweeps}] = await Promise.all([
		import('../../../system/links/outside-broker.js'),
		import('../../../server/topic-sweep.js'),
	]);
	const {
		processParts: {clock, random},
		log,
	} = context;
	const boot = random.uuid();
	const quiet = quietly(clock);
	const onProblem = (problem: string): void => quiet('problem', () => log.warn(`the broker at ${server.url} cannot be used: ${problem}`));
	const broker = openOutsideBroker({server, boot, onProblem});
	let endSweeps = (): void => undefined;
	let following: {readonly close: () => void} | undefined;
	return {
		...broker,
		tools: {publish: broker.publish, subscribe: broker.subscribe},
		publishUser: (topic, payload) => broker.publish(topic, payload, {retain: false}),
		isWanted: () => false,
		cut: () => undefined,
		taker: undefined,
		serve(source) {
			endSweeps = startSweeps({broker, source, boot, clock, onSwept: result => log.info(result, 'what the broker retains was compared')});
		},
		takeMessages(messages, triggers) {
			const onTooMany = (levels: number): void =>
				quiet('levels', () =>
					log.warn({levels}, 'triggers name topics of more first levels than are heard: those of the last ones are not'),
				);
			following = followOutsideMessages({subscribe: broker.subscribe, triggers, messages, onTooMany});
		},
		close() {
			following?.close();
			endSweeps();
			return broker.close();
		},
	};
}

/** What the broker refuses or cuts, each sort of a login at most once in ten seconds: a client that floods must not flood the log. */
function counted(
	log: Log,
	clock: Clock,
	onCounted: (counter: BrokerCounter) => void,
): (counter: BrokerCounter, about: string, login?: string) => void {
	const quiet = quietly(clock);
	return (counter, about, login = '') => {
		onCounted(counter);
		if (counter !== 'connections') quiet(`${counter} ${login}`, () => log.warn({counter, about}, `broker: ${counter}`));
	};
}
