// An actor system of a user's own, joined to the cluster: its connection, its name, its actors. It begins when the name is its own, and ends
// when its first actor does, or when another run has the name.

import {AppError, failed, failure, succeeded, type Failure} from '../../api/errors.js';
import {address, controlSystem, parseAddress, type Address} from '../../api/keys.js';
import {limits} from '../../api/limits.js';
import {formatUserSystem, parseUserSystem, type UserPresence, type UserSystem} from '../../api/user-system.js';
import {isSecretMember} from '../../actors/secret-members.js';
import type {FaultOptions} from '../../system/inspect/faults.js';
import {createInspector, type Inspector} from '../../system/inspect/inspector.js';
import {cut} from '../../system/inspect/tree-look.js';
import {ActorSystem} from '../../system/kernel/actor-system.js';
import {isReply, type Command, type Message} from '../../system/kernel/behavior.js';
import type {Executor} from '../../system/kernel/executor.js';
import type {Envelope} from '../../system/kernel/mailbox.js';
import type {SystemObserver} from '../../system/kernel/observer.js';
import type {Perform} from '../../system/kernel/performs.js';
import {Bus} from '../../system/links/bus.js';
import type {Link, Links} from '../../system/links/link.js';
import {connectMqttLink, type MqttLink} from '../../system/links/mqtt-link.js';
import {createNameClaim, type NameClaim} from '../../system/presence/name-claim.js';
import type {Clock} from '../../system/time/clock.js';
import type {Random} from '../../system/time/random.js';
import {inspector, linksWithFaults, withInspect} from '../../actors/inspector.js';
import {acceptsAsUserSystem} from '../../actors/protocol/accepted-messages.js';
import type {BrokerLogin} from '../cluster/broker-login.js';
import type {PrintCommand} from './checked-behavior.js';
import {ownLines} from './own-lines.js';
import {mainPath, runRoot, type EndedCommand, type RunInput} from './run-root.js';
import type {UserModule} from './user-module.js';

export type UserSystemOptions = {
	readonly name: string;
	readonly broker: BrokerLogin;
	readonly module: UserModule;
	/** What the first actor's `init` is given. */
	readonly input: unknown;
	readonly about: Pick<UserPresence, 'host' | 'pid' | 'file'>;
	/** Admins may make faults in it. */
	readonly faults: boolean;
	readonly clock: Clock;
	readonly random: Random;
	readonly executor: Executor;
	readonly onReady: () => void;
	/** A line that an actor prints. */
	readonly print: (text: string) => void;
	/** What a person is to be told, a line or several. */
	readonly note: (line: string) => void;
	/** It ended by itself, or cannot begin or go on. Called once; `stop` is the caller's. */
	readonly onEnd: (error: AppError | undefined) => void;
};

export type OpenUserSystem = {
	/** Tells the first actor. */
	readonly tell: (message: Message, cause: string) => void;
	/** Stops the tree in order, gives the name back and says goodbye. */
	readonly stop: () => Promise<void>;
};

/** Connects; all else is told by the callbacks. */
export function openUserSystem(options: UserSystemOptions): OpenUserSystem {
	const {name, broker, clock, random, onReady} = options;
	const self: UserSystem = {name, login: broker.login};
	const boot = random.uuid();
	let isOver = false;
	const end = (error?: AppError): void => {
		if (isOver) return;
		isOver = true;
		options.onEnd(error);
	};
	const late: {link?: MqttLink} = {};
	let isReady = false;
	const claim = createNameClaim({
		system: self,
		self: {...options.about, boot, sinceMs: clock.nowMs()},
		clock,
		publish: (topic, payload, how) => late.link?.publish(topic, payload, how),
		onHeld() {
			if (!isReady) {
				begin(system, options);
				if (!isOver) onReady();
			}
			isReady = true;
			gate.open();
		},
		onTaken: by => end(takenError(self, by)),
	});
	const link = connect(options, {self, boot, claim, isReady: () => isReady, end});
	late.link = link;
	link.subscribe(claim.topic, (_topic, payload, isRetained) => claim.hear(payload, isRetained));
	const gate = gateOf(link, claim.isHeld);
	const {links, options: faults} = linksWithFaults({control: gate.link}, options.faults);
	const bus = busOf(options, {self, boot, links});
	const {system, inspects} = systemOf(options, {self, bus, faults, end});
	bus.join(system);
	return {
		tell: (message, cause) => system.tell(address(system.name, mainPath), message, cause),
		async stop() {
			isOver = true;
			await new Promise<void>(resolve => system.stop(resolve));
			inspects.close();
			claim.release();
			await bus.close();
		},
	};
}

