// `set resources`: what containers need and may use. Pure.

import type {JsonObject} from '../../api/object.js';
import {isObject} from '../../api/object.js';
import {shown} from '../../api/shown.js';
import {deepEqual} from '../../api/equal.js';
import {type Flags, usageError} from '../command.js';
import type {Container, ContainerChange} from './containers.js';

/** `--limits cpu=1,memory=1Gi`, `--requests …`: what they do not name stays, and 0 takes one away. Throws ERR_USAGE. */
export function resourcesChange(flags: Flags): ContainerChange {
	const limits = amountsOf(flags, 'limits');
	const requests = amountsOf(flags, 'requests');
	if (limits === undefined && requests === undefined)
		throw usageError('set which resources? as in: troupe set resources deployment/web --limits cpu=1,memory=1Gi --requests cpu=500m');
	return {
		names: [flags.text('container') ?? '*'],
		changed(container) {
			const before = isObject(container['resources']) ? container['resources'] : {};
			const after = {...before, ...changedPart('limits', before, limits), ...changedPart('requests', before, requests)};
			return deepEqual(before, after) ? container : withResources(container, after);
		},
	};
}

type Amounts = ReadonlyMap<string, string>;

function amountsOf(flags: Flags, flag: 'limits' | 'requests'): Amounts | undefined {
	const text = flags.text(flag);
	if (text === undefined) return undefined;
	const amounts = new Map<string, string>();
	for (const word of text.split(',')) {
		const [, name, amount] = /^([^=\s]+)=([^=\s]+)$/.exec(word) ?? [];
		if (name === undefined || amount === undefined)
			throw usageError(`--${flag} must be NAME=AMOUNT with commas, such as cpu=1,memory=1Gi; got ${shown(word)}`);
		if (amounts.has(name)) throw usageError(`--${flag} names ${name} twice`);
		amounts.set(name, amount);
	}
	return amounts;
}

function changedPart(part: 'limits' | 'requests', before: JsonObject, amounts: Amounts | undefined): JsonObject {
	if (amounts === undefined) return {};
	const old = isObject(before[part]) ? before[part] : {};
	const all = [...new Map([...Object.entries(old), ...amounts])];
	return {[part]: Object.fromEntries(all.filter(([name]) => amounts.get(name) !== '0'))};
}

const withResources = (container: Container, resources: JsonObject): JsonObject => ({...container, resources});
