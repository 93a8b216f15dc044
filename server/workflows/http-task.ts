// A task that is a request over HTTP: its input is posted to a URL, if the cluster lets workflows call that host.
//
// Nothing of the cluster is sent but the key of the attempt.

import type {LookupFunction} from 'node:net';
import type {CallTask, TaskOutcome} from '../../actors/control/workflows/run-message.js';
import {clusterConfigKey} from '../../actors/addresses.js';
import {httpHostOf, httpPlaceOf, mayCall} from '../../api/http-hosts.js';
import {httpHostsOf, type ClusterConfig} from '../../api/kinds/clusterconfig.js';
import {limits} from '../../api/limits.js';
import type {TaskResource} from '../../api/task-resource.js';
import {headerOf} from '../functions/function-messages.js';
import {outgoingAnswer, OutgoingLate, type OutgoingAnswer} from '../outgoing-http.js';
import {boundedLookup, SpecialAddress} from './called-address.js';
import {taskAnswered, taskFailed, textOfAnswer} from './task-end.js';
import type {TaskParts} from './task-parts.js';

type Called = Extract<TaskResource, {type: 'http'}>;

export async function httpTask(parts: TaskParts, task: CallTask, resource: Called, signal: AbortSignal): Promise<TaskOutcome> {
	const {url} = resource;
	const place = httpPlaceOf(url);
	const hosts = httpHostsOf(parts.control.index.get(clusterConfigKey) as ClusterConfig | undefined);
	if (place === undefined || !mayCall(hosts, place)) return refused(place === undefined ? url : httpHostOf(place));
	const lookup = boundedLookup(hosts, place, parts.lookup);
	return parts.turns.take(signal, () => posted(parts, task, {url, lookup}, signal));
}

/** `through` is the name that leads there, where it is one. */
function refused(host: string, through?: string): TaskOutcome {
	return taskFailed(
		'States.Permissions',
		`${through === undefined ? '' : `${through} leads to ${host}, which belongs to this machine, its link or its cloud: `}this cluster does not let workflows call "${host}": it has to be in the list workflows.httpHosts, as in: troupe config set workflows.httpHosts ${host} (with a comma between several; troupe config get workflows.httpHosts shows those that are there)`,
	);
}

/** Where a request goes, and what tells the address of that name. */
type Way = {readonly url: string; readonly lookup: LookupFunction};

async function posted({clock}: TaskParts, {key, input}: CallTask, {url, lookup}: Way, signal: AbortSignal): Promise<TaskOutcome> {
	const body = Buffer.from(JSON.stringify(input));
	const headers = {
		accept: 'application/json',
		'content-type': 'application/json',
		'content-length': body.length,
		'idempotency-key': headerOf(key),
	};
	const bounds = {mostMs: limits.workflowHttpMs, mostBytes: limits.statesDataBytes};
	try {
		return outcomeOf(await outgoingAnswer(clock, {method: 'POST', url, headers, body, lookup, ...bounds}, signal));
	} catch (error) {
		if (error instanceof OutgoingLate) return taskFailed('Http.Timeout', `${url} did not answer within ${limits.workflowHttpMs / 1_000} s`);
		if (error instanceof SpecialAddress) return refused(httpHostOf(error.place), new URL(url).hostname);
		return taskFailed('Http.ConnectionFailed', `${url}: ${(error as Error).message}`);
	}
}

function outcomeOf({status, headers, bytes, isWhole}: OutgoingAnswer): TaskOutcome {
	if (status >= 300) {
		const where = status < 400 && headers.location !== undefined ? `, and redirects are not followed, here to ${headers.location}` : '';
		const words = textOfAnswer(bytes);
		return taskFailed(`Http.Status${status}`, `the server answered with status ${status}${where}${words === '' ? '' : `: ${words}`}`);
	}
	if (!isWhole) return taskFailed('States.DataLimitExceeded', `the answer has more than ${limits.statesDataBytes} bytes`);
	const {'content-encoding': encoding = 'identity'} = headers;
	if (encoding.toLowerCase() !== 'identity')
		return taskFailed('Http.BadAnswer', `the answer is encoded (content-encoding: ${encoding}), which was not asked for`);
	return taskAnswered(bytes);
}
