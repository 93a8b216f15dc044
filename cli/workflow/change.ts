// `troupe workflow cancel`, `pause` and `resume`: what is said of a run in its spec.

import {run as runKind, type Run, type RunSpec} from '../../api/kinds/run.js';
import type {JsonObject} from '../../api/object.js';
import {setMembers} from '../cluster/changes.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {failedError, type Invocation, usageError} from '../command.js';
import {isOver, runNamed} from '../runs/named.js';

type Change = {
	readonly verb: string;
	readonly spec: JsonObject;
	readonly isSo: (spec: Partial<RunSpec>) => boolean;
	readonly done: string;
	readonly before: string;
};

const changes = {
	cancel: {verb: 'cancel', spec: {cancel: true}, isSo: ({cancel}) => cancel === true, done: 'cancelled', before: 'is cancelled already'},
	pause: {verb: 'pause', spec: {suspend: true}, isSo: ({suspend}) => suspend === true, done: 'paused', before: 'is paused already'},
	resume: {verb: 'resume', spec: {suspend: false}, isSo: ({suspend}) => suspend !== true, done: 'resumed', before: 'is not paused'},
} as const satisfies Record<string, Change>;

/** One of them. */
export const changing =
	(name: keyof typeof changes) =>
	(invocation: Invocation, words: readonly string[]): Promise<number> =>
		change(invocation, words, changes[name]);

async function change(invocation: Invocation, words: readonly string[], {verb, spec, isSo, done, before}: Change): Promise<number> {
	const [word, ...more] = words;
	if (word === undefined || more.length > 0) throw usageError(`${verb} takes one run, as in: troupe workflow ${verb} run/order-7`);
	const name = runNamed(word);
	return withClient(invocation, async client => {
		const place = {resource: runKind, namespace: namespaceOf(invocation, client), name};
		const {isChanged} = await setMembers(client, place, live => {
			const run = live as Run;
			if (isOver(run)) throw failedError(`run/${name} is over: ${run.status?.phase ?? ''}`);
			return isSo(run.spec ?? {}) ? undefined : {spec};
		});
		invocation.terminal.out(`run/${name} ${isChanged ? done : before}\n`);
		return 0;
	});
}
