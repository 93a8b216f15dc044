// What a node says of the way from one of its pods, or from itself: what it knows of its network, and what a small program of ours saw that it
// started where the pod's own programs are.
//
// What it keeps true: few of them at once, each over in time; of what is asked only addresses, ports, names and paths that were looked at get into
// their one argument.

import {spawn, type ChildProcess} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {failed, succeeded, type Outcome} from '../../api/errors.js';
import {formatHostPort, type HostPort} from '../../api/host-port.js';
import {limits} from '../../api/limits.js';
import {parsedJson} from '../../api/value-or.js';
import {
	wayQuestionOf,
	type WayAnswer,
	type WayPort,
	type WayRequest,
	type WayService,
	type WayTried,
	type WayTry,
} from '../../api/way-check.js';
import type {NetworkStatus} from '../../actors/node/runtime/network-port.js';
import type {NetworkInfo} from '../../actors/protocol/runtime-info.js';
import type {Clock} from '../../system/time/clock.js';
import type {DataPlaneSettings} from '../network/feed/settings.js';
import type {NetworkIndex} from '../network/index/network-index.js';
import {chooseEndpoints, viewOf} from '../network/services/endpoints.js';
import {explained} from '../os/explained.js';
import {isolatedStdio} from '../os/isolated-stdio.js';
import type {PlacedTry} from './tries.js';

export type WayCheckOptions = {
	readonly settings: Pick<DataPlaneSettings, 'node' | 'dns' | 'router' | 'gateway'>;
	readonly index: NetworkIndex;
	readonly info: NetworkInfo;
	readonly clock: Clock;
	readonly status: () => NetworkStatus;
	/** The words before a program that is to be in the network of that pod; undefined: the pod has none of its own. */
	readonly enter: (uid: string) => readonly string[] | undefined;
	/** What leads to pods of other nodes; undefined: nothing. */
	readonly overlay: string | undefined;
};

type Done = (outcome: Outcome<WayAnswer>) => void;

export type WayCheck = {
	readonly run: (request: WayRequest, done: Done) => void;
	/** Those under way are ended and fail. */
	readonly close: () => void;
};

const mainModule = fileURLToPath(new URL('main.js', import.meta.url));
const dnsPort = 53;

export function createWayCheck(options: WayCheckOptions): WayCheck {
	const running = new Set<ChildProcess>();
	const run = async (request: WayRequest): Promise<Outcome<WayAnswer>> => {
		const question = wayQuestionOf(request);
		if (!question.ok) return question;
		const {service, tries} = question.value;
		const words = request.uid === undefined ? undefined : options.enter(request.uid);
		const places = placesOf(options.settings, words !== undefined);
		const placed = tries.map(each => placedTry(each, places));
		const found = placed.filter(each => each !== undefined);
		const tried = found.length === 0 ? [] : await tryAll(words ?? [], found, options.clock, running);
		const answers = tried.values();
		const {pid, problems} = options.status();
		return succeeded({
			from: words === undefined ? 'node' : 'pod',
			services: options.info.services,
			overlay: options.overlay,
			pid,
			problems,
			resolver: textOf(places.resolver),
			router: textOf(places.router),
			service: service === undefined ? undefined : serviceOf(options, service),
			tried: placed.map(each => (each === undefined ? nobody : (answers.next().value ?? nobody))),
		});
	};
	return {
		run(request, done) {
			if (running.size >= limits.wayChecks) return done(failed('ERR_BUSY', {address: 'net check', waiting: running.size}));
			run(request).then(done, (error: unknown) => done(failed('ERR_RUNTIME', {message: explained(error)})));
		},
		close() {
			for (const child of running) child.kill('SIGKILL');
		},
	};
}

const nobody: WayTried = {ok: false, code: 'ENOTHERE'};

type Places = {readonly resolver: HostPort | undefined; readonly router: HostPort | undefined};

/** Where programs there reach resolver and router of the node. */
function placesOf({dns, router, gateway}: WayCheckOptions['settings'], isOfPod: boolean): Places {
	if (isOfPod && gateway !== undefined)
		return {
			resolver: dns === undefined ? undefined : {host: gateway, port: dnsPort},
			router: router === undefined ? undefined : {host: gateway, port: router.port},
		};
	const reached = (place: HostPort | undefined): HostPort | undefined =>
		place === undefined || !anyAddress.includes(place.host) ? place : {...place, host: '127.0.0.1'};
	return {resolver: reached(dns), router: reached(router)};
}

const anyAddress: readonly string[] = ['0.0.0.0', 'localhost', '::'];

const textOf = (place: HostPort | undefined): string | undefined => (place === undefined ? undefined : formatHostPort(place));

/** Undefined: this node has nobody who could be asked. */
function placedTry(wanted: WayTry, {resolver, router}: Places): PlacedTry | undefined {
	switch (wanted.type) {
		case 'tcp':
			return wanted;
		case 'name':
			return resolver === undefined ? undefined : {...wanted, server: formatHostPort(resolver)};
		case 'route':
			return router === undefined ? undefined : {...wanted, address: router.host, port: router.port};
	}
}

function serviceOf({index, settings: {node}}: WayCheckOptions, {namespace, name, byRouter}: WayService): WayAnswer['service'] {
	const service = index.service(namespace, name);
	if (service === undefined) return undefined;
	const view = viewOf(index, node);
	const slices = [...index.endpointsOf(namespace, name)];
	const {ports = [], internalTrafficPolicy} = service.spec;
	const isLocal = internalTrafficPolicy === 'Local' && byRouter !== true;
	return {
		ports: ports.flatMap(({name: portName = '', port, protocol = 'TCP'}): readonly WayPort[] => {
			if (protocol === 'SCTP') return [];
			const {used, leftOut} = chooseEndpoints(slices, {name: portName, protocol}, view, isLocal);
			return [{port, protocol, endpoints: used, leftOut: leftOut.slice(0, limits.wayTries)}];
		}),
	};
}

/** Rejects with an Error where the program cannot be started, or does not say in time what it saw. */
function tryAll(
	words: readonly string[],
	tries: readonly PlacedTry[],
	clock: Clock,
	running: Set<ChildProcess>,
): Promise<readonly WayTried[]> {
	const [program = '', ...rest] = [...words, process.execPath, mainModule, JSON.stringify(tries)];
	const {stdio, close} = isolatedStdio(['ignore', 'pipe', 'ignore']);
	let child: ChildProcess;
	try {
		child = spawn(program, rest, {cwd: '/', env: {}, stdio});
	} finally {
		close();
	}
	running.add(child);
	const cancel = clock.after(limits.wayCheckMs, () => child.kill('SIGKILL'));
	return new Promise<readonly WayTried[]>((resolve, reject) => {
		let said = '';
		child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
			said += piece;
			if (said.length > limits.wayAnswerBytes) child.kill('SIGKILL');
		});
		child.once('error', reject);
		child.once('close', (code, signal) => {
			const tried = parsedJson(said);
			if (Array.isArray(tried) && tried.length === tries.length) resolve(tried as readonly WayTried[]);
			else reject(new Error(`what tries the way ended without an answer (${signal ?? `code ${code}`})`));
		});
	}).finally(() => {
		cancel();
		running.delete(child);
	});
}