function begin(system: ActorSystem, {module, input}: UserSystemOptions): void {
	const first: RunInput = {behavior: module.root, input};
	system.start(runRoot.kind, first);
}

function takenError({name, login}: UserSystem, {host, pid, file}: UserPresence): AppError {
	const error = new AppError('ERR_ALREADY_EXISTS', {resource: 'systems', name: `${name}@${login}`});
	error.message = `"${name}@${login}" runs already: process ${pid} on ${host} (${file}); end that one, or choose another name with --name`;
	return error;
}

type Meeting = {
	readonly self: UserSystem;
	readonly boot: string;
	readonly claim: NameClaim;
	readonly isReady: () => boolean;
	readonly end: (error?: AppError) => void;
};

function connect({broker, note}: UserSystemOptions, {self, boot, claim, isReady, end}: Meeting): MqttLink {
	const {urls, login, password, ca, trustAnyone} = broker;
	const system = formatUserSystem(self);
	let lost = false;
	return connectMqttLink({
		url: () => urls,
		self: system,
		login,
		password,
		clientId: `${system}.${boot}.actors`,
		lane: 'bulk',
		...(ca === undefined ? {} : {ca}),
		trustAnyone,
		will: claim.will,
		onConnected() {
			if (lost) note('the connection to the cluster is there again');
			lost = false;
			claim.connected();
		},
		onDisconnected() {
			claim.disconnected();
			if (!lost) note('the connection to the cluster is lost; the actors go on, and it is tried again');
			lost = true;
		},
		onProblem(problem, code) {
			// Once it was there it comes again.
			if (!isReady()) end(unreachable(login, urls[0], problem, code));
		},
	});
}

/** CONNACK: bad user name or password, and not authorized (MQTT 3.1.1, table 3.1). */
function unreachable(login: string, url: string, problem: string, code: number | undefined): AppError {
	if (code === 4) {
		const error = new AppError('ERR_UNAUTHORIZED');
		error.message = `the broker at ${url} does not know the token of "${login}"; was it revoked, or has it expired?`;
		return error;
	}
	if (code === 5)
		return new AppError('ERR_FORBIDDEN', {message: `"${login}" may not run actors: that takes a token with the role admin or edit`});
	return new AppError('ERR_NOT_REACHABLE', {message: `the broker at ${url} cannot be reached: ${problem}`});
}

/** Nothing passes until the name is ours: two runs of one name would answer for each other. `open` says that it is, now or again. */
function gateOf(link: MqttLink, isOpen: () => boolean): {readonly link: Link; readonly open: () => void} {
	let opened = (): void => undefined;
	return {
		link: {
			send(to, packet) {
				if (isOpen()) link.send(to, packet);
			},
			onPacket: listener =>
				link.onPacket((from, packet) => {
					if (isOpen()) listener(from, packet);
				}),
			onConnected: listener => void (opened = listener),
			verify: link.verify,
			close: link.close,
		},
		open: () => opened(),
	};
}

type Joined = {readonly self: UserSystem; readonly boot: string; readonly links: Links};

function busOf({clock}: UserSystemOptions, {self, boot, links}: Joined): Bus {
	const own = formatUserSystem(self);
	return new Bus({
		boot,
		clock,
		links,
		isPeer: peer => peer === controlSystem || (peer !== own && parseUserSystem(peer)?.login === self.login),
		accepts: acceptsAsUserSystem,
		measure: true,
		bodyBytes: limits.userBodyBytes,
	});
}

type Standing = {
	readonly self: UserSystem;
	readonly bus: Bus;
	readonly faults: FaultOptions | undefined;
	readonly end: (error?: AppError) => void;
};

