// From what a manifest asks of a container, by a probe or a hook, to what the runtime does. Pure.

import type {Container, HttpGetAction} from '../../../api/kinds/pod.js';
import {expand, isPlain, type Value} from './environment.js';
import type {ContainerProbe} from './probe.js';
import type {ContainerAction} from '../runtime/runtime-port.js';

/** Probes and hooks alike. */
export type ActionHandler = Pick<ContainerProbe, 'exec' | 'httpGet' | 'tcpSocket' | 'runnerListens'>;

export type ActionOutcome = {readonly ok: true; readonly value: ContainerAction} | {readonly ok: false; readonly problem: string};

/** Ports by number, hosts by address: the pod's own unless another is named. */
export function actionOf({exec, httpGet, tcpSocket, runnerListens}: ActionHandler, container: Container, podIP: string): ActionOutcome {
	if (runnerListens === true) return {ok: true, value: {type: 'runnerListens'}};
	if (exec !== undefined) return {ok: true, value: {type: 'exec', argv: (exec.command ?? []).map(word => expanded(word, container))}};
	const target = httpGet ?? tcpSocket;
	if (target === undefined) return {ok: false, problem: 'it says nothing to do'};
	const port = portOf(target.port, container);
	if (port === undefined) return {ok: false, problem: `container "${container.name}" has no port named "${target.port}"`};
	const host = target.host === undefined || target.host === '' ? podIP : target.host;
	return {ok: true, value: httpGet === undefined ? {type: 'tcpSocket', host, port} : httpAction(httpGet, host, port)};
}

const httpAction = ({path = '/', scheme = 'HTTP', httpHeaders = []}: HttpGetAction, host: string, port: number): ContainerAction => ({
	type: 'httpGet',
	host,
	port,
	path: path.startsWith('/') ? path : `/${path}`,
	scheme,
	headers: httpHeaders,
});

/** By name, or a number that was written as a text. */
function portOf(port: number | string, {ports = []}: Container): number | undefined {
	if (typeof port === 'number') return port;
	const named = ports.find(({name}) => name === port)?.containerPort;
	return named ?? (/^\d{1,5}$/.test(port) ? Number(port) : undefined);
}

/** `$(NAME)` of variables whose value the manifest says itself, as in Kubernetes (ExpandContainerCommandOnlyStatic). */
function expanded(word: string, {env = []}: Container): string {
	const variables = new Map(env.flatMap(({name, value}): [string, Value][] => (value === undefined ? [] : [[name, [value]]])));
	const value = expand(word, variables);
	return isPlain(value) ? value.join('') : word;
}
