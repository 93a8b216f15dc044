// `troupe explain`: what a kind's fields are. Asks no cluster: this program knows its kinds.

import {findKind, kinds} from '../../api/catalogue.js';
import type {KindDefinition} from '../../api/kind.js';
import {type Invocation, usageError} from '../command.js';
import {drawExplained, explain} from '../objects/explain.js';
import {printedWhole} from '../objects/output.js';
import {resourceOf} from '../cluster/resources.js';

export async function run(invocation: Invocation): Promise<number> {
	const {flags, inputs, terminal} = invocation;
	const [word, ...more] = inputs;
	if (word === undefined) throw usageError(`what is to be explained? there are ${kinds.map(({plural}) => plural).join(', ')}`);
	if (more.length > 0) throw usageError('explain takes one kind or field, as in: troupe explain pod.spec.containers');
	const {kind, path} = readWord(word);
	const recursive = flags.on('recursive');
	const {default: descriptions} = await import('../../api/descriptions.cjs');
	const explanation = explain(descriptions, kind, path, recursive ? Number.POSITIVE_INFINITY : 1);
	if (!explanation.ok) throw usageError(explanation.problem);
	if (!(await printedWhole(invocation, explanation.value))) terminal.out(drawExplained(explanation.value, recursive));
	return 0;
}

/** `pod.spec.containers`; the kind may have its group behind a dot: `replicasets.apps.spec`. Throws ERR_USAGE. */
function readWord(word: string): {readonly kind: KindDefinition; readonly path: readonly string[]} {
	const parts = word.replace(/\.$/, '').split('.');
	if (parts.includes('')) throw usageError(`"${word}" is no field; write it as in: troupe explain pod.spec.containers`);
	for (let length = parts.length; length > 0; length--) {
		const kind = findKind(parts.slice(0, length).join('.'));
		if (kind !== undefined) return {kind, path: parts.slice(length).map(part => part.replace(/\[\d*\]$/, ''))};
	}
	const {kind} = resourceOf(parts[0] ?? '');
	throw usageError(`the kind ${kind} has no schema: it is a view of other objects`);
}
