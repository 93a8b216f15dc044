// Everything that listens. The API's port comes first, since a server is known by it; the others follow once there is a certificate.
//
// A door that cannot be opened throws, and what was opened before is closed by the caller.

import {AppError} from '../../../api/errors.js';
import {isLoopback} from '../../../api/loopback.js';
import {namesIn} from '../../../server/certificates.js';
import {createGateway, type Upstream, type Certificate, type Gateway, type GatewayOptions} from '../../../server/gateway.js';
import type {Scrapes} from '../../../server/metrics/scrapes.js';
import {createMqttGate, type MqttGate} from '../../../server/mqtt-gate.js';
import {createMqttSockets} from '../../../server/mqtt-socket.js';
import {createWeb} from '../../../server/web.js';
import {openDoor, type Door, type TlsPair} from '../../../system/broker/door.js';
import {createNewcomers, type Newcomers} from '../../../system/broker/newcomers.js';
import {advertisedUrl, isWildcard} from './addresses.js';
import {quietly} from '../process/log.js';
import {holderOf} from '../process/port-holder.js';
import type {ServeContext} from '../process/serve.js';
import {type HostPort, formatHostPort} from '../../../api/host-port.js';
import type {DoorOptions} from '../serving-options.js';
import {programVersion} from '../../files/version.js';

export type DoorParts = {
	readonly options: DoorOptions;
	readonly upstream: () => Upstream;
	readonly scrapes: Scrapes;
	readonly onAnswered: NonNullable<GatewayOptions['onAnswered']>;
	readonly context: ServeContext;
};

export type ApiDoor = {
	/** `https://host:port` as others reach it. */
	readonly url: string;
	/** The same for this host alone. */
	readonly here: string;
	readonly gateway: Gateway;
	/** Where MQTT of all doors goes. */
	readonly gate: MqttGate;
	/** Connections of all doors that have not logged in. */
	readonly newcomers: Newcomers;
};

/** Opens the one port that a node needs: HTTPS and MQTT. Handshakes wait until there is a certificate. */
export async function openApi({options, upstream, scrapes, onAnswered, context}: DoorParts): Promise<ApiDoor> {
	const {log, closers} = context;
	const {clock} = context.processParts;
	const gate = createMqttGate(clock);
	// Until it is known who leads.
	gate.hold();
	const quiet = quietly(clock);
	const newcomers = createNewcomers({
		clock,
		onCut: (why, address) => quiet(why, () => log.warn({why, address}, 'a connection that had not logged in was closed')),
	});
	const gateway = createGateway({
		upstream,
		tls: 'later',
		newcomers,
		onMqtt: socket =>
			gate.attach(socket, `tls ${socket.remoteAddress ?? 'unknown'}:${socket.remotePort ?? 0}`, () => newcomers.admit(socket)),
		version: programVersion,
		clock,
		scrapes,
		onAnswered,
		onBug: (error, about) => log.error(error, `a request failed: ${about}`),
	});
	closers.add(() => {
		const closed = gateway.close();
		newcomers.cut();
		return closed;
	});
	const {port} = await named('api', options.api, () => gateway.listen(options.api.host, options.api.port));
	const here = `https://${formatHostPort({host: isWildcard(options.api.host) ? '127.0.0.1' : options.api.host, port})}`;
	return {url: advertisedUrl({...options.api, port}, options.advertise), here, gateway, gate, newcomers};
}

export type OtherDoors = {readonly web: string; readonly mqtt: string};

export type OpenedDoors = {
	readonly places: OtherDoors;
	/** From the next handshake on. */
	readonly useCertificate: (certificate: Certificate) => void;
};

/** Opens the doors for tools on this machine, plain on loopback, and with TLS elsewhere. */
export async function openOthers(parts: DoorParts, door: ApiDoor, certificate: Certificate): Promise<OpenedDoors> {
	const {options, context} = parts;
	const {processParts, closers} = context;
	const {url, gateway, gate, newcomers} = door;
	let serves = namesIn(certificate.cert);
	const tlsAt = ({host}: HostPort): TlsPair | undefined => (isLoopback(host) ? undefined : {cert: certificate.cert, key: certificate.key});
	const own = options.broker === undefined ? await openMqtt(parts, door, tlsAt(options.mqtt)) : undefined;
	const mqtt = own?.url ?? options.broker?.server.url ?? '';
	const sockets = createMqttSockets({
		onStream: (stream, {socket}) => gate.attach(stream, `ws ${socket.remoteAddress ?? ''}`, () => newcomers.admit(socket)),
	});
	const web = createWeb({
		about: () => ({version: programVersion, api: url, mqtt}),
		onRequest: gateway.take,
		onMqttUpgrade: sockets.upgrade,
		tls: tlsAt(options.web),
		serves: name => serves(name),
		newcomers,
		clock: processParts.clock,
	});
	closers.add(() => {
		sockets.close();
		return web.close();
	});
	const {port} = await named('web', options.web, () => web.listen(options.web.host, options.web.port));
	return {
		places: {mqtt, web: `${tlsAt(options.web) === undefined ? 'http' : 'https'}://${formatHostPort({...options.web, port})}`},
		useCertificate(next) {
			serves = namesIn(next.cert);
			own?.door.useCertificate(next);
			web.useCertificate(next);
		},
	};
}

/** The door for tools that speak MQTT alone; there is none where the broker is elsewhere. */
async function openMqtt(
	{options, context: {log, closers}}: DoorParts,
	{gate, newcomers}: ApiDoor,
	tls: TlsPair | undefined,
): Promise<{url: string; door: Door}> {
	const onError = (error: Error): void => log.warn(error, 'the mqtt door met an error');
	const door = await named('mqtt', options.mqtt, () => openDoor({...options.mqtt, tls, newcomers}, gate.attach, onError));
	closers.add(() => {
		const closed = door.close();
		gate.cut();
		newcomers.cut();
		return closed;
	});
	return {url: `${tls === undefined ? 'mqtt' : 'mqtts'}://${formatHostPort({...options.mqtt, port: door.port})}`, door};
}

/** Says which flag chooses another place when a door cannot be opened, and who has this one. */
async function named<Opened>(flag: string, place: HostPort, listen: () => Promise<Opened>): Promise<Opened> {
	try {
		return await listen();
	} catch (error) {
		throw new AppError('ERR_NOT_REACHABLE', {message: whyNot(flag, place, error)}, error);
	}
}

function whyNot(flag: string, place: HostPort, error: unknown): string {
	const {message} = error as Error;
	const code = error instanceof AppError ? error.failure.details['code'] : (error as NodeJS.ErrnoException).code;
	if (code === 'EADDRNOTAVAIL') return `--${flag}: ${message}`;
	return `${code === 'EADDRINUSE' ? busyText(place) : message}; --${flag} ${place.host}:0 picks a free port`;
}

function busyText(place: HostPort): string {
	const holder = holderOf(place.port);
	return `${formatHostPort(place)} is in use${holder === undefined ? '' : ` by "${holder.name}" (process ${holder.pid})`}`;
}