function systemOf(
	options: UserSystemOptions,
	{self, bus, faults, end}: Standing,
): {readonly system: ActorSystem; readonly inspects: Inspector} {
	const {executor, clock, random, module, note} = options;
	const late: {inspector?: Inspector} = {};
	const system = new ActorSystem({
		name: formatUserSystem(self),
		executor,
		clock,
		random,
		behaviors: {...module.behaviors, [runRoot.kind]: runRoot, [inspector.kind]: inspector},
		perform: withInspect((...asked) => late.inspector?.inspect(...asked), performFor(options, end)),
		remote(other, to, envelope) {
			const refused = refusalOf(self, other, envelope);
			if (refused === undefined) bus.send(other, to, envelope);
			else system.refuse(to, envelope, 'noActor', refused);
		},
		observer: observerOf(note, error => end(new AppError('ERR_INTERNAL', {message: `the first actor cannot begin: ${wordsOf(error)}`}))),
		onEscalation: ({message}) => end(new AppError('ERR_INTERNAL', {message: `the actors failed for good: ${message}`})),
	});
	const inspects = createInspector(system, {isSecret: isSecretMember, faults});
	late.inspector = inspects;
	return {system, inspects};
}

/** Why nothing is sent there, if that is so: an actor here talks to those of its own login, and control hears answers alone. */
function refusalOf({login}: UserSystem, other: string, {message}: Envelope): Failure | undefined {
	if (parseUserSystem(other)?.login === login || (other === controlSystem && isReply(message))) return undefined;
	return failure('ERR_FORBIDDEN', {
		message: `actors of "${login}" may send to systems of that login, such as troupe://NAME@${login}/main, and not to "${other}"`,
	});
}

const performFor =
	({print}: UserSystemOptions, end: (error?: AppError) => void): Perform =>
	(command, done) => {
		if (isPrint(command)) {
			print(command.text);
			done(succeeded(null));
		} else if (isEnded(command)) {
			done(succeeded(null));
			end();
		} else {
			done(failed('ERR_INTERNAL', {message: `nothing here does "${command.type}"`}));
		}
	};

const isPrint = (command: Command): command is PrintCommand => command.type === 'print';
const isEnded = (command: Command): command is EndedCommand => command.type === 'ended';

/** What goes wrong is told at once, with where it was. `onNoBeginning`: the first actor crashed before there was a state of it. */
function observerOf(note: (line: string) => void, onNoBeginning: (error: Failure) => void): SystemObserver {
	let hasCrashed = false;
	let isOver = false;
	return {
		lifecycle(event) {
			const path = pathOf(event.address);
			if (isOver) return;
			if (event.type !== 'crashed') return note(`${path} ${event.type}`);
			note([`${path} crashed on "${cut(event.messageType)}": ${wordsOf(event.error)}`, ...ownLines(event.stack)].join('\n'));
			if (path !== mainPath) return;
			// To try again would crash again, sixteen times until the root fails.
			isOver = !hasCrashed && event.messageType === 'init';
			hasCrashed = true;
			if (isOver) onNoBeginning(event.error);
		},
		deadLetter({to, from, messageType, error, why}) {
			const what = `"${cut(messageType)}" from ${pathOf(from)}`;
			if (why === 'crashed') return; // That was told.
			if (why === 'notUnderstood') note(`${pathOf(to)} knows no message ${what}: its receive returned nothing`);
			else note(`a ${what} for ${cut(to)} was not delivered: ${cut(error.message)}`);
		},
		slowStep: ({address: of, messageType, ms}) => note(`a step of ${pathOf(of)} took ${Math.round(ms)} ms ("${cut(messageType)}")`),
	};
}

/** Without what stands before it in each. */
const wordsOf = ({message, details}: Failure): string => (typeof details['message'] === 'string' ? details['message'] : message);

/** Bounded: actors that spawn themselves have paths without an end. */
function pathOf(of: Address): string {
	const path = parseAddress(of)?.path ?? of;
	return path === '' ? 'the root' : cut(path);
}
