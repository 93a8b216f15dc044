// `troupe workflow start`: a run of a workflow is made, and awaited where that is asked for.

import {apiVersionOf} from '../../api/catalogue.js';
import {run as runKind, type Run} from '../../api/kinds/run.js';
import {workflow as workflowKind} from '../../api/kinds/workflow.js';
import type {Json, JsonObject} from '../../api/object.js';
import {isDnsSubdomain} from '../../api/rules/names.js';
import type {Client} from '../client.js';
import {createObject} from '../cluster/changes.js';
import {getOne} from '../cluster/lists.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {deadlineOf, type Deadline} from '../objects/wait.js';
import {followRun} from '../runs/follow.js';
import {workflowNamed} from '../runs/named.js';
import {placeOf} from '../runs/read.js';
import {withProgress} from '../screen/progress.js';
import {inputOf} from './input.js';

export async function start(invocation: Invocation, words: readonly string[]): Promise<number> {
	const {flags, terminal} = invocation;
	const [word, ...more] = words;
	if (word === undefined || more.length > 0)
		throw usageError(`start takes one workflow, as in: troupe workflow start order --input '{"id": 7}'`);
	const workflow = workflowNamed(word);
	const name = flags.text('name');
	if (name !== undefined && !isDnsSubdomain(name)) throw usageError(`"${name}" cannot be the name of a run; it is one such as order-7`);
	const deadline = waitOf(invocation);
	const input = await inputOf(flags.text('input'), terminal.input);
	return withClient(invocation, async client => {
		const namespace = namespaceOf(invocation, client);
		const made = await startRun(client, namespace, {workflow, name, input});
		return told(invocation, client, made, deadline);
	});
}

export type NewRun = {
	readonly workflow: string;
	/** Undefined: one that begins with the name of the workflow. */
	readonly name?: string | undefined;
	readonly input: Json;
	readonly more?: JsonObject;
};

/** Throws ERR_NOT_FOUND where there is no such workflow: a run that came before it would wait for it. */
export async function startRun(client: Client, namespace: string, {workflow, name, input, more = {}}: NewRun): Promise<Run> {
	await getOne(client, workflowKind, namespace, workflow);
	const metadata = name === undefined ? {generateName: `${workflow}-`} : {name};
	const body = {apiVersion: apiVersionOf(runKind), kind: runKind.kind, metadata, spec: {...more, workflow, input}};
	return (await createObject(client, runKind, namespace, body, undefined)) as Run;
}

/** `undefined`: it is not waited for. Throws ERR_USAGE. */
export function waitOf({flags}: Invocation): Deadline | 'long' | undefined {
	const timeout = flags.text('timeout');
	if (flags.on('wait')) return timeout === undefined ? 'long' : deadlineOf(timeout);
	if (timeout !== undefined) throw usageError('--timeout says how long to wait; it goes with --wait');
	return undefined;
}

/** Says what was started; with a wait its output is what stands on stdout. */
export async function told({terminal}: Invocation, client: Client, made: Run, wait: Deadline | 'long' | undefined): Promise<number> {
	const started = `run/${made.metadata.name} started`;
	if (wait === undefined) {
		terminal.out(`${started}\n`);
		return 0;
	}
	terminal.note(started);
	const ended = await withProgress(terminal, `waiting for run/${made.metadata.name}`, progress =>
		endOf(client, made, wait, text => progress.show(text)),
	);
	const {phase, output = null, error} = ended.status ?? {};
	if (phase === 'Succeeded') {
		terminal.out(`${JSON.stringify(output)}\n`);
		return 0;
	}
	const why = error === undefined ? '' : ` with ${error.error}${error.cause === '' ? '' : `: ${error.cause}`}`;
	terminal.error(`run/${made.metadata.name} ${phase === 'Cancelled' ? 'was cancelled' : `failed${why}`}`);
	return 1;
}

async function endOf(client: Client, made: Run, wait: Deadline | 'long', show: (text: string) => void): Promise<Run> {
	const place = placeOf(made);
	let last = made;
	const tell = (lost?: string): void => {
		const at = (last.status?.at ?? []).map(({state, count}) => (count > 1 ? `${count} ${state}` : state)).join(', ');
		show(
			`waiting for run/${place.name}: ${last.status?.phase ?? 'Pending'}${at === '' ? '' : ` at ${at}`}${lost === undefined ? '' : `; ${lost}`}`,
		);
	};
	try {
		for await (const run of followRun(client, place, {...(wait === 'long' ? {} : {signal: wait.signal}), onLost: tell})) {
			last = run;
			tell();
		}
	} catch (error) {
		if (wait === 'long' || !wait.signal.aborted) throw error;
		throw failedError(`timed out after ${wait.text} waiting for run/${place.name}; it goes on`);
	}
	return last;
}
