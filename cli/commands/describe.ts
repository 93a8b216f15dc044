// `troupe describe`: one object after another, each with what happened to it.

import {AppError, rowOf} from '../../api/errors.js';
import {type Invocation, usageError} from '../command.js';
import {getOne, listAll, withKind} from '../cluster/lists.js';
import {withNearest} from '../cluster/nearest.js';
import {readTargets} from '../cluster/resources.js';
import {namespaceOf, withClient} from '../cluster/session.js';
import {describe, type Subject} from '../describe/page.js';
import type {Drawing} from '../runs/drawing.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const targets = readTargets(inputs);
	const selector = flags.text('selector');
	if (targets.some(({names}) => names.length > 0) && (selector !== undefined || flags.on('all-namespaces')))
		throw usageError('names say which objects; leave out -l and -A');
	const drawing = flags.text('output') as Drawing | undefined;
	return withClient(invocation, async client => {
		const namespace = flags.on('all-namespaces') ? undefined : namespaceOf(invocation, client);
		const found: Subject[] = [];
		let exitCode = 0;
		for (const {resource, names} of targets) {
			if (names.length === 0)
				found.push(...(await listAll(client, resource, namespace, {labelSelector: selector})).map(object => ({resource, object})));
			for (const name of names) {
				try {
					found.push({resource, object: withKind(await getOne(client, resource, namespace ?? client.namespace, name), resource)});
				} catch (error) {
					if (!(error instanceof AppError) || rowOf(error.code).exitCode === 5) throw error;
					await withNearest(client, error);
					terminal.error(error.message);
					exitCode = Math.max(exitCode, rowOf(error.code).exitCode);
				}
			}
		}
		if (found.length === 0 && exitCode === 0)
			terminal.note(namespace === undefined ? 'No resources found' : `No resources found in ${namespace} namespace.`);
		if (drawing !== undefined) {
			const [only, ...more] = found;
			if (only !== undefined && more.length > 0) throw usageError(`-o ${drawing} draws one run or workflow; name it`);
			// Loaded for those who ask for it.
			if (only !== undefined) terminal.out(await (await import('../runs/drawing.js')).drawObject(client, only.object, drawing));
			return exitCode;
		}
		for (const [at, one] of found.entries()) terminal.out((at === 0 ? '' : '\n\n') + (await describe(client, one)));
		return exitCode;
	});
}
